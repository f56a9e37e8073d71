"""The door of OpenAI's Responses API."""
