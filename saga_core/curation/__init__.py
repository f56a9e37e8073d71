"""Curation: what is wrong in a story, what of it can be told in fewer words, and what is to come."""
