"""The memory strategies that come with SAGA."""
