"""The doors of Ollama's API."""
