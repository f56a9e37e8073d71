"""What a story's world is made of, what changes it, and the state that follows."""
