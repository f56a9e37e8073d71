"""Curators: they review a story and make proposals."""
