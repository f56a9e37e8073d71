"""Descriptions of the admin API: JSON schemas, the OpenAPI document, and the list in the docs."""
