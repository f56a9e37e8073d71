"""Plays every play of known truth without each rule, to see which rules gain in stories that they were not made for."""
