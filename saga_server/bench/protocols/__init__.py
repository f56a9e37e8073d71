"""Strict local servers of the providers' protocols, for tests and benchmarks: scripted replies, scripted faults."""
