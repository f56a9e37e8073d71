"""Engines of the MdCache."""
