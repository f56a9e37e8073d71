"""A database with one connection pool for all of its stores, which keep no state in database sessions.

This also works behind PgBouncer in transaction mode. There are no prepared statements, session locks or session
settings, and all names are qualified with the schema. A connection that the server has closed while it was idle is
detected before it is used.
"""

from __future__ import annotations

import asyncio
import logging
import random
import select
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import psycopg
from attrs import define, field, frozen
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool

from saga_backends.key_bytes import encode
from saga_backends.postgres.errors import AGAIN, is_lost, store_error, translated
from saga_backends.postgres.migrations import IDENTITY, Part, check_schema, identity_of, migrate
from saga_core.errors import BadInput, Closed, LeaseLost, StoreError
from saga_core.registry import OpenOptions
from saga_core.stores import Fence, FenceOf, Health

T = TypeVar("T")

log = logging.getLogger("saga.postgres")

_TRIES = 6
"""How many times a transaction is tried if concurrent transactions make it fail."""
_ASIDE = 0.01
"""The base of the backoff between tries, in seconds. Pauses are random, up to twice this at first, and double."""


@frozen
class Place:
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


def place_of(options: OpenOptions, kind: str, **more: object) -> tuple[Place, dict[str, object]]:
    """Return the place that ``options`` describe, and the store's own options. Raises ``BadInput``."""
    taken = options.take(schema="saga", pool=8, timeout=10.0, **more)
    if not options.url:
        raise BadInput(
            f"storage.{kind}.url: the postgres backend needs one, such as postgresql://saga@127.0.0.1/saga; "
            "storage.url serves all stores"
        )
    try:
        conninfo_to_dict(options.url)
    except psycopg.ProgrammingError:  # its message contains the URL with the password
        raise BadInput(
            f"storage.{kind}.url: cannot be read; give postgresql://user:password@host:port/database, with special "
            "characters of the password as %XX"
        ) from None
    if taken["pool"] < 1:
        raise BadInput(f"options.pool: {taken['pool']}; give at least 1")
    if taken["timeout"] <= 0:
        raise BadInput(f"options.timeout: {taken['timeout']}; give seconds above 0")
    fixed = {"client_encoding": "UTF8"}
    known = conninfo_to_dict(options.url)
    fixed |= {name: value for name, value in _USUAL.items() if name not in known}
    conninfo = make_conninfo(options.url, **fixed)
    schema, pool, timeout = (taken.pop(name) for name in ("schema", "pool", "timeout"))
    return Place(conninfo, check_schema(schema), pool, float(timeout)), taken


_USUAL = {"connect_timeout": "5", "application_name": "saga"}


@define(eq=False)
class _Shared:
    """A pool and the number of stores that use it."""

    pool: AsyncConnectionPool
    users: int = 0


_pools: dict[tuple[asyncio.AbstractEventLoop, str, int, float], _Shared] = {}


class Database:
    """The access of one store to a shared pool. ``open`` connects and migrates, and ``aclose`` must follow."""

    def __init__(self, place: Place, kind: str) -> None:
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

    async def bytes_of(self, tables: tuple[str, ...]) -> int:
        """The size of the given tables, including their indexes, in bytes."""
        named = [f"{self.schema}.{table}" for table in tables]

        async def look(connection: AsyncConnection) -> int:
            found = await connection.execute(
                "SELECT coalesce(sum(pg_total_relation_size(name::regclass)), 0)::bigint FROM unnest(%s::text[]) name",
                [named],
            )
            row = await found.fetchone()
            assert row is not None
            return int(row[0])

        return await self.read(look)

    async def health(
        self, look: Callable[[AsyncConnection], Awaitable[None]], tables: tuple[str, ...], thorough: bool
    ) -> Health:
        """Return the health of a store. ``look`` reads from it, and ``tables`` are its tables."""
        try:
            await self.read(look)
            size = await self.bytes_of(tables)
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
