"""Real models as narrators: stories in which the player's words decide what is true, and what became of them."""
