"""What goes wrong at a database is said in SAGA's words, and passes when the database is well again."""

from __future__ import annotations

import asyncio
import logging
import signal
from typing import Any

import pytest

from saga_core.errors import BadInput, NewerSchema, StoreError, StoreUnavailable
from saga_core.registry import OpenOptions, load
from saga_core.stores import Batch
from tests.postgres.real_server import RealServer

SECRET = "s3cret-of-the-database"


async def opened(url: str, kind: str = "state", name: str = "postgres", **options: Any) -> Any:
    return await load(kind, name).open(OpenOptions(url=url, options={"timeout": 2.0, **options}))


def put(number: int) -> Batch:
    return Batch({("k", str(number)): b"v"})


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
async def test_after_a_restart_of_the_server_calls_go_on_as_if_nothing_were(
    server: RealServer, how: signal.Signals
) -> None:
    store = await opened(server.url, pool=3)
    await asyncio.gather(*(store.commit(put(number)) for number in range(8)))
    server.stop(how)
    server.start()
    # The pool's connections are all dead by now, and none of them is used for a write.
    await asyncio.gather(*(store.commit(put(number)) for number in range(8, 16)))
    assert len(await store.scan(("k",))) == 16
    await store.aclose()


async def test_without_a_server_a_call_says_so_in_time_and_works_when_it_is_back(server: RealServer) -> None:
    store = await opened(server.url, timeout=0.3)
    await store.commit(put(1))
    server.stop()
    with pytest.raises(StoreUnavailable, match=r"^postgres 127\.0\.0\.1:\d+/postgres\.saga: "):
        await store.commit(put(2))
    health = await store.check()
    assert not health.ok
    assert "no connection was free in time" in health.detail
    server.start()
    for _ in range(100):
        try:
            await store.commit(put(3))
            break
        except StoreUnavailable:
            await asyncio.sleep(0.1)
    assert [key for key, _ in await store.scan(("k",))] == [("k", "1"), ("k", "3")]
    await store.aclose()


async def test_no_server_at_all_is_said_at_once(server: RealServer) -> None:
    server.stop()
    with pytest.raises(StoreUnavailable, match="the connection to the database was lost, or none came about"):
        await opened(server.url)


async def test_a_write_whose_connection_is_lost_is_not_made_again(server: RealServer) -> None:
    import psycopg

    store = await opened(server.url)
    await store.commit(put(0))
    async with await psycopg.AsyncConnection.connect(server.url, autocommit=True) as other:
        await other.execute("BEGIN")
        await other.execute("LOCK saga.entries IN ACCESS EXCLUSIVE MODE")
        writing = asyncio.create_task(store.commit(put(1)))
        while True:
            ended = await other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            )
            if ended.rowcount:
                break
        with pytest.raises(StoreUnavailable, match="connection to the database was lost"):
            await writing
        await other.execute("COMMIT")
    assert [key for key, _ in await store.scan(("k",))] == [("k", "0")]
    await store.aclose()


async def test_a_full_disk_is_said_and_nothing_is_written(server: RealServer) -> None:
    import psycopg

    store = await opened(server.url)
    await store.commit(put(0))
    async with await psycopg.AsyncConnection.connect(server.url, autocommit=True) as other:
        await other.execute(
            "CREATE FUNCTION saga.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$"
        )
        await other.execute("CREATE TRIGGER no_room BEFORE INSERT ON saga.entries EXECUTE FUNCTION saga.no_room()")
        with pytest.raises(StoreError, match="disk is full, and nothing was written"):
            await store.commit(Batch({("k", "1"): b"v"}, frozenset({("k", "0")})))
        await other.execute("DROP TRIGGER no_room ON saga.entries")
    assert [key for key, _ in await store.scan(("k",))] == [("k", "0")]
    await store.aclose()


@pytest.mark.parametrize("kind", [("state", "postgres"), ("vector", "pgvector")])
async def test_no_message_and_no_log_line_shows_a_password(
    server: RealServer, kind: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    import psycopg

    async with await psycopg.AsyncConnection.connect(server.url, autocommit=True) as other:
        await other.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'")
        await other.execute("GRANT ALL ON DATABASE postgres TO guarded")
    caplog.set_level(logging.DEBUG)
    told = []
    wrong = server.address("postgres", "guarded", SECRET + "-wrong")
    with pytest.raises(StoreUnavailable, match="refuses the user") as refused:
        await opened(wrong, *kind)
    told.append(refused)
    with pytest.raises(BadInput, match=r"storage\.\w+\.url: cannot be read") as unreadable:
        await opened(f"postgresql:/guarded:{SECRET}@127.0.0.1 {SECRET}", *kind)
    told.append(unreadable)
    with pytest.raises(StoreUnavailable, match="create it: createdb") as nowhere:
        await opened(server.address("nowhere", "guarded", SECRET), *kind)
    told.append(nowhere)
    right = server.address("postgres", "guarded", SECRET)
    store = await opened(right, timeout=0.2)
    told.append(await store.check())
    told.append(store.info)
    server.stop()
    told.append(await store.check())
    await store.aclose()
    text = "\n".join([repr(each) + str(getattr(each, "value", "")) for each in told]) + caplog.text
    assert SECRET not in text


async def test_a_schema_that_a_newer_saga_wrote_is_refused_and_an_older_one_side_by_side_is_not(
    url: str, schema: str
) -> None:
    import psycopg

    await (await opened(url, schema=schema)).aclose()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
        await other.execute(f"UPDATE {schema}.parts SET version = 9, least = 1 WHERE part = 'state'".encode())
        store = await opened(url, schema=schema)  # a newer server has been here, and bears the older ones
        await store.commit(put(1))
        await store.aclose()
        row = await (
            await other.execute(f"SELECT version FROM {schema}.parts WHERE part = 'state'".encode())
        ).fetchone()
        assert row == (9,), "an older server changes nothing"
        await other.execute(f"UPDATE {schema}.parts SET least = 9".encode())
    with pytest.raises(NewerSchema, match="install a newer SAGA; nothing was changed"):
        await opened(url, schema=schema)


async def test_servers_that_start_together_make_the_tables_once(url: str, schema: str) -> None:
    kinds = [("state", "postgres"), ("graph", "postgres"), ("vector", "pgvector"), ("cache", "postgres")]
    stores = await asyncio.gather(*(opened(url, *kind, schema=schema) for kind in kinds * 4))
    await asyncio.gather(*(store.aclose() for store in stores))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"schema": 'a"; DROP'}, "options.schema"),
        ({"schema": "pg_mine"}, "options.schema"),
        ({"pool": 0}, "options.pool"),
        ({"timeout": 0.0}, "options.timeout"),
        ({"port": 1}, "options.port"),
    ],
)
async def test_bad_options_are_named(url: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        await opened(url, **options)


async def test_a_store_without_an_address_says_where_to_put_it() -> None:
    with pytest.raises(BadInput, match=r"storage\.graph\.url: .*storage\.url serves all stores"):
        await load("graph", "postgres").open(OpenOptions())


async def test_an_encoding_that_loses_letters_is_refused(server: RealServer) -> None:
    import psycopg

    async with await psycopg.AsyncConnection.connect(server.url, autocommit=True) as other:
        await other.execute("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0")
        with pytest.raises(BadInput, match="encoding is SQL_ASCII; create one with createdb -E UTF8"):
            await opened(server.address("bytes"))
        await other.execute("DROP DATABASE bytes")
