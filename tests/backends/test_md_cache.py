"""Each sentence of the MdCache contract, for every engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from saga_backends.md_cache.files import BACKEND as FILES
from saga_backends.memory import CACHE
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed
from saga_core.registry import Backend, OpenOptions
from saga_core.stores.md_cache import MdCache, Pages
from saga_core.values import PAGE_NAMES

HOSTILE = ["../../etc/passwd", "/etc", ".", "..", "C:\\x", "\n", "con", "가" * 256]
SCOPES = ["s1", "아리아의 모험", "a/b", "A/B", "a b", "😀", *HOSTILE]
LINES = ["\n", "\r\n", "a\r\nb\rc\n", "\u2028", "줄바꿈 없음"]
TEXTS = ["", *LINES, "\ufeffBOM", "\0", "e\u0301 é", "---\n...", "x" * 100_000]


def pages(mark: str, watermark: str = "t1") -> Pages:
    return Pages({name: f"---\npage: {name}\n---\n\n# 상태 {mark}\n" for name in PAGE_NAMES}, watermark)


@pytest.fixture(params=[CACHE, FILES], ids=lambda backend: backend.name)
async def cache(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MdCache]:
    backend: Backend = request.param
    opened: MdCache = await backend.open(OpenOptions(path=tmp_path / "pages"))
    yield opened
    await opened.aclose()


async def test_a_generation_is_read_as_written_and_replaced_whole(cache: MdCache) -> None:
    assert await cache.read("s1") is None
    for mark in ("one", "two", "two", "three"):
        await cache.write("s1", pages(mark, mark))
        assert await cache.read("s1") == pages(mark, mark)
    await cache.write("s1", Pages(dict.fromkeys(PAGE_NAMES, "")))
    assert await cache.read("s1") == Pages(dict.fromkeys(PAGE_NAMES, ""), "")


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:20])
async def test_text_comes_back_byte_for_byte(cache: MdCache, text: str) -> None:
    written = Pages(dict.fromkeys(PAGE_NAMES, text), "t")
    await cache.write("s", written)
    assert await cache.read("s") == written


async def test_scopes_are_apart_whatever_their_names(cache: MdCache) -> None:
    for scope in SCOPES:
        await cache.write(scope, pages(scope))
    for scope in SCOPES:
        assert await cache.read(scope) == pages(scope)
    assert await cache.scopes() == sorted(SCOPES)
    await cache.drop("a/b")
    await cache.drop("never written")
    assert await cache.scopes() == sorted(set(SCOPES) - {"a/b"})
    assert await cache.read("a/b") is None
    assert await cache.read("A/B") == pages("A/B")
    await cache.write("a/b", pages("again"))
    assert await cache.read("a/b") == pages("again")


async def test_nobody_else_holds_what_is_stored(cache: MdCache) -> None:
    files = dict(pages("one").files)
    await cache.write("s", Pages(files, "t1"))
    files["state.md"] = "changed by the writer"
    first = await cache.read("s")
    assert first is not None
    first.files["state.md"] = "changed by the reader"  # type: ignore[index]
    assert await cache.read("s") == pages("one")


async def test_readers_beside_writers_see_whole_generations(cache: MdCache) -> None:
    generations = [pages(str(n), f"t{n}") for n in range(30)]
    await cache.write("s", generations[0])

    async def write() -> None:
        for generation in generations:
            await cache.write("s", generation)
            await asyncio.sleep(0)

    async def read(writing: asyncio.Task[None]) -> list[Pages | None]:
        seen = []
        while not writing.done():
            seen.append(await cache.read("s"))
            await asyncio.sleep(0)
        return seen

    writing = asyncio.ensure_future(write())
    for seen in await asyncio.gather(read(writing), read(writing)):
        order = [generations.index(found) for found in seen if found is not None]
        assert len(order) == len(seen) > 0
        assert order == sorted(order)
    assert await cache.read("s") == generations[-1]


@pytest.mark.parametrize("scope", ["", "x" * 257, "a\0b", "\ud800", 1, None], ids=ascii)
async def test_malformed_scopes_are_refused(cache: MdCache, scope: Any) -> None:
    for call in (cache.read(scope), cache.write(scope, pages("x")), cache.drop(scope)):
        with pytest.raises(BadInput, match="scope"):
            await call
    with pytest.raises(BadInput, match="scope"):
        cache.locate(scope)
    assert await cache.scopes() == []


@pytest.mark.parametrize("text", [b"bytes", None, 1, "\udfff"], ids=ascii)
async def test_malformed_pages_are_refused(cache: MdCache, text: Any) -> None:
    await cache.write("s", pages("kept"))
    with pytest.raises(BadInput, match=r"pages\['lore\.md'\]"):
        await cache.write("s", Pages({**pages("new").files, "lore.md": text}))
    with pytest.raises(BadInput, match="watermark"):
        await cache.write("s", evolve(pages("new"), watermark="\udfff"))
    assert await cache.read("s") == pages("kept")


async def test_pages_up_to_the_limit_are_taken(cache: MdCache) -> None:
    limit = cache.info.limits.value_bytes
    largest = Pages({**pages("x").files, "story.md": "가" * (limit // 3)}, "t")
    await cache.write("s", largest)
    assert await cache.read("s") == largest
    with pytest.raises(BadInput, match=f"the limit is {limit}"):
        await cache.write("s", Pages({**pages("y").files, "story.md": "가" * (limit // 3 + 1)}))
    assert await cache.read("s") == largest


async def test_it_describes_itself(cache: MdCache) -> None:
    await cache.write("s", pages("x"))
    assert cache.info.kind == "cache"
    health = await cache.check()
    assert health.ok, health
    on_disk = Capability.DURABLE in cache.info.capabilities
    assert on_disk == bool(cache.info.location) == (health.bytes is not None) == (cache.locate("s") is not None)


async def test_closed_is_closed(cache: MdCache) -> None:
    await cache.write("s", pages("x"))
    await cache.aclose()
    await cache.aclose()
    for call in (
        cache.read("s"),
        cache.read(""),
        cache.write("s", pages("x")),
        cache.scopes(),
        cache.drop("s"),
        cache.check(),
    ):
        with pytest.raises(Closed):
            await call
    with pytest.raises(Closed):
        cache.locate("s")


async def test_unknown_options_are_refused(tmp_path: Path) -> None:
    for backend in (CACHE, FILES):
        with pytest.raises(BadInput, match=r"options\.fsync: unknown option"):
            await backend.open(OpenOptions(path=tmp_path, options={"fsync": True}))
