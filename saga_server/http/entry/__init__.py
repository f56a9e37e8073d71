"""The checks that a request passes before its handler runs: access, size, and queues for large requests."""
