"""Errors that a store raises, as data and as what a check expects."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from attrs import frozen

import saga_core.errors
from conformance.assertions.failure import CheckFailed, shown
from saga_core.errors import Conflict, SagaError

T = TypeVar("T")


@frozen
class Refused:
    """What a call came to that raised: the name of the error, and the key that a ``Conflict`` names."""

    error: str
    key: tuple[str, ...] | None = None


def refusal(error: SagaError) -> Refused:
    """``error`` by the name of the nearest class of ``saga_core.errors``."""
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == saga_core.errors.__name__)
    return Refused(name, error.key if isinstance(error, Conflict) else None)


async def refused(error: type[SagaError], made: Awaitable[T], what: str) -> SagaError:
    """The error that ``made`` raises. Raises ``CheckFailed`` when it raises another one, or none."""
    try:
        result = await made
    except error as caught:
        return caught
    except SagaError as other:
        raise CheckFailed(f"{what}: raised {type(other).__name__} ({other}), expected {error.__name__}") from other
    raise CheckFailed(f"{what}: gave {shown(result)}, expected {error.__name__}")
