"""The door of the OpenAI API's responses."""
