"""Projections: what stores show of a state. Rendered purely, moved by the smallest difference, never the truth."""
