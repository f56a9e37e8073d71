"""Curators: what reviews a story and proposes."""
