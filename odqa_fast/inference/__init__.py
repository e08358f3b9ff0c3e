"""Models: what runs them, what they are asked, what they answer."""
