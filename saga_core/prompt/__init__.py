"""The prompt: which text stands where, and how long each piece stays the same."""
