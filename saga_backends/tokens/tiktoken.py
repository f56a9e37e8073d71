"""TokenCounter with tiktoken's tables: exact for the models of OpenAI.

Tables that are found are loaded when the counter is opened, so that every turn is counted alike. That takes half a
second, in a thread; for two tenths of it the library lets nobody else run, which is why it is not left to a turn.
What is fetched is used from the next opening on. Until then, and where there are no tables, the estimate counts.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import re
import threading
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from attrs import define, field

from saga_backends.tokens.estimate import EstimateCounter
from saga_backends.tokens.known_counts import KnownCounts
from saga_backends.tokens.tables import NoTable, Places, encoding_named, fetch, read_table
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.ports import TokenCounter
from saga_core.registry import Backend, OpenOptions

_log = logging.getLogger(__name__)

ENCODING = "o200k_base"

_PIECE = 16_384
"""Characters that are encoded at once: a run of half a million blanks overflows the library's stack."""
_CUT = re.compile(r"(?<=\n)(?=\w)|(?=[ ]\w)")
"""Where a text can be cut without another count: the library parts it there anyway."""
_CACHED_FROM = 16


@define(eq=False)
class TiktokenCounter:
    """Made by ``BACKEND.open``. About 0.1 ms for 1,000 characters; what was counted lately is remembered."""

    id: str
    _encode: Callable[[str], list[int]] = field(repr=False)
    note: str = "exact for the models of OpenAI that use this encoding"
    """How good the counts are, in words."""
    _known: KnownCounts = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._known = KnownCounts(self._counted, _CACHED_FROM)

    def count(self, text: str) -> int:
        """Tokens of ``text``: 0 for the empty one."""
        return self._known.of(text)

    def _counted(self, text: str) -> int:
        if len(text) <= _PIECE:
            return len(self._encode(text))
        return sum(len(self._encode(piece)) for piece in _pieces(text))


def _pieces(text: str) -> list[str]:
    """``text`` in pieces of at most ``_PIECE`` characters, cut between words where there are any."""
    pieces, start = [], 0
    while len(text) - start > _PIECE:
        cuts = [found.start() for found in _CUT.finditer(text, start + _PIECE // 2, start + _PIECE)]
        end = cuts[-1] if cuts else start + _PIECE
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]


@define(eq=False)
class UncertainCounter:
    """The estimate, where tables are wanted and not there; says why."""

    note: str
    _inner: EstimateCounter = field(factory=EstimateCounter, repr=False)

    @property
    def id(self) -> str:
        """The estimate's."""
        return self._inner.id

    def count(self, text: str) -> int:
        """The estimate."""
        return self._inner.count(text)


_ERROR = EstimateCounter.note


def _made(arguments: dict[str, Any], mark: str = "") -> TiktokenCounter:
    encoding = importlib.import_module("tiktoken").Encoding(**{**arguments, "special_tokens": {}})
    return TiktokenCounter(f"tiktoken/{arguments['name']}{mark}", encoding.encode_ordinary)


def _from_file(file: Path, encoding: str) -> TiktokenCounter:
    """A table of one's own, which parts texts as ``encoding`` does."""
    if not file.is_file():
        raise BadInput(f"token_budget.counter_options.file: {file} is no file; give a table in tiktoken's format")
    raw = file.read_bytes()
    table = read_table(raw, f"token_budget.counter_options.file: {file}")
    parting = encoding_named(encoding, lambda _url, _sum: {bytes([each]): each for each in range(256)})["pat_str"]
    arguments = {"name": file.stem, "pat_str": parting, "mergeable_ranks": table}
    counter = _made(arguments, f"-{blake2b(raw, digest_size=4).hexdigest()}")
    counter.note = f"exact for models that use {file}"
    return counter


def _fetch_later(table: NoTable, folder: Path, counter: UncertainCounter) -> None:
    """Fetch a table on a thread of its own, which may end with the process."""

    def work() -> None:
        try:
            file = fetch(table, folder)
        except (OSError, NoTable) as error:
            counter.note = f"{_ERROR}; the tables could not be fetched: {error}"
            _log.warning("the tables of tiktoken could not be fetched: %s", error)
            return
        counter.note = f"{_ERROR}; the tables were fetched, and are used from the next start on"
        _log.info("fetched %s; tokens are counted exactly from the next start on", file)

    threading.Thread(target=work, name="saga-tokens-fetch", daemon=True).start()


async def open_exact(options: OpenOptions, *, strict: bool) -> TokenCounter:
    """The exact counter; without its tables the estimate, or ``StoreUnavailable`` when ``strict``.

    Options: ``encoding`` (one of tiktoken's), ``directory`` (where its tables lie), ``file`` (a table of one's own),
    ``download`` (whether tables may be fetched in the background). Raises ``BadInput`` for bad ones.
    """
    given = options.take(encoding=ENCODING, directory=None, file=None, download=False)
    for name in ("directory", "file"):
        if given[name] is not None and not isinstance(given[name], str):
            raise BadInput(f"token_budget.counter_options.{name}: {given[name]!r} is no path; give one as text")
    places = Places.of(given["directory"], options.path, os.environ)
    try:
        if given["file"]:
            return await asyncio.to_thread(_from_file, Path(given["file"]), given["encoding"])
        return await asyncio.to_thread(lambda: _made(encoding_named(given["encoding"], places.load)))
    except ImportError as error:
        if strict:
            raise StoreUnavailable(f"tiktoken cannot be imported ({error}); install the extra tiktoken") from error
        return UncertainCounter(f"{_ERROR}; for exact counts install the extra tiktoken ({error})")
    except NoTable as error:
        if given["download"]:
            counter = UncertainCounter(f"{_ERROR}; the tables are being fetched")
            _fetch_later(error, places.folders[0], counter)
            return counter
        remedy = f"fetch it from {error.url}, or set token_budget.counter_options.download: true"
        if strict:
            raise StoreUnavailable(f"token_budget.counter tiktoken: {error}; {remedy}") from error
        wanted = f"exact with {Path(error.url).name} in {places.folders[0]}" if error.missing else str(error)
        return UncertainCounter(f"{_ERROR}; {wanted}: {remedy}")


async def _open(options: OpenOptions) -> TokenCounter:
    return await open_exact(options, strict=True)


BACKEND = Backend("tokens", "tiktoken", _open, "exact counts with tiktoken's tables, which have to be there")
