"""The doors of Ollama."""
