"""Rules for settings. Each checks one value, describes what it allows, and works as an attrs validator."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, ClassVar
from urllib.parse import urlsplit

from attrs import Attribute, field, frozen

from saga_core.errors import BadInput
from saga_core.registry import GROUPS, PUBLIC, is_name
from saga_core.trackers import declaration_of, tracker_of
from saga_core.upstream import ModelFacts, ParameterRules, override, read_rules


class RuleBroken(ValueError):
    """A rule does not allow the value. ``hidden``: the value may be a secret and must not be shown."""

    def __init__(self, remedy: str, *, hidden: bool = False) -> None:
        self.remedy = remedy
        self.hidden = hidden
        super().__init__(remedy)


@frozen
class Rule(ABC):
    """The base of all rules. As an attrs validator, a rule raises ``BadInput``."""

    textual: ClassVar[bool] = False
    """Whether the value is text, so that an expanded ``${NAME}`` is never converted to a number."""
    secret: ClassVar[bool] = False
    """Whether the value is a secret, which stays unset if its environment variable is not set."""
    hidden: ClassVar[bool] = False
    """Whether the value is or may contain a secret, so that messages must not show it."""

    optional: bool = field(default=False, kw_only=True)
    """Whether None is allowed."""

    def read(self, value: Any) -> Any:
        """Return ``value`` as the setting stores it. Raises ``RuleBroken``."""
        if value is None and self.optional:
            return None
        try:
            return self.stored(value)
        except RuleBroken as error:
            if not self.optional:
                raise
            raise RuleBroken(f"{error.remedy} or null", hidden=error.hidden) from None

    @abstractmethod
    def stored(self, value: Any) -> Any:
        """Return a value that is not None, as the setting stores it. Raises ``RuleBroken``."""

    def __call__(self, instance: object, attribute: Attribute[Any], value: Any) -> None:
        try:
            self.read(value)
        except RuleBroken as error:
            where = f"{type(instance).__name__}.{attribute.name}"
            raise BadInput(f"{where}: {show(value, hidden=error.hidden)} is not allowed; {error.remedy}") from None


def show(value: Any, *, hidden: bool = False) -> str:
    """Return a value as YAML would spell it, shortened. A value that may be a secret is hidden."""
    if hidden:
        return "the value (hidden)"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


@frozen
class Whole(Rule):
    """A whole number within bounds."""

    least: int = 0
    most: int | None = None

    def stored(self, value: Any) -> Any:
        """Return the number."""
        fits = type(value) is int and self.least <= value and (self.most is None or value <= self.most)
        if not fits:
            bounds = f"of at least {self.least}" if self.most is None else f"from {self.least} to {self.most}"
            raise RuleBroken(f"give a whole number {bounds}")
        return value


@frozen
class Number(Rule):
    """A finite number above 0, or at least 0 with ``zero``."""

    zero: bool = False

    def stored(self, value: Any) -> Any:
        """Return the number as a float."""
        fits = type(value) in (int, float) and math.isfinite(value) and (value > 0 or (self.zero and value == 0))
        if not fits:
            raise RuleBroken(f"give a number {'of at least' if self.zero else 'above'} 0")
        return float(value)


@frozen
class Flag(Rule):
    """True or false."""

    def stored(self, value: Any) -> Any:
        """Return the flag."""
        if type(value) is not bool:
            raise RuleBroken("give true or false")
        return value


@frozen
class OneOf(Rule):
    """One of several words."""

    textual: ClassVar[bool] = True
    of: tuple[str, ...]

    def stored(self, value: Any) -> Any:
        """Return the word."""
        if not isinstance(value, str) or value not in self.of:
            raise RuleBroken(f"give one of {', '.join(self.of)}")
        return value


@frozen
class Text(Rule):
    """Non-empty text on one line."""

    textual: ClassVar[bool] = True
    what: str = "a text"

    def stored(self, value: Any) -> Any:
        """Return the text."""
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise RuleBroken(f"give {self.what}")
        return value


@frozen
class Secret(Rule):
    """A key or password: printable ASCII without spaces, or None."""

    textual: ClassVar[bool] = True
    secret: ClassVar[bool] = True
    hidden: ClassVar[bool] = True

    def stored(self, value: Any) -> Any:
        """Return the secret, or None for an empty one."""
        if value is None or value == "":
            return None
        if not isinstance(value, str) or not _is_key(value):
            raise RuleBroken("give a text of printable ASCII characters without blanks, or null", hidden=True)
        return value


@frozen
class Secrets(Rule):
    """A list of keys. They must not contain ``#``, which separates a session that a client may append to its key."""

    textual: ClassVar[bool] = True
    secret: ClassVar[bool] = True
    hidden: ClassVar[bool] = True

    def stored(self, value: Any) -> Any:
        """Return the keys as a tuple."""
        keys = tuple(value) if isinstance(value, list | tuple) else (None,)
        if not all(isinstance(key, str) and key and _is_key(key) and "#" not in key for key in keys):
            raise RuleBroken("give a list of texts of printable ASCII characters without blanks and '#'", hidden=True)
        return keys


def _is_key(value: str) -> bool:
    return value.isascii() and value.isprintable() and not any(letter.isspace() for letter in value)


@frozen
class FilePath(Rule):
    """A path: absolute, or below the config file's folder."""

    textual: ClassVar[bool] = True

    def stored(self, value: Any) -> Any:
        """Return the path as text."""
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise RuleBroken("give a path")
        path = PurePath(value)
        if not path.is_absolute() and ".." in path.parts:
            raise RuleBroken(
                "a relative path stays below the config file's folder; give an absolute path instead of '..'"
            )
        return value


@frozen
class Url(Rule):
    """An http or https URL, or None."""

    textual: ClassVar[bool] = True

    def stored(self, value: Any) -> Any:
        """Return the URL without a trailing slash."""
        if value is None:
            return None
        hidden = isinstance(value, str) and "@" in value
        if not isinstance(value, str) or not _is_http_url(value):
            raise RuleBroken("give a URL such as http://127.0.0.1:5001/v1, or null", hidden=hidden)
        if "?" in value or "#" in value:  # paths are appended to it
            raise RuleBroken("give a URL without ? and #; a key goes into api_key", hidden=True)
        return value.rstrip("/")


def _is_http_url(value: str) -> bool:
    if not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


@frozen
class StoreUrl(Rule):
    """A store's address, which may contain a password, or None."""

    textual: ClassVar[bool] = True
    hidden: ClassVar[bool] = True

    def stored(self, value: Any) -> Any:
        """Return the address."""
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise RuleBroken("give the store's address or null", hidden=True)
        return value


_ORIGIN = re.compile(r"(?:[a-z][a-z0-9+.-]*://[^/?#\s]+|null|\*)\Z", re.IGNORECASE)


@frozen
class BrowserOrigins(Rule):
    """Browser origins."""

    textual: ClassVar[bool] = True

    def stored(self, value: Any) -> Any:
        """Return the origins as a tuple, in lower case."""
        if not isinstance(value, list | tuple) or not all(
            isinstance(origin, str) and _ORIGIN.match(origin) for origin in value
        ):
            raise RuleBroken("give a list of origins such as https://risuai.xyz (scheme and host, no path), or '*'")
        return tuple(origin.lower() for origin in value)


@frozen
class Words(Rule):
    """A list of texts, limited to those in ``of`` if given."""

    textual: ClassVar[bool] = True
    of: tuple[str, ...] = ()

    def stored(self, value: Any) -> Any:
        """Return the texts as a tuple."""
        given = isinstance(value, list | tuple) and all(
            isinstance(word, str) and word.strip() and word.isprintable() for word in value
        )
        if not given or (self.of and not set(value) <= set(self.of)):
            raise RuleBroken(f"give a list of {'some of ' + ', '.join(self.of) if self.of else 'texts'}")
        return tuple(value)


@frozen
class MappingOf(Rule):
    """A mapping whose values follow the rule ``values``, and whose keys are limited to ``keys`` if given."""

    values: Rule
    keys: tuple[str, ...] = ()

    def stored(self, value: Any) -> Any:
        """Return a new dict."""
        if not isinstance(value, Mapping):
            raise RuleBroken("give a mapping")
        if self.keys and not set(value) <= set(self.keys):
            raise RuleBroken(f"give a mapping with keys among {', '.join(self.keys)}")
        found = {}
        for key, entry in value.items():
            try:
                found[key] = self.values.read(entry)
            except RuleBroken as error:
                raise RuleBroken(f"for {key}, {error.remedy}", hidden=error.hidden) from None
        return found


@frozen
class Options(Rule):
    """The options of a backend, which checks them itself when it is opened. They may contain passwords."""

    hidden: ClassVar[bool] = True

    def stored(self, value: Any) -> Any:
        """Return a new dict."""
        if not isinstance(value, Mapping) or not all(isinstance(key, str) and key for key in value):
            raise RuleBroken("give a mapping of option names to values", hidden=True)
        return dict(value)


@frozen
class OptionsByName(Rule):
    """Names of plugins from other packages, each with its options, which the plugin checks when it is opened."""

    hidden: ClassVar[bool] = True

    def stored(self, value: Any) -> Any:
        """Return a new dict of dicts. A name without a value has no options."""
        remedy = "give a mapping of names to mappings of options"
        if not isinstance(value, Mapping) or not all(isinstance(name, str) and name for name in value):
            raise RuleBroken(remedy, hidden=True)
        found = {}
        for name, options in value.items():
            try:
                found[name] = Options().read({} if options is None else options)
            except RuleBroken:
                raise RuleBroken(f"{remedy}: {name} has something else", hidden=True) from None
        return found


@frozen
class PlacesByGroup(Rule):
    """Entry points as in a ``pyproject.toml``: by group and name, the place of each object."""

    groups: ClassVar[tuple[str, ...]] = GROUPS

    def stored(self, value: Any) -> Any:
        """Return a new dict of dicts of texts."""
        remedy = f"give entry points by their group ({', '.join(self.groups)}), such as saga.modules: {{torch: pkg:X}}"
        if not isinstance(value, Mapping) or not all(isinstance(each, Mapping | None) for each in value.values()):
            raise RuleBroken(remedy)
        found = {group: dict(named or {}) for group, named in value.items()}
        if not found.keys() <= set(self.groups):
            raise RuleBroken(remedy)
        for name, place in ((name, place) for named in found.values() for name, place in named.items()):
            if not isinstance(place, str) or not _PLACE.fullmatch(place):
                raise RuleBroken(f"{remedy}: {name} is not at a place such as package.module:object")
        for name in found.get("saga.backends", ()):
            if not is_name(name):
                raise RuleBroken(f"name a backend KIND.NAME, where KIND is one of {', '.join(PUBLIC)}: {name} is not")
        return found


_PLACE = re.compile(r"\w+(\.\w+)*:\w+(\.\w+)*")


@frozen
class TrackersByName(Rule):
    """What stories count: the names of trackers, each with the fields of its declaration."""

    def stored(self, value: Any) -> Any:
        """Return a new dict of dicts of texts, in which every tracker is valid."""
        remedy = "give a mapping of names to the fields of a tracker, such as gold: {kind: number, range: 0..99}"
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise RuleBroken(remedy)
        found = {}
        for name, fields in value.items():
            if fields is not None and not isinstance(fields, Mapping):
                raise RuleBroken(f"{remedy}: {name} has something else")
            texts = {str(key): _as_text(each) for key, each in (fields or {}).items()}
            try:
                found[name] = declaration_of(tracker_of({"name": name, **texts}))
            except BadInput as error:
                raise RuleBroken(f"give {name} a valid declaration: {error}") from None
        return found


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


@frozen
class FactsByPrefix(Rule):
    """Facts about models as in ``models.toml``, by the prefix of the model's name."""

    def stored(self, value: Any) -> Any:
        """Return a new dict."""
        if not isinstance(value, Mapping) or not all(isinstance(each, Mapping) for each in value.values()):
            raise RuleBroken("give a mapping from beginnings of model names to mappings of facts")
        found = {}
        for name, given in value.items():
            try:
                override(ModelFacts(""), given, str(name))
                read_rules(ParameterRules(), given, str(name))
            except BadInput as error:
                raise RuleBroken(str(error)) from None
            found[str(name)] = dict(given)
        return found
