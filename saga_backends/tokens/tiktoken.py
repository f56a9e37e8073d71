"""TokenCounter with tiktoken's tables, which is exact for the models of OpenAI.

Tables are loaded when the counter is opened, so that all turns are counted in the same way. Loading takes half a second
in a thread. For 0.2 s of that, the library blocks all other threads, so it must not happen during a turn. Downloaded
tables are used from the next opening on. Until then, and without tables, the counts are estimates.
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
"""The number of characters to encode at once. A run of half a million blanks overflows the library's stack."""
_CUT = re.compile(r"(?<=\n)(?=\w)|(?=[ ]\w)")
"""Positions where cutting a text does not change its count, because the library splits there anyway."""
_CACHED_FROM = 16


@define(eq=False)
class TiktokenCounter:
    """The exact counter, created by ``BACKEND.open``.

    Counting 1,000 characters takes about 0.1 ms. Recent counts are cached.
    """

    id: str
    _encode: Callable[[str], list[int]] = field(repr=False)
    note: str = "exact for the models of OpenAI that use this encoding"
    """A description of the accuracy."""
    _known: KnownCounts = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._known = KnownCounts(self._counted, _CACHED_FROM)

    def count(self, text: str) -> int:
        """Return the tokens of ``text``, 0 for an empty text."""
        return self._known.of(text)

    def _counted(self, text: str) -> int:
        if len(text) <= _PIECE:
            return len(self._encode(text))
        return sum(len(self._encode(piece)) for piece in _pieces(text))


def _pieces(text: str) -> list[str]:
    """Split ``text`` into pieces of at most ``_PIECE`` characters, between words if possible."""
    pieces, start = [], 0
    while len(text) - start > _PIECE:
        cuts = [found.start() for found in _CUT.finditer(text, start + _PIECE // 2, start + _PIECE)]
        end = cuts[-1] if cuts else start + _PIECE
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]


@define(eq=False)
class UncertainCounter:
    """The estimating counter, used if tables are wanted but missing. ``note`` says why."""

    note: str
    _inner: EstimateCounter = field(factory=EstimateCounter, repr=False)

    @property
    def id(self) -> str:
        """The id of the estimating counter."""
        return self._inner.id

    def count(self, text: str) -> int:
        """Return the estimated tokens of ``text``."""
        return self._inner.count(text)


_ERROR = EstimateCounter.note


def _made(arguments: dict[str, Any], mark: str = "") -> TiktokenCounter:
    encoding = importlib.import_module("tiktoken").Encoding(**{**arguments, "special_tokens": {}})
    return TiktokenCounter(f"tiktoken/{arguments['name']}{mark}", encoding.encode_ordinary)


def _from_file(file: Path, encoding: str) -> TiktokenCounter:
    """Create a counter from a custom table, which splits texts in the same way as ``encoding``."""
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
    """Download a table on a daemon thread."""

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
    """Open the exact counter. Without its tables, returns the estimate or, if ``strict``, raises ``StoreUnavailable``.

    Options: ``encoding`` (one of tiktoken's), ``directory`` (the folder with its tables), ``file`` (a custom table) and
    ``download`` (whether tables may be downloaded in the background). Raises ``BadInput`` for invalid options.
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
