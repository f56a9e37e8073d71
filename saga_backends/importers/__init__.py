"""Importers: adapters to the files of other tools, each at an entry point of ``saga.importers``."""
