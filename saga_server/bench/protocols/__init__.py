"""Strict local servers of the providers' protocols, for tests and benchmarks, with scripted replies and faults."""
