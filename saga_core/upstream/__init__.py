"""What is known of the models upstream: how they cache, what they cost, what they accept."""
