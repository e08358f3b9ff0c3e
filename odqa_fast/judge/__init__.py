"""Models as judges: what they are asked, how their replies are read, and how far to trust them."""
