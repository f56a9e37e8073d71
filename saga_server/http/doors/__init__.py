"""The doors: the APIs that clients speak. Each reads a request as a chat or as one text, and shapes the answer."""
