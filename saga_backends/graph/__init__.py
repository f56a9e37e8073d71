"""Graph stores."""
