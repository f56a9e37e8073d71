"""Vector stores, and the exact scoring that those without an engine of their own share."""
