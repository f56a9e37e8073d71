"""What a rule is, and where the rules are found: in the tables of the languages, and in the modules of four rooms.

A rule is a pattern, a list of words or a function that decides about what people write. It is taken out by putting
something neutral in its place: a pattern that never matches, an empty list, "no", or the text as it was.
"""

from __future__ import annotations

import ast
import functools
import inspect
import pkgutil
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from attrs import frozen

ROOMS = ("language", "state_block", "naming", "extraction")
NEVER_SAID = "zqxj"
"""A word and a pattern that no text contains."""
_NEVER = re.compile(NEVER_SAID)
_DATA = yaml.load(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
_NO_RULES: tuple[str, ...] = tuple(_DATA["no_rules"])
_NEUTRAL: Mapping[str, Any] = _DATA["neutral"]


@frozen
class Rule:
    """One rule. ``name`` is ``ko.amounts.counters`` for a table, ``naming.forms:_REMARK`` for what a module defines."""

    name: str
    lines: int
    """The lines that define it."""
    words: str = ""
    """Of a table: the pattern, or the words separated by spaces; "" if it holds anything else."""

    @property
    def language(self) -> str:
        """The language of a table; "" for what a module defines."""
        return "" if ":" in self.name else self.name.partition(".")[0]

    @property
    def reads_replies(self) -> bool:
        """Whether it may decide how a single reply is read."""
        return _is_one_of(self.name, _DATA["of_replies"])

    @property
    def only_reads(self) -> bool:
        """Whether it decides nothing but how replies are read."""
        return _is_one_of(self.name, _DATA["only_read"]) and not _is_one_of(self.name, _DATA["read_elsewhere"])


def rooms() -> Iterator[types.ModuleType]:
    """The modules of the four rooms."""
    for room in ROOMS:
        package = import_module(f"saga_core.{room}")
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield import_module(found.name)


def rules() -> list[Rule]:
    """Every rule, in the order of the code."""
    return [*_in_tables(), *(rule for module in rooms() for rule in _in_module(module))]


# -- the tables of the languages --------------------------------------------------------------------------------------


def _in_tables() -> Iterator[Rule]:
    from saga_core.language import every
    from saga_core.language.language import WORDS

    for language in every():
        lines = _lines_of_rows(language.tag)
        for section in WORDS:
            for row, value in getattr(language, section):
                name = f"{language.tag}.{section}.{row}"
                if _is_left_out(name) or value == _empty(type(getattr(language, section)), row, value):
                    continue
                if isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values()):
                    for key, words in value.items():
                        yield Rule(f"{name}[{key}]", lines.get(f"{section}.{row}.{key}", 1), words)
                else:
                    yield Rule(name, lines.get(f"{section}.{row}", 1), _words_in(value))


def _words_in(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(map(str, value))
    if isinstance(value, tuple | frozenset) and all(isinstance(each, str) for each in value):
        return ("|" if isinstance(value, tuple) else " ").join(sorted(value))
    return ""


def _empty(table: type, row: str, value: Any) -> Any:
    """The row as it is when it is left out."""
    return getattr(table, row, NEVER_SAID if isinstance(value, str) else type(value)())


@functools.cache
def _lines_of_rows(tag: str) -> dict[str, int]:
    """How many lines each row of a language's words takes, its comments included."""
    path = Path(import_module(f"saga_core.language.{tag}").__path__[0]) / "words.toml"
    found: dict[str, int] = {}
    section, row = "", ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if header := re.fullmatch(r"\[+([\w.]+)\]+", line):
            section, row = header[1], ""
        elif begun := re.match(r"\"?([^\s=\"]+)\"? = ", line):
            row = f"{section}.{begun[1]}"
        if row and line:
            found[row] = found.get(row, 0) + 1
            outer = row.rpartition(".")[0]
            if "." in outer:
                found[outer] = found.get(outer, 0) + 1
    return found


# -- what modules define ----------------------------------------------------------------------------------------------


def _in_module(module: types.ModuleType) -> Iterator[Rule]:
    room = module.__name__.removeprefix("saga_core.")
    tree = ast.parse(inspect.getsource(module))
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and _without(vars(module).get(target.id)) is not None:
                    yield from _unless_left_out(f"{room}:{target.id}", node)
        elif isinstance(node, ast.FunctionDef):
            if neutral(f"{room}:{node.name}", vars(module)[node.name]) is not None:
                yield from _unless_left_out(f"{room}:{node.name}", node)
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and not each.name.startswith("__"):
                    name = f"{room}:{node.name}.{each.name}"
                    if neutral(name, inspect.getattr_static(vars(module)[node.name], each.name)) is not None:
                        yield from _unless_left_out(name, each)


def _unless_left_out(name: str, node: ast.stmt) -> Iterator[Rule]:
    if not _is_left_out(name):
        first = min((each.lineno for each in getattr(node, "decorator_list", ())), default=node.lineno)
        yield Rule(name, (node.end_lineno or first) - first + 1)


def _is_left_out(name: str) -> bool:
    return _is_one_of(name, _NO_RULES)


def _is_one_of(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _without(value: Any) -> Any:
    """What stands for a constant that is taken out; None for one that is no rule."""
    if isinstance(value, re.Pattern):
        return _NEVER
    if isinstance(value, frozenset | set) and value and all(isinstance(each, str) for each in value):
        return frozenset()
    if isinstance(value, dict) and value and all(isinstance(each, str) for each in value):
        return {}
    if isinstance(value, tuple) and value and all(isinstance(each, str | re.Pattern | tuple) for each in value):
        return ()
    return None


def plain(value: Any) -> Any:
    """A function without its cache, or that of a method or property."""
    if isinstance(value, property):
        value = value.fget
    if isinstance(value, functools.cached_property):
        value = value.func
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    return inspect.unwrap(value) if callable(value) else value


def neutral(name: str, value: Any) -> Callable[..., Any] | None:
    """What stands for a function that is taken out; None for one that is no rule."""
    function = plain(value)
    if not inspect.isfunction(function):
        return None
    if name in _NEUTRAL:
        return lambda *_, **__: _NEUTRAL[name]
    told = str(function.__annotations__.get("return", ""))
    if told == "bool":
        return lambda *_, **__: False
    if told.endswith("| None") or told == "None":
        return lambda *_, **__: None
    if told.startswith("re.Pattern"):
        return lambda *_, **__: _NEVER
    for kind, empty in (("tuple", ()), ("list", []), ("frozenset", frozenset()), ("set", set()), ("dict", {})):
        if told.startswith(f"{kind}[") and (kind != "tuple" or "..." in told):
            return lambda *_, **__: type(empty)(empty)
    if told.startswith(("Iterator", "Iterable")):
        return lambda *_, **__: iter(())
    names = [each for each in inspect.signature(function).parameters if each != "self"]
    if names and told in ("str", "list[str]") and str(function.__annotations__.get(names[0])) == told:
        at = 0 if "self" not in inspect.signature(function).parameters else 1
        return lambda *given, **named: given[at] if len(given) > at else named[names[0]]
    return None


# -- taking out -------------------------------------------------------------------------------------------------------


def take_out(rule: Rule) -> None:
    """Take out a rule. For one of a table call this while no module of the four rooms is imported."""
    if rule.language:
        _take_out_of_table(rule.name)
    else:
        _take_out_of_module(rule.name)


def _take_out_of_table(name: str) -> None:
    from saga_core.language.language import Language

    tag, section, row = name.split(".", 2)
    row, _, key = row.partition("[")
    made = Language._section

    def _section(self: Language, asked: str) -> Any:
        table = made(self, asked)
        if (self.tag, asked) != (tag, section):
            return table
        value = getattr(table, row)
        if key:
            return table.with_rows(**{row: {each: words for each, words in value.items() if each != key.rstrip("]")}})
        return table.with_rows(**{row: _empty(type(table), row, value)})

    Language._section = _section  # type: ignore[method-assign]


def _take_out_of_module(name: str) -> None:
    for _ in rooms():
        pass  # all are imported now, and have what they take from one another
    place = place_of(name)
    replace(place, _without(place.value) if not callable(plain(place.value)) else neutral(name, place.value))
    _clear_caches()


def _clear_caches() -> None:
    """Forget what was found with the rule."""
    for module in [each for name, each in sys.modules.items() if name.startswith("saga_core.")]:
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()
            elif type(value).__module__ in ("cachetools", "collections") and value and hasattr(value, "clear"):
                value.clear()
    for name in _DATA["caches"]:
        place_of(name).value.clear()


@frozen
class Place:
    """Where a module defines something."""

    owner: Any
    attribute: str
    value: Any


def place_of(name: str) -> Place:
    """Where a rule of a module is defined."""
    room, _, path = name.partition(":")
    owner: Any = import_module(f"saga_core.{room}")
    *outer, attribute = path.split(".")
    for each in outer:
        owner = getattr(owner, each)
    return Place(owner, attribute, inspect.getattr_static(owner, attribute))


def replace(place: Place, value: Any) -> None:
    """Put something in its place, wherever it was imported by its name."""
    if not isinstance(place.owner, types.ModuleType):
        if isinstance(place.value, property | functools.cached_property):
            value = property(value)
        elif isinstance(place.value, staticmethod):
            value = staticmethod(value)
        setattr(place.owner, place.attribute, value)
        return
    for module in [each for name, each in sys.modules.items() if name.startswith("saga_core.")]:
        if vars(module).get(place.attribute) is place.value:
            setattr(module, place.attribute, value)
