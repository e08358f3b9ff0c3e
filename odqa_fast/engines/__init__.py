"""Models that run: cards, engines, prompts, and replies that are kept."""
