"""What turns cost, and what they would have cost."""
