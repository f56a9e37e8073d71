"""The engine that docs/write-a-backend.md builds keeps its contract, and what LMDB does not take by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance import conforms
from docs.examples.lmdb_state import BACKEND, LONGEST, short
from saga_backends.key_bytes import encode
from saga_core import OpenOptions, StoreLocked
from saga_core.stores import Batch, Key
from tests.conformance.lmdb_harness import HARNESS

test_lmdb = conforms(HARNESS, profile=os.environ.get("SAGA_CONFORMANCE", "quick"))


async def test_long_keys_stand_where_they_belong(tmp_path: Path) -> None:
    """Keys beyond LMDB's 511 bytes begin alike for longer than LMDB sees, and a short one stands among them."""
    ends = ["b", "a", "가", "a\0", "aa", "", "\uffff"]
    long: list[Key] = [("x" * 476 + end + "y" * at,) for at, end in enumerate(ends * 12)]
    keys = sorted({*long, ("w",), ("x",), ("x" * 476, "y"), ("y",), ("x" * 490,)})
    assert sum(len(encode(key)) > LONGEST for key in keys) > 20
    assert all(len(short(encode(key))) <= LONGEST for key in keys)
    store = await BACKEND.open(OpenOptions(path=tmp_path / "db"))
    await store.commit(Batch({key: repr(key).encode() for key in reversed(keys)}))
    assert [key for key, _ in await store.scan(())] == keys
    for at, key in enumerate(keys):
        assert await store.scan((), after=key, limit=2) == [(k, repr(k).encode()) for k in keys[at + 1 : at + 3]]
        assert await store.scan(key, limit=1) == [(key, repr(key).encode())]
    await store.commit(Batch(deletes=frozenset(keys[::2])))
    assert await store.get(keys) == {key: repr(key).encode() for key in keys[1::2]}
    await store.aclose()


async def test_the_map_grows(tmp_path: Path) -> None:
    store = await BACKEND.open(OpenOptions(path=tmp_path / "db"))
    for number in range(12):
        await store.commit(Batch({("v", str(number)): b"x" * 8_000_000}))
    await store.aclose()
    store = await BACKEND.open(OpenOptions(path=tmp_path / "db"))
    assert [len(value) for _, value in await store.scan(("v",))] == [8_000_000] * 12
    with pytest.raises(StoreLocked):
        await BACKEND.open(OpenOptions(path=tmp_path / "db"))
    assert (await store.check(thorough=True)).ok
    await store.aclose()
