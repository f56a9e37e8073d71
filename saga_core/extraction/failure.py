"""What went wrong when a model was asked what changed."""

from __future__ import annotations

from saga_core.errors import SagaError


class ExtractionFailed(SagaError):
    """The model gave no answer that can be read; the message says why.

    ``answered``: it did answer, so that asking the same again would be paid for the same.
    """

    def __init__(self, message: str, *, answered: bool) -> None:
        self.answered = answered
        super().__init__(message)
