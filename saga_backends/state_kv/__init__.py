"""Backends of the StateKV."""
