"""Chat models, with one module for each provider API."""
