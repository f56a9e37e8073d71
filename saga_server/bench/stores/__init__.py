"""Benchmarks of the engines alone, and of whole turns over them."""
