"""The writer: from what the narrator reported to typed events about known entities."""
