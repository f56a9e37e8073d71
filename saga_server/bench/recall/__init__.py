"""The recall benchmark: how much of what a turn needs is in its context."""
