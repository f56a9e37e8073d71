"""Chat models: one module for each provider API."""
