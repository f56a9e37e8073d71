"""Players on several servers to which everything happens that happens to servers, and what must hold all the same."""
