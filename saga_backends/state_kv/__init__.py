"""Engines of the StateKV."""
