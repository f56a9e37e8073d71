"""Making a call and returning its result or its error as data."""

from __future__ import annotations

import inspect
from typing import Any

from conformance.assertions import CheckFailed, refusal
from conformance.calls.store_call import Call
from saga_core.errors import SagaError


async def answer(store: Any, made: Call) -> object:
    """Make the call and return its result or a ``Refused``. Raises ``CheckFailed`` if the error is no ``SagaError``."""
    try:
        result = getattr(store, made.method)(*made.args, **made.options)
        return await result if inspect.isawaitable(result) else result
    except SagaError as error:
        return refusal(error)
    except Exception as error:  # whatever the engine raises
        raise CheckFailed(f"{made} let {type(error).__name__} escape: {error}", clause="L-7") from error
