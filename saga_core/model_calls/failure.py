"""The error of a call to a small model."""

from __future__ import annotations

from saga_core.errors import SagaError


class ModelCallFailed(SagaError):
    """The model gave no usable answer. The message says why.

    ``answered``: the model did answer, so repeating the same call would cost the same again.
    """

    def __init__(self, message: str, *, answered: bool = True) -> None:
        self.answered = answered
        super().__init__(message)
