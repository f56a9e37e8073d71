"""Error messages for callers who do not run the server: without paths and without content of other users' files."""

from __future__ import annotations

import logging
from collections.abc import Callable

from aiohttp import web

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
from saga_server.http.app_keys import CURRENT
from saga_server.http.callers.identity import BEARER

_log = logging.getLogger("saga.server")

_OWN = (Conflict, LeaseLost, NotSupported)
"""Store errors whose message concerns only the request itself."""
_ASK = "whoever keeps this server finds the reason in its log"


def redact(error: Exception) -> Exception:
    """Return the error as a player or a chat client may see it. An error whose details are withheld is logged."""
    if isinstance(error, UnknownWorld):
        return BadInput(error.in_short)
    redacted: SagaError | None = None
    if isinstance(error, WorldError):
        redacted = BadInput(f"this world cannot be read; {_ASK}")
    elif isinstance(error, StoreUnavailable):
        redacted = StoreUnavailable(f"a store cannot be reached; {_ASK}")
    elif isinstance(error, StoreError) and not isinstance(error, _OWN):
        redacted = StoreError(f"a store failed; {_ASK}")
    elif isinstance(error, OwnedElsewhere):
        redacted = OwnedElsewhere(error.session, "another server", "")
    if redacted is None:
        return error
    _log.warning("%s", error)
    return redacted


def mask_of(request: web.Request) -> Callable[[str], str]:
    """What hides secrets from a caller, and paths and servers from everybody but administrators."""
    mask, bearer = request.app[CURRENT].mask, request.get(BEARER)
    return mask if bearer is not None and bearer.role == "admin" else mask.for_players
