"""What went wrong when a small model was asked."""

from __future__ import annotations

from saga_core.errors import SagaError


class ModelCallFailed(SagaError):
    """The model gave no answer that can be used; the message says why.

    ``answered``: it did answer, so that asking the same again would be paid for the same.
    """

    def __init__(self, message: str, *, answered: bool = True) -> None:
        self.answered = answered
        super().__init__(message)
