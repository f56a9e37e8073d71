"""Commands that maintain a data directory, and how they access it."""
