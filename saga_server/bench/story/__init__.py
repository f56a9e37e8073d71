"""Generated characters, places and storytellers, for stories of any length."""
