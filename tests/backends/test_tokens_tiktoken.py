"""Exact counts with tables in tiktoken's format: found, damaged, fetched, missing; never a download unasked."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from hashlib import sha1, sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tiktoken
import tiktoken_ext.openai_public as public  # type: ignore[import-untyped]
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.tokens import auto
from saga_backends.tokens import tiktoken as backend
from saga_backends.tokens.estimate import EstimateCounter
from saga_backends.tokens.tiktoken import (
    BACKEND,
    NoTable,
    TableFolders,
    TiktokenCounter,
    _pieces,
    encoding_named,
    fetch,
    read_table,
)
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.registry import OpenOptions

WORDS = ("the ", "sword", " flame", "ing", "검", "불꽃", "고블린", "을 ", "\n\n", "...")


def made_up() -> bytes:
    """A small table: every byte, and what the words are merged from, step by step."""
    ranks = {bytes([each]): each for each in range(256)}
    for word in WORDS:
        raw = word.encode()
        for end in range(2, len(raw) + 1):
            ranks.setdefault(raw[:end], len(ranks))
    return b"".join(b"%s %d\n" % (b64encode(token), rank) for token, rank in ranks.items())


TABLE = made_up()
TEXT = "the sword, flaming: 고블린의 불꽃 검을 the 2nd time...\n\nend"


def truth(encoding: str = "o200k_base") -> tiktoken.Encoding:
    """The library itself with the made-up table."""
    table = read_table(TABLE, "made up")
    arguments = encoding_named(encoding, lambda _url, _sum: table)
    return tiktoken.Encoding(**{**arguments, "special_tokens": {}, "explicit_n_vocab": None})


@pytest.fixture(autouse=True)
def _no_tables_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a counter went to the network")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """tiktoken's constructors, one of which names the made-up table by its sum."""
    url = "https://example.invalid/encodings/small_base.tiktoken"
    asked = SimpleNamespace(url=url, sum=sha256(TABLE).hexdigest())

    monkeypatch.setattr(public, "small_base", None, raising=False)
    monkeypatch.setattr(public, "_asked", asked, raising=False)
    exec(_SMALL_BASE, vars(public))  # a function of that module, as its own constructors are
    small_base = vars(public)["small_base"]
    monkeypatch.setitem(public.ENCODING_CONSTRUCTORS, "small_base", small_base)
    yield asked


_SMALL_BASE = """
def small_base():
    return {
        "name": "small_base",
        "pat_str": r50k_pat_str,
        "mergeable_ranks": load_tiktoken_bpe(_asked.url, expected_hash=_asked.sum),
        "special_tokens": {ENDOFTEXT: 9_999},
    }
"""


def options(path: Path | None = None, **given: Any) -> OpenOptions:
    return OpenOptions(path=path, options=given)


@pytest.mark.usefixtures("_no_network")
class TestFound:
    async def test_a_table_of_ones_own_counts_as_the_library_does(self, tmp_path: Path) -> None:
        (tmp_path / "mine.tiktoken").write_bytes(TABLE)
        counter = await BACKEND.open(options(file=str(tmp_path / "mine.tiktoken")))
        assert counter.count(TEXT) == len(truth().encode_ordinary(TEXT))
        assert counter.count("") == 0
        assert counter.id.startswith("tiktoken/mine-")
        assert counter.count("<|endoftext|>") > 1  # no special tokens in a story

    async def test_the_text_is_parted_as_the_encoding_says(self, tmp_path: Path) -> None:
        (tmp_path / "mine.tiktoken").write_bytes(TABLE)
        for name in ("cl100k_base", "r50k_base", "o200k_harmony"):
            counter = await BACKEND.open(options(file=str(tmp_path / "mine.tiktoken"), encoding=name))
            assert counter.count(TEXT) == len(truth(name).encode_ordinary(TEXT))

    @pytest.mark.parametrize("place", ["directory", "own", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "tmp"])
    async def test_tables_are_found_where_they_may_lie(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _small: SimpleNamespace, place: str
    ) -> None:
        folder = tmp_path / "tmp" / "data-gym-cache" if place == "tmp" else tmp_path / place
        folder.mkdir(parents=True)
        by_sum = sha1(_small.url.encode()).hexdigest()
        (folder / ("small_base.tiktoken" if place in ("directory", "own") else by_sum)).write_bytes(TABLE)
        given: dict[str, Any] = {"encoding": "small_base"}
        if place == "directory":
            given["directory"] = str(folder)
        elif place.isupper():
            monkeypatch.setenv(place, str(folder))
        counter = await auto.BACKEND.open(options(folder if place == "own" else None, **given))
        assert isinstance(counter, TiktokenCounter)
        assert counter.id == "tiktoken/small_base"
        assert counter.count("the the ") < EstimateCounter().count("the the ") + 8

    async def test_a_damaged_table_is_told_and_left_alone(self, tmp_path: Path, _small: SimpleNamespace) -> None:
        (tmp_path / "small_base.tiktoken").write_bytes(TABLE[:-40])
        given = options(encoding="small_base", directory=str(tmp_path))
        with pytest.raises(StoreUnavailable, match=r"small_base\.tiktoken is damaged or another table"):
            await BACKEND.open(given)
        counter = await auto.BACKEND.open(given)
        assert "damaged" in counter.note and counter.id == EstimateCounter().id
        assert (tmp_path / "small_base.tiktoken").read_bytes() == TABLE[:-40]


@pytest.mark.usefixtures("_no_network")
class TestMissing:
    async def test_auto_estimates_and_says_how_good_that_is_and_what_to_do(self) -> None:
        counter = await auto.BACKEND.open(options())
        assert isinstance(counter, EstimateCounter)
        assert counter.id == EstimateCounter().id
        assert counter.count(TEXT) == EstimateCounter().count(TEXT)
        for word in ("3 %", "o200k_base.tiktoken", "counter_options.download"):
            assert word in counter.note

    async def test_who_insists_is_told(self) -> None:
        with pytest.raises(StoreUnavailable, match=r"o200k_base\.tiktoken is in none of .*download: true"):
            await BACKEND.open(options())

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"encoding": "o300k"}, r"encoding: 'o300k' is not known .*o200k_base"),
            ({"encoding": "gpt2"}, "encoding: 'gpt2' is not known"),
            ({"file": "/no/such/file"}, "file: /no/such/file is no file"),
            ({"directory": 3}, "directory: 3 is no path"),
            ({"dir": "x"}, "options.dir: unknown option"),
        ],
    )
    async def test_bad_options(self, given: dict[str, Any], words: str) -> None:
        for each in (BACKEND, auto.BACKEND):
            with pytest.raises(BadInput, match=words):
                await each.open(options(**given))

    @pytest.mark.parametrize("raw", [b"no table", TABLE[:1_000], TABLE + b"AAAA", b"\xff\xfe"])
    async def test_a_file_that_is_no_table(self, tmp_path: Path, raw: bytes) -> None:
        (tmp_path / "broken.tiktoken").write_bytes(raw)
        with pytest.raises(BadInput, match=r"broken\.tiktoken"):
            await BACKEND.open(options(file=str(tmp_path / "broken.tiktoken")))


class TestFetched:
    @pytest.fixture
    async def served(self, _small: SimpleNamespace) -> AsyncIterator[SimpleNamespace]:
        """The table at an address of this machine."""
        _small.body, _small.asked = TABLE, 0

        async def answer(_: web.Request) -> web.Response:
            _small.asked += 1
            return web.Response(body=_small.body)

        app = web.Application()
        app.router.add_get("/encodings/small_base.tiktoken", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        _small.url = f"http://127.0.0.1:{site.port}/encodings/small_base.tiktoken"
        yield _small
        await runner.cleanup()

    async def ended(self) -> None:
        for thread in threading.enumerate():
            if thread.name == "saga-tokens-fetch":
                await asyncio.to_thread(thread.join)

    async def test_only_when_it_is_allowed(self, tmp_path: Path, served: SimpleNamespace) -> None:
        counter = await auto.BACKEND.open(options(tmp_path, encoding="small_base"))
        await self.ended()
        assert served.asked == 0 and isinstance(counter, EstimateCounter)

    async def test_in_the_background_and_used_from_the_next_opening_on(
        self, tmp_path: Path, served: SimpleNamespace
    ) -> None:
        given = options(tmp_path / "own", encoding="small_base", download=True)
        counter = await BACKEND.open(given)
        first = counter.count(TEXT)
        await self.ended()
        # What was counted once is counted alike as long as this counter lives.
        assert first == counter.count(TEXT) == EstimateCounter().count(TEXT)
        assert "from the next start on" in counter.note
        again = await BACKEND.open(given)
        assert again.id == "tiktoken/small_base" and served.asked == 1
        assert [each.name for each in (tmp_path / "own").iterdir()] == ["small_base.tiktoken"]

    async def test_what_comes_damaged_is_not_kept(
        self, tmp_path: Path, served: SimpleNamespace, caplog: pytest.LogCaptureFixture
    ) -> None:
        served.body = TABLE[:-40]
        with caplog.at_level(logging.WARNING):
            counter = await auto.BACKEND.open(options(tmp_path / "own", encoding="small_base", download=True))
            await self.ended()
        assert "could not be fetched" in counter.note and "could not be fetched" in caplog.text
        assert not (tmp_path / "own").exists()

    async def test_an_address_that_does_not_answer(self, tmp_path: Path, served: SimpleNamespace) -> None:
        served.url = served.url.replace("small_base", "gone")
        with pytest.raises(OSError, match="404"):
            await asyncio.to_thread(fetch, NoTable("", served.url, None), tmp_path)


def test_the_librarys_own_constructors_are_run_with_our_loader() -> None:
    asked: list[tuple[str, str | None]] = []

    def load(url: str, sum_: str | None) -> dict[bytes, int]:
        asked.append((url, sum_))
        return read_table(TABLE, "made up")

    found = encoding_named("o200k_harmony", load)
    assert found["name"] == "o200k_harmony" and found["mergeable_ranks"] == read_table(TABLE, "made up")
    ((url, sum_),) = asked
    assert url.endswith("/o200k_base.tiktoken") and sum_ is not None and len(sum_) == 64


def test_the_configured_folder_comes_first(tmp_path: Path) -> None:
    places = TableFolders.of("~/mine", tmp_path, {"TIKTOKEN_CACHE_DIR": "/a", "DATA_GYM_CACHE_DIR": "/b"})
    assert [str(each) for each in places.folders[1:4]] == [str(tmp_path), "/a", "/b"]
    assert places.folders[0].is_absolute() and places.folders[0].name == "mine"


_ENCODING = truth()


@given(st.lists(st.sampled_from([*WORDS, " ", "\n", "a", "1", "!", "가", "é", "🐉"]), max_size=80).map("".join))
def test_a_long_text_is_counted_in_pieces_as_a_whole(text: str) -> None:
    mark = pytest.MonkeyPatch()
    with mark.context() as patch:
        patch.setattr(backend, "_PIECE", 24)
        pieces = _pieces(text)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= 24 for piece in pieces if text)
    whole = len(_ENCODING.encode_ordinary(text))
    # Only where there is no word within half a piece a cut may fall inside a token, which then becomes as many as it
    # has bytes. Even fewer may do: the encoding merges from the most frequent pair on, which is not always shortest.
    cut = sum(len(_ENCODING.encode_ordinary(piece)) for piece in pieces)
    assert abs(cut - whole) <= (len(pieces) - 1) * max(len(word.encode()) for word in WORDS)


def test_pieces_cut_between_words_change_no_count() -> None:
    prose = ("the sword flaming 고블린의 불꽃 검을 taken.\n\nthe 2nd time, end...\n" * 3_000)[:100_000]
    assert len(_pieces(prose)) > 5
    counter = TiktokenCounter("made-up", _ENCODING.encode_ordinary)
    assert counter.count(prose) == len(_ENCODING.encode_ordinary(prose))


@pytest.mark.parametrize("text", [" " * 1_000_000, "\n" * 300_000, "가" * 60_000, "a" * 200_000, "\ud800x" * 9])
def test_texts_that_are_too_much_for_the_library(text: str) -> None:
    assert TiktokenCounter("made-up", _ENCODING.encode_ordinary).count(text) > 0


async def test_without_the_package_tokens_are_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("tiktoken", "tiktoken_ext", "tiktoken_ext.openai_public"):
        monkeypatch.setitem(sys.modules, module, None)
    counter = await auto.BACKEND.open(OpenOptions(path=tmp_path))
    assert isinstance(counter, EstimateCounter)
    assert "install the extra tiktoken" in counter.note
    assert counter.count("The rain stops.") == EstimateCounter().count("The rain stops.")
    with pytest.raises(StoreUnavailable, match="install the extra tiktoken"):
        await BACKEND.open(OpenOptions(path=tmp_path))
