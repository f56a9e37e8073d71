"""A database as its stores use it: one pool of connections for all of them, without any state in a session.

What is asked works behind PgBouncer in transaction mode: nothing is prepared, no session is locked or set, and each
name is written with its schema. A connection that the server closed while it was idle is noticed before it is used.
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

from saga_backends.postgres.errors import AGAIN, is_lost, store_error, translated
from saga_backends.postgres.migrations import IDENTITY, Part, check_schema, identity_of, migrate
from saga_backends.state_kv.key_bytes import encode
from saga_core.errors import BadInput, Closed, LeaseLost, StoreError
from saga_core.registry import OpenOptions
from saga_core.stores import Fence, FenceOf, Health

T = TypeVar("T")

log = logging.getLogger("saga.postgres")

_TRIES = 6
"""How often a transaction is made that others undid."""
_ASIDE = 0.01
"""Seconds of the first pause between two tries; each further one is twice as long, and drawn from."""


@frozen
class Place:
    """Where the data lies."""

    conninfo: str = field(repr=False)
    schema: str
    pool: int
    timeout: float

    @property
    def shown(self) -> str:
        """For people: host, port, database and schema; no user, no password."""
        known = conninfo_to_dict(self.conninfo)
        host = known.get("host") or known.get("hostaddr") or "local socket"
        return f"{host}:{known.get('port') or 5432}/{known.get('dbname') or ''}.{self.schema}"


def place_of(options: OpenOptions, kind: str, **more: object) -> tuple[Place, dict[str, object]]:
    """Where ``options`` lead, and the options of the store itself. Raises ``BadInput``."""
    taken = options.take(schema="saga", pool=8, timeout=10.0, **more)
    if not options.url:
        raise BadInput(
            f"storage.{kind}.url: the postgres backend needs one, such as postgresql://saga@127.0.0.1/saga; "
            "storage.url serves all stores"
        )
    try:
        conninfo_to_dict(options.url)
    except psycopg.ProgrammingError:  # its message repeats the address, with the password in it
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
    """A pool, and how many stores use it."""

    pool: AsyncConnectionPool
    users: int = 0


_pools: dict[tuple[asyncio.AbstractEventLoop, str, int, float], _Shared] = {}


class Database:
    """A store's share in a pool. ``open`` connects and migrates; whoever opened it closes it."""

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
        """The schema's name, which needs no quotes."""
        return self.place.schema

    async def open(self, part: Part | Callable[[AsyncConnection], Awaitable[Part]]) -> None:
        """Connect, look whether the database serves, and bring ``part`` up to date. Raises ``StoreError``."""
        try:
            with translated(self.where):
                # By hand, for a pool keeps to itself why it could not connect.
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

    # -- asking ------------------------------------------------------------------------------------------------

    def alive(self) -> None:
        """Raise ``Closed`` after ``aclose``."""
        if self._closed:
            raise Closed(f"{self.where}: the {self._kind} store is closed")

    async def read(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """What ``work`` reads. When the connection is lost under it, it is asked once more."""
        return await self._run(work, again=True)

    async def write(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """``work``, which is one transaction. It is made again when others undid it, never when it may have happened:
        a connection that is lost under it raises ``StoreUnavailable``.
        """
        return await self._run(work, again=False)

    def fence(self, fence_of: FenceOf) -> None:
        """See ``Fenced``. The journal's table is in the same schema."""
        self._fence_of = fence_of

    async def change(self, scope: str, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """``work`` on ``scope`` as one transaction, which holds only while the scope's fence does.

        The fence is looked at last, and locked from there to the end: whoever takes the lease waits that long.
        Raises ``LeaseLost``.
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
                        raise asyncio.CancelledError  # the driver may finish what was cancelled, and keep it to itself
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
                # Whatever the driver stumbled over then: nobody waits for it. The pool looks after the connection.
                raise asyncio.CancelledError from None
            raise
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()

    @asynccontextmanager
    async def one_moment(self, connection: AsyncConnection) -> AsyncIterator[None]:
        """Everything that is read inside is of one moment."""
        await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            if not connection.closed:
                await connection.execute("COMMIT")

    async def bytes_of(self, tables: tuple[str, ...]) -> int:
        """The size of tables of the schema with their indexes."""
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
        """How a store is that consists of ``tables`` and that ``look`` reads of."""
        try:
            await self.read(look)
            size = await self.bytes_of(tables)
        except Closed:
            raise
        except StoreError as error:
            return Health(ok=False, detail=str(error))
        return Health(ok=True, detail=f"{self.where}: {'all of it was read' if thorough else 'readable'}", bytes=size)

    def usage(self) -> dict[str, int]:
        """How the pool fares: connections, those that are free, and how many requests wait for one."""
        found = self._shared.pool.get_stats() if self._shared is not None else {}
        return {name: int(found.get(name, 0)) for name in ("pool_size", "pool_available", "requests_waiting")}

    async def aclose(self) -> None:
        """Let what is under way finish, and let go of the pool. A second call waits for the same end."""
        self._closed = True
        await self._idle.wait()
        shared, self._shared = self._shared, None
        if shared is not None:
            self._leaving = asyncio.ensure_future(self._leave(shared))
        if self._leaving is not None:
            await asyncio.shield(self._leaving)


async def _check_alive(connection: AsyncConnection) -> None:
    """Raise for a connection that the server has closed. Nothing is asked of one whose line is quiet."""
    if _is_readable(connection.fileno()):
        await AsyncConnectionPool.check_connection(connection)


def _is_readable(line: int) -> bool:
    if not hasattr(select, "poll"):
        return bool(select.select([line], [], [], 0)[0])
    poll = select.poll()
    poll.register(line, select.POLLIN | select.POLLERR | select.POLLHUP)
    return bool(poll.poll(0))
