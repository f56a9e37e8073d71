"""The one error tree. Driver and library errors do not escape; they are mapped to these at the edge."""

from __future__ import annotations

QUOTES = "; it says "
"""Behind this an error's message quotes what a model said. Who administers sees it; a log does not tell a story."""


class SagaError(Exception):
    """Anything that SAGA raises on purpose."""


class BadInput(SagaError):
    """A value that the caller can fix: the message names the field, the value and the remedy."""


class ConfigError(BadInput):
    """A configuration that cannot be used; ``problems`` has one line for each fault."""

    def __init__(self, source: str, problems: tuple[str, ...]) -> None:
        self.source = source
        self.problems = problems
        super().__init__(f"{source}: " + "; ".join(problems))


class NotFound(SagaError):
    """A session, turn, world or scope that does not exist."""


class StoreError(SagaError):
    """A store could not do what was asked: the engine failed, the disk is full, the file is damaged."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or opened; the same call may succeed later."""


class StoreCorrupt(StoreError):
    """The stored data cannot be read. The message says which file, and how to recover."""


class NewerSchema(StoreError):
    """The data was written by a newer SAGA than this one; nothing was changed."""


class StoreLocked(StoreError):
    """Another process, or another store object of this one, has the path open."""


class Closed(StoreError):
    """A call to a store after ``aclose``."""


class Conflict(StoreError):
    """A precondition of a commit did not hold; ``key`` names the first that failed. Nothing was written."""

    def __init__(self, key: tuple[str, ...], message: str = "") -> None:
        self.key = key
        super().__init__(message or f"precondition failed at key {key!r}")


class LeaseLost(StoreError):
    """Another server writes this session now, or has written it meanwhile. Nothing was written."""


class NotSupported(StoreError):
    """An operation or a capability that this backend does not declare. Never an empty answer instead."""


class ScopeMismatch(StoreError):
    """A vector scope that was made by another embedder or for another dimension."""


class UpstreamError(SagaError):
    """The model's provider refused or failed.

    ``status`` is the HTTP status to answer the client with, ``kind`` the OpenAI error type and
    ``retry_after`` the seconds that the provider asked for, if any. ``passing``: the same call may succeed in a moment.
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
    """A narration needed the upstream before the model said anything: ask again when that is over."""


class QuotaExceeded(SagaError):
    """A key used up what it may use. ``quota`` names the limit; ``free_in``: seconds until some of it is free again."""

    def __init__(self, message: str, *, quota: str, free_in: float) -> None:
        self.quota = quota
        self.free_in = free_in
        super().__init__(message)


class OwnedElsewhere(SagaError):
    """Another server, which is alive, writes this session: ask ``address``."""

    def __init__(self, session: str, server: str, address: str) -> None:
        self.session = session
        self.server = server
        self.address = address
        super().__init__(
            f"session {session} is played on the server {server}"
            + (f"; ask it there: {address}" if address else "; ask again in a moment")
        )


def in_words(error: BaseException) -> str:
    """An error as people read it: SAGA's own speak for themselves, and of any other its kind says half of it."""
    text = str(error)
    return text if isinstance(error, SagaError) and text else f"{type(error).__name__}: {text}"
