"""A database with one connection pool for all of its stores, which keep no state in database sessions.

This also works behind PgBouncer in transaction mode. There are no prepared statements, session locks or session
settings, and all names are qualified with the schema. A connection that the server has closed while it was idle is
detected before it is used.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import psycopg
from attrs import define, field, frozen
from psycopg import AsyncConnection
from psycopg import errors as sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from saga_backends.key_bytes import encode
from saga_core.errors import BadInput, Closed, LeaseLost, NewerSchema, StoreCorrupt, StoreError, StoreUnavailable
from saga_core.registry import OpenOptions
from saga_core.stores import Fence, FenceOf, Health

# --- Translates errors of the driver into SAGA's, with a remedy in the message and without passwords --------------

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


# --- Versions and migrations of the schema ------------------------------------------------------------------------
#
# The row of a part holds its ``version`` and ``least``, which is the oldest version of SAGA's code for the part that
# may still work with the data. A server whose code is older than ``version`` changes nothing, and a server whose code
# is older than ``least`` refuses to open. So old and new servers can run side by side while a cluster is upgraded.

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


@frozen
class Migration:
    """SQL that upgrades a part from the previous version. ``{schema}`` stands for the name of the schema."""

    sql: str
    least: int = 0
    """The oldest code version that may use the part afterwards. 0 means only code that knows this version."""


@frozen
class Part:
    """The part of the schema that belongs to one store."""

    name: str
    migrations: Sequence[Migration]

    @property
    def version(self) -> int:
        """The newest version that this code knows."""
        return len(self.migrations)


IDENTITY = Part(
    "identity",
    (
        Migration(
            "CREATE TABLE {schema}.identity (id uuid PRIMARY KEY);"
            "INSERT INTO {schema}.identity SELECT gen_random_uuid();"
        ),
    ),
)
"""An id of the data. It stays the same if the database is reached at another address, and is part of a dump."""


async def identity_of(connection: AsyncConnection, schema: str) -> str:
    """Return the id of the data in the schema. Requires that the part ``IDENTITY`` exists."""
    found = await connection.execute(f"SELECT id::text FROM {schema}.identity".encode())
    row = await found.fetchone()
    return str(row[0]) if row is not None else ""


def check_schema(name: str) -> str:
    """Return ``name`` if it needs no quotes in SQL. Raises ``BadInput`` otherwise."""
    if not _NAME.fullmatch(name) or name.startswith("pg_"):
        raise BadInput(f"options.schema: {name!r}; give small letters, digits and _, at most 63, and no pg_ in front")
    return name


async def migrate(connection: AsyncConnection, schema: str, part: Part, where: str) -> None:
    """Migrate ``part``. Raises ``NewerSchema``, without changing anything, if it is too new for this code."""
    if await _fits(connection, schema, part, where):
        return
    async with connection.transaction():
        await connection.execute(_LOCK, [f"saga.{schema}"])
        if await _fits(connection, schema, part, where):
            return  # another server has migrated it meanwhile
        await _prepare(connection, schema)
        row = await _row(connection, schema, part)
        done = row[0] if row is not None else 0
        for number, migration in enumerate(part.migrations[done:], done + 1):
            await connection.execute(migration.sql.replace("{schema}", schema).encode())
            await connection.execute(
                f"INSERT INTO {schema}.parts (part, version, least) VALUES (%s, %s, %s) ON CONFLICT (part) "
                "DO UPDATE SET version = excluded.version, least = excluded.least".encode(),
                [part.name, number, migration.least or number],
            )


async def _prepare(connection: AsyncConnection, schema: str) -> None:
    found = await connection.execute("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s", [schema])
    if await found.fetchone() is None:  # CREATE SCHEMA needs a privilege that the user may lack
        await connection.execute(f"CREATE SCHEMA {schema}".encode())
    await connection.execute(
        f"CREATE TABLE IF NOT EXISTS {schema}.parts "
        "(part text PRIMARY KEY, version integer NOT NULL, least integer NOT NULL)".encode()
    )


async def _fits(connection: AsyncConnection, schema: str, part: Part, where: str) -> bool:
    """Return whether the part needs no migration. Raises ``NewerSchema``."""
    found = await connection.execute("SELECT to_regclass(%s)", [f"{schema}.parts"])
    row = await found.fetchone()
    if row is None or row[0] is None:
        return False
    held = await _row(connection, schema, part)
    if held is None:
        return False
    version, least = held
    if part.version < least:
        raise NewerSchema(
            f"{where}: its part {part.name!r} has version {version}, which needs code of version {least} or newer; "
            f"this SAGA knows {part.version}: install a newer SAGA; nothing was changed"
        )
    return version >= part.version


async def _row(connection: AsyncConnection, schema: str, part: Part) -> tuple[int, int] | None:
    found = await connection.execute(f"SELECT version, least FROM {schema}.parts WHERE part = %s".encode(), [part.name])
    row: tuple[int, int] | None = await found.fetchone()
    return row


T = TypeVar("T")

log = logging.getLogger("saga.postgres")

_TRIES = 6
"""How many times a transaction is tried if concurrent transactions make it fail."""
_ASIDE = 0.01
"""The base of the backoff between tries, in seconds. Pauses are random, up to twice this at first, and double."""


@frozen
class DatabasePlace:
    """The location of the data, and the settings of its connection pool."""

    conninfo: str = field(repr=False)
    schema: str
    pool: int
    timeout: float

    @property
    def shown(self) -> str:
        """The host, port, database and schema for messages, without user and password."""
        known = conninfo_to_dict(self.conninfo)
        host = known.get("host") or known.get("hostaddr") or "local socket"
        return f"{host}:{known.get('port') or 5432}/{known.get('dbname') or ''}.{self.schema}"


def place_of(options: OpenOptions, kind: str) -> DatabasePlace:
    """Return the place that ``options`` describe. Raises ``BadInput``."""
    taken = options.take(schema="saga", pool=8, timeout=10.0)
    if not options.url:
        raise BadInput(
            f"storage.{kind}.url: the postgres backend needs one, such as postgresql://saga@127.0.0.1/saga; "
            "storage.url serves all stores"
        )
    try:
        known = conninfo_to_dict(options.url)
    except psycopg.ProgrammingError:  # its message contains the URL with the password
        raise BadInput(
            f"storage.{kind}.url: cannot be read; give postgresql://user:password@host:port/database, with special "
            "characters of the password as %XX"
        ) from None
    if taken["pool"] < 1:
        raise BadInput(f"options.pool: {taken['pool']}; give at least 1")
    if taken["timeout"] <= 0:
        raise BadInput(f"options.timeout: {taken['timeout']}; give seconds above 0")
    usual = {name: value for name, value in _USUAL.items() if name not in known}
    conninfo = make_conninfo(options.url, client_encoding="UTF8", **usual)
    return DatabasePlace(conninfo, check_schema(taken["schema"]), taken["pool"], float(taken["timeout"]))


_USUAL = {"connect_timeout": "5", "application_name": "saga"}


@define(eq=False)
class _Shared:
    """A pool and the number of stores that use it."""

    pool: AsyncConnectionPool
    users: int = 0


_pools: dict[tuple[asyncio.AbstractEventLoop, str, int, float], _Shared] = {}


class Database:
    """The access of one store to a shared pool. ``open`` connects and migrates, and ``aclose`` must follow."""

    def __init__(self, place: DatabasePlace, kind: str) -> None:
        self.place = place
        self.where = f"postgres {place.shown}"
        self.version = ""
        self.identity = ""
        self._kind = kind
        self._shared: _Shared | None = None
        self._leaving: asyncio.Future[None] | None = None
        self._key = (asyncio.get_running_loop(), place.conninfo, place.pool, place.timeout)
        self._closed = False
        self._fence_of: FenceOf | None = None
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def schema(self) -> str:
        """The name of the schema, which needs no quotes."""
        return self.place.schema

    async def open(self, part: Part | Callable[[AsyncConnection], Awaitable[Part]]) -> None:
        """Connect, check the encoding and version of the database, and migrate ``part``. Raises ``StoreError``."""
        try:
            with translated(self.where):
                # Not through the pool, because a pool does not report why it could not connect.
                async with await AsyncConnection.connect(
                    self.place.conninfo, autocommit=True, prepare_threshold=None
                ) as connection:
                    await self._look(connection)
                    wanted = part if isinstance(part, Part) else await part(connection)
                    for each in (wanted, IDENTITY):
                        await migrate(connection, self.schema, each, self.where)
                    self.identity = await identity_of(connection, self.schema)
        except OSError as error:
            raise StoreError(f"{self.where}: {error}") from error
        self._shared = await self._join()

    async def _look(self, connection: AsyncConnection) -> None:
        row = await (
            await connection.execute(
                "SELECT current_setting('server_version'), current_setting('server_encoding'), "
                "current_setting('server_version_num')::int"
            )
        ).fetchone()
        assert row is not None
        self.version, encoding, number = row
        if encoding != "UTF8":
            raise BadInput(f"{self.where}: the database's encoding is {encoding}; create one with createdb -E UTF8")
        if number < 140_000:
            raise BadInput(f"{self.where}: PostgreSQL {self.version} is too old; SAGA needs 14 or newer")

    async def _join(self) -> _Shared:
        shared = _pools.get(self._key)
        if shared is None:
            pool = AsyncConnectionPool(
                self.place.conninfo,
                kwargs={"autocommit": True, "prepare_threshold": None},
                min_size=1,
                max_size=self.place.pool,
                timeout=self.place.timeout,
                check=_check_alive,
                open=False,
                name=f"saga {self.place.shown}",
            )
            shared = _pools[self._key] = _Shared(pool)
            shared.users += 1
            try:
                await pool.open()
            except BaseException:
                await self._leave(shared)
                raise
        else:
            shared.users += 1
        return shared

    async def _leave(self, shared: _Shared) -> None:
        shared.users -= 1
        if not shared.users:
            _pools.pop(self._key, None)
            await shared.pool.close()

    # -- calls -------------------------------------------------------------------------------------------------

    def alive(self) -> None:
        """Raise ``Closed`` after ``aclose``."""
        if self._closed:
            raise Closed(f"{self.where}: the {self._kind} store is closed")

    async def read(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Run ``work``, which only reads. If the connection is lost, ``work`` is run once more."""
        return await self._run(work, again=True)

    async def write(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Run ``work``, which is one transaction. It is retried if a concurrent transaction makes it fail.

        It is never retried if it may have been committed. A lost connection raises ``StoreUnavailable``.
        """
        return await self._run(work, again=False)

    def fence(self, fence_of: FenceOf) -> None:
        """See ``Fenced``. The table of the journal must be in the same schema."""
        self._fence_of = fence_of

    async def change(self, scope: str, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Run ``work`` on ``scope`` as one transaction, which is committed only if the scope's fence still holds.

        The fence is checked last, and stays locked until the transaction ends, so a server that takes over the lease
        waits until then. Raises ``LeaseLost``.
        """
        fence = await self._fence_of(scope) if self._fence_of is not None else None

        async def write(connection: AsyncConnection) -> T:
            async with connection.transaction():
                found = await work(connection)
                if fence is not None:
                    await self._check_fence(connection, fence)
                return found

        return await self.write(write)

    async def _check_fence(self, connection: AsyncConnection, fence: Fence) -> None:
        look = f"SELECT 1 FROM {self.schema}.entries WHERE key = %b AND value = %b FOR SHARE".encode()
        row = await (await connection.execute(look, [encode(fence.key), fence.value])).fetchone()
        if row is None:
            raise LeaseLost(f"{self.where}: session {fence.key[-1]} was taken by another server; nothing was written")

    async def _run(self, work: Callable[[AsyncConnection], Awaitable[T]], *, again: bool) -> T:
        self.alive()
        shared = self._shared
        assert shared is not None
        task = asyncio.current_task()
        cancelled = task.cancelling() if task is not None else 0
        self._busy += 1
        self._idle.clear()
        try:
            for left in reversed(range(_TRIES)):
                try:
                    async with shared.pool.connection() as connection:
                        found = await work(connection)
                    if task is not None and task.cancelling() > cancelled:
                        raise asyncio.CancelledError  # the driver may finish its work and swallow the cancellation
                    return found
                except AGAIN as error:
                    if not left:
                        raise store_error(self.where, error) from error
                    await asyncio.sleep(_ASIDE * 2 ** (_TRIES - left) * random.random())
                except psycopg.Error as error:
                    if not (again and left and is_lost(error)):
                        raise store_error(self.where, error) from error
                    again = False
            raise AssertionError("unreachable")
        except Exception:
            if task is not None and task.cancelling() > cancelled:
                # After a cancellation, other errors of the driver do not matter. The pool handles the connection.
                raise asyncio.CancelledError from None
            raise
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()

    @asynccontextmanager
    async def one_moment(self, connection: AsyncConnection) -> AsyncIterator[None]:
        """Make all reads inside the context see the same snapshot."""
        await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            if not connection.closed:
                await connection.execute("COMMIT")

    async def health(self, statement: str, tables: list[str], thorough: bool) -> Health:
        """Return the health of a store. ``statement`` reads from it, and ``tables`` are its tables."""

        async def look(connection: AsyncConnection) -> int:
            await connection.execute(statement.encode())
            found = await connection.execute(
                "SELECT coalesce(sum(pg_total_relation_size(name::regclass)), 0)::bigint FROM unnest(%s::text[]) name",
                [tables],
            )
            row = await found.fetchone()
            assert row is not None
            return int(row[0])

        try:
            size = await self.read(look)
        except Closed:
            raise
        except StoreError as error:
            return Health(ok=False, detail=str(error))
        return Health(ok=True, detail=f"{self.where}: {'all of it was read' if thorough else 'readable'}", bytes=size)

    def usage(self) -> dict[str, int]:
        """Statistics of the pool: all connections, the free ones, and the requests that wait for one."""
        found = self._shared.pool.get_stats() if self._shared is not None else {}
        return {name: int(found.get(name, 0)) for name in ("pool_size", "pool_available", "requests_waiting")}

    async def aclose(self) -> None:
        """Wait for the calls in progress and release the pool. Further calls also wait until that is done."""
        self._closed = True
        await self._idle.wait()
        shared, self._shared = self._shared, None
        if shared is not None:
            self._leaving = asyncio.ensure_future(self._leave(shared))
        if self._leaving is not None:
            await asyncio.shield(self._leaving)


async def connected(
    options: OpenOptions, kind: str, part: Part | Callable[[AsyncConnection], Awaitable[Part]]
) -> Database:
    """Open the database of ``options.url`` for a store. Raises ``StoreError`` and ``BadInput``."""
    database = Database(place_of(options, kind), kind)
    await database.open(part)
    return database


async def _check_alive(connection: AsyncConnection) -> None:
    """Raise if the server has closed the connection. The server is only queried if there is data on the socket."""
    if _is_readable(connection.fileno()):
        await AsyncConnectionPool.check_connection(connection)


def _is_readable(line: int) -> bool:
    if not hasattr(select, "poll"):
        return bool(select.select([line], [], [], 0)[0])
    poll = select.poll()
    poll.register(line, select.POLLIN | select.POLLERR | select.POLLHUP)
    return bool(poll.poll(0))
