"""Made-up people, places and tellers, for stories of any length."""
