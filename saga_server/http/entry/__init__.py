"""What a request passes before a handler sees it: who may come in, how large it is, and how much of it at a time."""
