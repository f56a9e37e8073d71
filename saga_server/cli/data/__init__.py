"""Commands that look after a data directory, and how they reach it."""
