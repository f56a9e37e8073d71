"""Many sessions at once through one real server."""
