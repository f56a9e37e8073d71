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
import tempfile
import threading
import urllib.request
from binascii import Error, a2b_base64
from collections.abc import Callable, Mapping
from hashlib import blake2b, sha1, sha256
from pathlib import Path
from types import FunctionType
from typing import Any

from attrs import define, field, frozen

from saga_backends.tokens.estimate import CachedCounts, EstimateCounter
from saga_core.errors import BadInput, SagaError, StoreUnavailable
from saga_core.ports import TokenCounter
from saga_core.registry import Backend, OpenOptions
from saga_core.replacing import replace_file

# --- Finds tiktoken's tables, verifies their checksums, and downloads them if that is allowed ---------------------
#
# The library's own loader is not used, because it downloads missing tables and deletes tables with a wrong checksum.

Load = Callable[[str, str | None], Mapping[bytes, int]]
"""Loads the tokens of a table, given its URL and its expected checksum."""

_CACHES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
_FETCH_SECONDS = 30.0
_LARGEST = 64 << 20


class NoTable(SagaError):
    """A table is ``missing`` or has the wrong content. ``url`` is the address where it is published."""

    def __init__(self, message: str, url: str, sum_: str | None, *, missing: bool = False) -> None:
        self.missing = missing
        self.url = url
        self.sum = sum_
        super().__init__(message)


@frozen
class TableFolders:
    """The folders that are searched for tables, in this order."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, directory: str | None, own: Path | None, environ: Mapping[str, str]) -> TableFolders:
        """Return the configured folder, SAGA's own folder, and the folders where tiktoken caches tables."""
        found = [Path(directory).expanduser()] if directory else []
        found += [own] if own is not None else []
        found += [Path(environ[name]) for name in _CACHES if environ.get(name)]
        found.append(Path(tempfile.gettempdir()) / "data-gym-cache")
        return cls(tuple(dict.fromkeys(found)))

    def load(self, url: str, sum_: str | None) -> Mapping[bytes, int]:
        """Load the table published at ``url``, under its own name or tiktoken's cache name. Raises ``NoTable``."""
        strange = []
        for folder in self.folders:
            for name in (Path(url).name, sha1(url.encode(), usedforsecurity=False).hexdigest()):
                file = folder / name
                if not file.is_file():
                    continue
                raw = file.read_bytes()
                if sum_ is None or sha256(raw).hexdigest() == sum_:
                    return read_table(raw, str(file))
                strange.append(str(file))
        if strange:
            raise NoTable(f"{strange[0]} is damaged or another table: its SHA-256 is not {sum_}", url, sum_)
        where = ", ".join(str(folder) for folder in self.folders)
        raise NoTable(f"{Path(url).name} is in none of {where}", url, sum_, missing=True)


def read_table(raw: bytes, name: str) -> dict[bytes, int]:
    """Parse a table in tiktoken's format, which has one line per token with base64 and rank. Raises ``BadInput``."""
    parts = raw.split()
    try:
        found = dict(zip(map(a2b_base64, parts[::2]), map(int, parts[1::2]), strict=True))
    except (ValueError, Error):
        raise BadInput(f"{name}: is no table of tokens; each line is a token in base64, a blank and its rank") from None
    alone = sum(1 for token in found if len(token) == 1)
    if alone < 256 or sorted(found.values()) != list(range(len(found))):
        raise BadInput(f"{name}: has {len(found)} tokens, of which {alone} are single bytes; is it whole?")
    return found


def encoding_named(name: str, load: Load, constructors: Any = None) -> dict[str, Any]:
    """Return the arguments from which tiktoken creates the encoding ``name``, with tables from ``load``.

    The library's own constructors are run with ``load`` instead of its loader. Raises ``NoTable`` and ``BadInput``.
    """
    module = constructors or importlib.import_module("tiktoken_ext.openai_public")
    names = {each: found.__name__ for each, found in module.ENCODING_CONSTRUCTORS.items()}
    if name not in names or name == "gpt2":  # the tables of gpt2 have another format
        known = ", ".join(sorted(each for each in names if each != "gpt2"))
        raise BadInput(f"token_budget.counter_options.encoding: {name!r} is not known to tiktoken; known: {known}")

    def loading(url: str, expected_hash: str | None = None) -> Mapping[bytes, int]:
        return load(url, expected_hash)

    space: dict[str, Any] = dict(vars(module))
    for key, value in vars(module).items():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            space[key] = FunctionType(value.__code__, space, value.__name__, value.__defaults__, value.__closure__)
    space["load_tiktoken_bpe"] = loading
    found: dict[str, Any] = space[names[name]]()
    return found


def fetch(table: NoTable, folder: Path) -> Path:
    """Download a table into ``folder`` and return its path. Blocks. Raises ``NoTable`` for a bad table, ``OSError``."""
    with urllib.request.urlopen(table.url, timeout=_FETCH_SECONDS) as answer:
        raw = answer.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise NoTable(f"{table.url} sent more than {_LARGEST >> 20} MB", table.url, table.sum)
    if table.sum is not None and sha256(raw).hexdigest() != table.sum:
        raise NoTable(f"what {table.url} sent has not the SHA-256 {table.sum}", table.url, table.sum)
    file = folder / Path(table.url).name
    folder.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    part.write_bytes(raw)
    replace_file(part, file)
    return file


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
    _known: CachedCounts = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._known = CachedCounts(self._counted, _CACHED_FROM)

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


def _fetch_later(table: NoTable, folder: Path, counter: EstimateCounter) -> None:
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
    places = TableFolders.of(given["directory"], options.path, os.environ)
    try:
        if given["file"]:
            return await asyncio.to_thread(_from_file, Path(given["file"]), given["encoding"])
        return await asyncio.to_thread(lambda: _made(encoding_named(given["encoding"], places.load)))
    except ImportError as error:
        if strict:
            raise StoreUnavailable(f"tiktoken cannot be imported ({error}); install the extra tiktoken") from error
        return EstimateCounter(note=f"{_ERROR}; for exact counts install the extra tiktoken ({error})")
    except NoTable as error:
        if given["download"]:
            counter = EstimateCounter(note=f"{_ERROR}; the tables are being fetched")
            _fetch_later(error, places.folders[0], counter)
            return counter
        remedy = f"fetch it from {error.url}, or set token_budget.counter_options.download: true"
        if strict:
            raise StoreUnavailable(f"token_budget.counter tiktoken: {error}; {remedy}") from error
        wanted = f"exact with {Path(error.url).name} in {places.folders[0]}" if error.missing else str(error)
        return EstimateCounter(note=f"{_ERROR}; {wanted}: {remedy}")


async def _open(options: OpenOptions) -> TokenCounter:
    return await open_exact(options, strict=True)


BACKEND = Backend("tokens", "tiktoken", _open, "exact counts with tiktoken's tables, which have to be there")
