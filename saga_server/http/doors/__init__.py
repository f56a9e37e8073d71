"""The doors: the APIs that clients speak. Each reads requests as chats or text completions, and formats the replies."""
