"""Benchmark of what prompts cost under the providers' caching rules."""
