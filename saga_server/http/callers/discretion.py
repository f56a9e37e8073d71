"""What a failure tells those who keep no server: not where its files are, and nothing out of the files of others."""

from __future__ import annotations

import logging

from saga_core.errors import (
    BadInput,
    Conflict,
    LeaseLost,
    NotSupported,
    OwnedElsewhere,
    SagaError,
    StoreError,
    StoreUnavailable,
)
from saga_core.world import UnknownWorld, WorldError

_log = logging.getLogger("saga.server")

_OWN = (Conflict, LeaseLost, NotSupported)
"""Failures of stores that tell of the request alone."""
_ASK = "whoever keeps this server finds the reason in its log"


def discreet(error: Exception) -> Exception:
    """The failure as a player or a chatter is told it. What is left out of SAGA's own is logged."""
    if isinstance(error, UnknownWorld):
        return BadInput(error.in_short)
    told: SagaError | None = None
    if isinstance(error, WorldError):
        told = BadInput(f"this world cannot be read; {_ASK}")
    elif isinstance(error, StoreUnavailable):
        told = StoreUnavailable(f"a store cannot be reached; {_ASK}")
    elif isinstance(error, StoreError) and not isinstance(error, _OWN):
        told = StoreError(f"a store failed; {_ASK}")
    elif isinstance(error, OwnedElsewhere):
        told = OwnedElsewhere(error.session, "another server", "")
    if told is None:
        return error
    _log.warning("%s", error)
    return told
