"""The admin API described: its schemas, its OpenAPI document and the list in the docs."""
