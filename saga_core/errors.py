"""The error hierarchy. Driver and library errors are mapped to these classes and never reach the caller."""

from __future__ import annotations

import pathlib
import time

_BEGUN = time.time()
QUOTES = "; it says "
"""Separates an error message from the model output it quotes, which administrators see and logs omit."""


class SagaError(Exception):
    """Base class of all errors that SAGA raises on purpose."""


class BadInput(SagaError):
    """A value that the caller can fix. The message names the field, the value and the remedy."""


class ConfigError(BadInput):
    """A configuration that cannot be used. ``problems`` has one line for each fault."""

    def __init__(self, source: str, problems: tuple[str, ...]) -> None:
        self.source = source
        self.problems = problems
        super().__init__(f"{source}: " + "; ".join(problems))


class NotFound(SagaError):
    """A session, turn, world or scope that does not exist."""


class StoreError(SagaError):
    """A store could not do what was asked: the engine failed, the disk is full, or a file is damaged."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or opened. The same call may succeed later."""


class StoreTimeout(StoreUnavailable):
    """The store did not answer in time."""


class StoreCorrupt(StoreError):
    """The stored data cannot be read. The message says which file, and how to recover."""


class NewerSchema(StoreError):
    """The data was written by a newer version of SAGA. Nothing was changed."""


class StoreLocked(StoreError):
    """Another process, or another store object in this process, has the path open."""


class HalfMoved(StoreLocked):
    """A journal is being moved into the store, or was: what is there is not complete."""


class Closed(StoreError):
    """A call to a store after ``aclose``."""


class Conflict(StoreError):
    """A precondition of a commit did not hold. ``key`` names the first one that failed. Nothing was written."""

    def __init__(self, key: tuple[str, ...], message: str = "") -> None:
        self.key = key
        super().__init__(message or f"precondition failed at key {key!r}")


class LeaseLost(StoreError):
    """Another server has taken over the session. Nothing was written."""


class NotSupported(StoreError):
    """The backend does not declare this operation or capability. An empty result is never returned instead."""


class ScopeMismatch(StoreError):
    """The vector scope was made by another embedder or for another dimension."""


class UpstreamError(SagaError):
    """The model's provider refused or failed.

    ``status`` is the HTTP status to answer the client with, ``kind`` the OpenAI error type, and ``retry_after`` the
    seconds that the provider asked to wait, if any. ``passing`` is true if the same call may succeed in a moment.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 502,
        kind: str = "upstream_error",
        retry_after: float | None = None,
        passing: bool = False,
    ) -> None:
        self.status = status
        self.kind = kind
        self.retry_after = retry_after
        self.passing = passing
        super().__init__(message)


class GaveWay(SagaError):
    """A background call was stopped before any output because a narration needed the upstream. Retry it later."""


class QuotaExceeded(SagaError):
    """A key has used up a quota. ``quota`` names the limit; ``free_in`` is the seconds until some of it is free."""

    def __init__(self, message: str, *, quota: str, free_in: float) -> None:
        self.quota = quota
        self.free_in = free_in
        super().__init__(message)


class OwnedElsewhere(SagaError):
    """Another live server writes this session. Send the request to ``address``."""

    def __init__(self, session: str, server: str, address: str) -> None:
        self.session = session
        self.server = server
        self.address = address
        super().__init__(
            f"session {session} is played on the server {server}"
            + (f"; ask it there: {address}" if address else "; ask again in a moment")
        )


def in_words(error: BaseException) -> str:
    """Return an error as text for people. Errors from outside SAGA are prefixed with their class name."""
    text = str(error)
    if isinstance(error, ImportError | AttributeError | TypeError | NameError) and were_files_replaced():
        text = f"{text}; {RESTART}"
    return text if isinstance(error, SagaError) and text else f"{type(error).__name__}: {text}"


RESTART = "SAGA's files on disk were changed after it started; restart it"


def were_files_replaced() -> bool:
    """Whether the files of SAGA are newer than this process, as after an upgrade under a running server. Modules that
    are imported later then do not fit those in memory."""
    try:
        return pathlib.Path(__file__).stat().st_ctime > _BEGUN
    except OSError:
        return True
