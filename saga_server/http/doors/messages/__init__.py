"""The door of Anthropic's Messages API."""
