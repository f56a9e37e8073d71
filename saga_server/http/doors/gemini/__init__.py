"""The door of Google's Gemini API."""
