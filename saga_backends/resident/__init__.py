"""The resident layer, with stores that answer reads from memory and write through to a durable store."""
