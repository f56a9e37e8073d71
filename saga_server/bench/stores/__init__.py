"""Engines by themselves, and whole turns over them."""
