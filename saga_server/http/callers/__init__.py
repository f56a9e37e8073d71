"""Who asks: the key, what it may be told, what it used, and what is noted of it."""
