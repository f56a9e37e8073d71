"""Curators, which review a story and make proposals."""
