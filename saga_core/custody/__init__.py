"""Custody: keeping what was played. Verifying, mending, moving, copying and forgetting it."""
