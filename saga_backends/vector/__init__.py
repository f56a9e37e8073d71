"""Vector stores, and the exact scoring that they share."""
