"""The texts of ``saga setup``, in English and Korean: a file for each language in ``wordings``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import yaml
from attrs import frozen
from cattrs import Converter


@frozen(kw_only=True)
class Wording:
    """The texts in one language. Names in braces are placeholders."""

    welcome: str
    frontend: str
    frontends: Mapping[str, str]
    """The title of each frontend, by its name."""
    provider: str
    other_provider: str
    offline: str
    address: str
    model: str
    key: str
    key_found: str
    key_none: str
    key_kept: str
    key_missing: str
    language: str
    languages: Mapping[str, str]
    world: str
    no_world: str
    genre: str
    genres: Mapping[str, str]
    """What each profile counts, by its name, and ``auto``."""
    exists: str
    unchanged: str
    set_aside: str
    written: str
    examined: str
    unwell: str
    start: str
    connect: Mapping[str, str]
    """What to set in each frontend, by its name. ``{url}`` is the server's address."""
    any_key: str
    switch_off: str
    number: str
    number_wrong: str
    address_wrong: str


def _read(text: str) -> Wording:
    return Converter(forbid_extra_keys=True).structure(yaml.safe_load(text), Wording)


_FILES = {file.name: file for file in (files("saga_server.setup") / "wordings").iterdir()}
WORDINGS: Mapping[str, Wording] = {
    name.removesuffix(".yaml"): _read(_FILES[name].read_text(encoding="utf-8")) for name in sorted(_FILES)
}
"""The texts by language tag, one file each."""
