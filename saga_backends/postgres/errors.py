"""Translates errors of the driver into SAGA's, with a remedy in the message and without passwords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as sql
from psycopg_pool import PoolTimeout, TooManyRequests

from saga_core.errors import StoreCorrupt, StoreError, StoreUnavailable

AGAIN = (sql.SerializationFailure, sql.DeadlockDetected)
"""Errors of a transaction that was rolled back in favour of another one, and that may be retried."""

_AUTH = (sql.InvalidPassword, sql.InvalidAuthorizationSpecification)
_STOPPING = (sql.AdminShutdown, sql.CrashShutdown, sql.CannotConnectNow)
_NOT_GIVEN = (PoolTimeout, TooManyRequests)
_DAMAGED = (sql.DataCorrupted, sql.IndexCorrupted)


def is_lost(error: BaseException) -> bool:
    """Return whether the connection was lost or could not be made."""
    if isinstance(error, _STOPPING):
        return True
    if isinstance(error, _NOT_GIVEN):
        return False  # the pool never gave out a connection
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith("08")


def store_error(where: str, error: psycopg.Error) -> StoreError:
    """Translate ``error`` into a ``StoreError``. ``where`` names the database in the message."""
    told = _told(error)
    if isinstance(error, _NOT_GIVEN):
        return StoreUnavailable(
            f"{where}: no connection was free in time; the database does not answer, or more is asked of it than "
            "`options.pool` connections carry"
        )
    if isinstance(error, _AUTH) or "password" in told or "authentication" in told:
        return StoreUnavailable(f"{where}: the database refuses the user ({told}); check user and password in the url")
    if isinstance(error, sql.InvalidCatalogName) or ("database" in told and "does not exist" in told):
        return StoreUnavailable(f"{where}: {told}; create it: createdb -E UTF8 NAME")
    if isinstance(error, sql.DiskFull):
        return StoreError(f"{where}: the database's disk is full, and nothing was written ({told}); make room there")
    if isinstance(error, sql.TooManyConnections):
        return StoreUnavailable(
            f"{where}: the database takes no more connections; lower `options.pool`, raise max_connections, or put "
            "PgBouncer in front"
        )
    if isinstance(error, sql.ReadOnlySqlTransaction):
        return StoreUnavailable(
            f"{where}: this server is a standby and takes no writes; name all servers in the url, with "
            "target_session_attrs=read-write"
        )
    if isinstance(error, sql.InsufficientPrivilege):
        return StoreError(f"{where}: the user may not do that ({told}); grant it, see docs/scale.md")
    if isinstance(error, _DAMAGED):
        return StoreCorrupt(f"{where}: the database found damaged data ({told}); restore a backup")
    if isinstance(error, AGAIN):
        return StoreUnavailable(f"{where}: other writers were in the way again and again ({told})")
    if is_lost(error):
        return StoreUnavailable(f"{where}: the connection to the database was lost, or none came about ({told})")
    if isinstance(error, psycopg.OperationalError):
        return StoreUnavailable(f"{where}: {told}")
    return StoreError(f"{where}: {type(error).__name__}: {told}")


def _told(error: psycopg.Error) -> str:
    """The first line of the database's message."""
    text = error.diag.message_primary or str(error)
    return text.strip().partition("\n")[0] or type(error).__name__


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn every exception of the driver into a ``StoreError``."""
    try:
        yield
    except psycopg.Error as error:
        raise store_error(where, error) from error
