"""Backends of the MdCache."""
