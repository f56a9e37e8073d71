"""Finds tiktoken's tables, verifies their checksums, and downloads them if that is allowed.

The library's own loader is not used, because it downloads missing tables and deletes tables with a wrong checksum.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import urllib.request
from binascii import Error, a2b_base64
from collections.abc import Callable, Mapping
from hashlib import sha1, sha256
from pathlib import Path
from types import FunctionType
from typing import Any

from attrs import frozen

from saga_core.errors import BadInput, SagaError
from saga_core.replacing import replace_file

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
class Places:
    """The folders that are searched for tables, in this order."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, directory: str | None, own: Path | None, environ: Mapping[str, str]) -> Places:
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
