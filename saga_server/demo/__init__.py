"""The demo: an adventure that plays itself through the real server."""
