"""Errors that a store raises, as data and as expectations of checks."""

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
    """The result of a call that raised: the name of the error, and the key of a ``Conflict``."""

    error: str
    key: tuple[str, ...] | None = None


def refusal(error: SagaError) -> Refused:
    """Convert ``error`` to a ``Refused`` with the name of its nearest class in ``saga_core.errors``."""
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == saga_core.errors.__name__)
    return Refused(name, error.key if isinstance(error, Conflict) else None)


async def refused(error: type[SagaError], made: Awaitable[T], what: str) -> SagaError:
    """Return the error that ``made`` raises. Raises ``CheckFailed`` if it raises another error or none."""
    try:
        result = await made
    except error as caught:
        return caught
    except SagaError as other:
        raise CheckFailed(f"{what}: raised {type(other).__name__} ({other}), expected {error.__name__}") from other
    raise CheckFailed(f"{what}: gave {shown(result)}, expected {error.__name__}")
