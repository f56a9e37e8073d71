"""``saga bench``: how much a turn costs, measured on plays of several lengths."""
