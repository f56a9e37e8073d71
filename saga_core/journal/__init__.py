"""The journal: the append-only record of turns, their tree, and how a transcript finds its place in it."""
