"""Checks of an MdCache: pages, scopes and edits by people, at every size and among many scopes."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from conformance.assertions import refused, require, same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import again, as_many_scopes, some, whole
from conformance.inputs import NFD, SURROGATE, pages
from conformance.oracles import points
from saga_core.errors import BadInput, StoreCorrupt
from saga_core.stores import MdCache, Pages
from saga_core.values import PAGE_NAMES

HOSTILE = (
    *("../../etc/passwd", "/etc", ".", "..", "C:\\x", "\n", "con", "CON", "nul"),
    *("a.", "a/b", "A/B", "~", "-", "\U0001f600"),
)


@check("C-1")
async def nothing_was_written(case: Case) -> None:
    same(await case.store.read("s"), None, "read")
    same(await case.store.scopes(), [], "scopes")
    await case.store.write("t", pages("t"))
    same(await case.store.read("s"), None, "read of another scope")


@check("C-2")
async def pages_come_back(case: Case) -> None:
    texts = (
        *case.texts,
        *("\n", "\r\n", "a\r\nb\rc\n", "\u2028", "no line end"),
        *("\ufeffBOM", "\0", NFD, "---\n...", " \n \n"),
    )
    for index, text in enumerate(texts):
        for watermark in ("t1", "", NFD, "턴 2"):
            written = Pages({name: text if name != "lore.md" else str(index) for name in PAGE_NAMES}, watermark)
            await case.store.write("s", written)
            same(await case.store.read("s"), written, f"pages of {text[:40]!r}")


@check("C-3")
async def a_write_replaces_everything(case: Case) -> None:
    store = case.store
    for mark in ("one", "two", "two", "three"):
        await store.write("s", pages(mark, mark))
        same(await store.read("s"), pages(mark, mark), f"after {mark}")
    for watermark in ("", "t1", "", "t2"):  # only the watermark changes
        await store.write("s", pages("three", watermark))
        same(await store.read("s"), pages("three", watermark), f"the same pages with the watermark {watermark!r}")
    nothing = Pages(dict.fromkeys(PAGE_NAMES, ""))
    await store.write("s", nothing)
    same(await store.read("s"), nothing, "after empty pages")


@check("C-4")
async def scopes_are_apart(case: Case) -> None:
    store = case.store
    outside = sorted(path for path in case.path.iterdir())
    names = tuple(dict.fromkeys((*case.names, *HOSTILE)))
    for name in names:
        await store.write(name, pages(name, name[:200]))
    for name in names:
        same(await store.read(name), pages(name, name[:200]), f"read of {name!r}")
    same(sorted(path for path in case.path.iterdir()), outside, "the files outside of the cache")


@check("C-5")
async def scopes_in_order(case: Case) -> None:
    names = tuple(dict.fromkeys((*case.names, *HOSTILE)))
    for name in reversed(names):
        await case.store.write(name, pages("x"))
    same(await case.store.scopes(), sorted(names, key=points), "scopes")


@check("C-6")
async def drop_removes_one_scope(case: Case) -> None:
    store = case.store
    for scope in ("a/b", "A/B", "a"):
        await store.write(scope, pages(scope))
    await store.drop("a/b")
    await store.drop("a/b")
    await store.drop("never written")
    same(await store.scopes(), ["A/B", "a"], "scopes")
    same(await store.read("a/b"), None, "read of the dropped scope")
    same(await store.read("A/B"), pages("A/B"), "read of another")
    await store.write("a/b", pages("again"))
    same(await store.read("a/b"), pages("again"), "read after it was written again")


@check("C-7")
async def readers_beside_a_writer(case: Case) -> None:
    store: MdCache = case.store
    long = "x" * 3_000
    generations = [pages(f"{number} {long if number % 2 else ''}", f"t{number}") for number in range(20)]
    await store.write("s", generations[0])
    over = asyncio.Event()

    async def write() -> None:
        for generation in generations:
            await store.write("s", generation)
            await asyncio.sleep(0)
        over.set()

    async def read() -> list[Pages | None]:
        seen = [await store.read("s")]
        while not over.is_set():
            seen.append(await store.read("s"))
            await asyncio.sleep(0)
        return [*seen, await store.read("s")]

    writing = asyncio.ensure_future(write())
    try:
        readers = await asyncio.gather(read(), read())
    finally:
        await writing
    for seen in readers:
        order = [generations.index(found) if found in generations else -1 for found in seen]
        require(-1 not in order, "a reader saw pages that were never written together")
        require(order == sorted(order), f"a reader saw an older generation again: {order}")
    same(await store.read("s"), generations[-1], "the last generation")


@check("C-8")
async def malformed_pages(case: Case) -> None:
    store: Any = case.store
    await store.write("s", pages("kept"))
    for name in case.bad_names:
        await refused(BadInput, store.read(name), f"read of {name!r}")
        await refused(BadInput, store.write(name, pages("x")), f"write to {name!r}")
        await refused(BadInput, store.drop(name), f"drop of {name!r}")
        try:
            store.locate(name)
        except BadInput:
            continue
        require(False, f"locate of {name!r} did not raise BadInput")
    bad: Any
    texts: tuple[Any, ...] = (b"bytes", None, 1, SURROGATE)
    for text in texts:
        bad = Pages({**pages("new").files, "lore.md": text})
        await refused(BadInput, store.write("s", bad), f"the page {text!r}")
    watermarks: tuple[Any, ...] = (SURROGATE, "nul\0", None, 1)
    for watermark in watermarks:
        bad = Pages(pages("new").files, watermark)
        await refused(BadInput, store.write("s", bad), f"the watermark {watermark!r}")
    same(await store.read("s"), pages("kept"), "what is stored")
    same(await store.scopes(), ["s"], "the scopes")


@check("C-10")
async def nobody_else_holds_what_is_stored(case: Case) -> None:
    files = dict(pages("one").files)
    await case.store.write("s", Pages(files, "t1"))
    files["state.md"] = "changed by the writer"
    first: Any = await case.store.read("s")
    try:
        first.files["state.md"] = "changed by the reader"
    except TypeError:  # the mapping is immutable
        same(await case.store.read("s"), pages("one"), "what is stored")
    same(await case.store.read("s"), pages("one"), "what is stored")


@check("C-11")
async def where_a_person_finds_them(case: Case) -> None:
    store: MdCache = case.store
    found: dict[str, str | None] = {}
    for scope in ("s1", "아리아의 모험", "../x"):
        for mark in ("one", "two", "three", "four", "five", "six"):
            await store.write(scope, pages(mark))
            place = store.locate(scope)
            require(place is None or isinstance(place, str), f"locate gave {place!r}")
            same(place, found.setdefault(scope, place), f"locate of {scope!r} after another write")
            if place is not None:
                texts = {name: await asyncio.to_thread((Path(place) / name).read_bytes) for name in PAGE_NAMES}
                same(texts, {name: text.encode() for name, text in pages(mark).files.items()}, f"the files in {place}")
    places = [place for place in found.values() if place is not None]
    require(len(places) in (0, len(found)), f"locate returned folders for some scopes and None for others: {found}")
    require(len(set(places)) == len(places), f"two scopes share a folder: {found}")


@check("C-12")
async def edited_pages_are_read(case: Case) -> None:
    store: MdCache = case.store
    await store.write("s", pages("one", "t1"))
    place = store.locate("s")
    if place is None:
        return
    await store.read("s")
    written = pages("one").files["state.md"]
    saved = ("# 사람이 고쳤다\n", written[:-1] + ".", written[:-1] + "!", written, "", "a\r\nb\r\n", "\ufeff" + written)
    for edited in saved:
        await asyncio.to_thread((Path(place) / "state.md").write_bytes, edited.encode())
        wanted = Pages({**pages("one").files, "state.md": edited}, "t1")
        same(await store.read("s"), wanted, "after a page was edited")
    await store.write("s", pages("two", "t2"))
    same(await store.read("s"), pages("two", "t2"), "after the next write")


@check("C-13")
async def damaged_pages_are_told(case: Case) -> None:
    store: MdCache = case.store
    for scope in ("s", "t"):
        await store.write(scope, pages(scope))
    place = store.locate("s")
    if place is None:
        return
    for mark, damage in enumerate((None, b"\xff\xfe# no UTF-8")):
        page = Path(place) / "story.md"
        await asyncio.to_thread(page.unlink if damage is None else partial(page.write_bytes, damage or b""))
        told = "missing" if damage is None else "not UTF-8"
        await refused(StoreCorrupt, store.read("s"), f"read of pages when one is {told}")
        same(await store.read("t"), pages("t"), f"another scope when a page is {told}")
        await store.write("s", pages(f"mended {mark}"))
        same(await store.read("s"), pages(f"mended {mark}"), f"after a write over a page that was {told}")


@check("C-2", "C-3")
async def pages_at_every_size(case: Case) -> None:
    """Pages around common block sizes, and edits that keep the size."""
    store, random = case.store, case.random
    for size in case.byte_sizes(0):
        text = random.randbytes(size // 2 + 1).hex()[:size]
        written = Pages({name: text if name == "story.md" else str(size) for name in PAGE_NAMES}, f"t{size}")
        await store.write("s", written)
        same(await store.read("s"), written, f"a page of {size} bytes", clause="C-2")
        for at in (size - 1, size // 2):
            edited = Pages({**written.files, "story.md": text[:at] + "-" + text[at + 1 :]}, f"t{size}")
            await store.write("s", edited)
            same(await store.read("s"), edited, f"an edit of {size} bytes that keeps its size", clause="C-3")
        again = Pages(edited.files, "another turn")
        await store.write("s", again)
        same(await store.read("s"), again, "the same pages with another watermark", clause="C-3")


@check("C-2", "C-5", "C-6", durable=("L-11",))
async def many_scopes(case: Case) -> str:
    """Create as many scopes as the store can in the time of the profile."""
    store = case.store
    names = await as_many_scopes(case, lambda name: store.write(name, pages(name)))
    whole(await store.scopes(), names, f"{len(names)} scopes", clause="C-5")
    for name in some(names):
        same(await store.read(name), pages(name), f"the pages of one of {len(names)} scopes", clause="C-2")
    middle = names[len(names) // 2]
    for gone in (names[-1], middle):
        await store.drop(gone)
        require(await store.read(gone) is None, f"{gone} was dropped but has pages", clause="C-6")
    left = [name for name in names[:-1] if name != middle]
    whole(await store.scopes(), left, f"{len(left)} scopes after two were dropped", clause="C-6")
    store = await again(case)
    whole(await store.scopes(), left, f"{len(left)} scopes, opened again", clause="L-11")
    for name in some(left):
        same(await store.read(name), pages(name), "the pages of one of them, opened again", clause="L-11")
    return f"{len(names)} scopes"
