"""The demo: plays an adventure automatically on the real server."""
