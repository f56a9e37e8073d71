"""Finds every pattern of SAGA by running it: ``python -m tests.patterns.found`` prints them as JSON.

It has to be a process of its own, for a pattern that was compiled before nobody sees again. All modules are imported,
the makers of patterns are called, and whatever is compiled meanwhile is noted with the line that asked for it.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from attrs import frozen

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("saga_core", "saga_backends", "saga_server")
ELSEWHERE = (
    *("saga_server/demo/", "saga_server/cli/", "saga_core/config/"),
    *("saga_server/admin/description/endpoint_list.py", "saga_server/admin/description/openapi.py"),
)
"""What only its own operator feeds."""
SCANNERS = ("saga_backends/graph/kuzu_grammar.py",)
"""They ask from where the last token ended, and give up where there is none."""
WHOLE = (
    *("saga_core/state_block/amounts.py:_amounts", "saga_core/state_block/records.py:_gives"),
    *("saga_core/state_block/records.py:_ended", "saga_core/extraction/other_names.py:_same"),
)
"""Functions whose patterns are held against whole texts alone."""
_CALLS = frozenset({"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"})


@frozen
class Found:
    """A pattern, and the line that has it compiled. ``place``: the file, from the root of the source."""

    pattern: str
    flags: int
    place: str
    line: int


@frozen
class Site:
    """A place in the source that gives ``re`` a pattern. ``first`` to ``last``: its lines."""

    place: str
    first: int
    last: int
    written: Found | None = None
    """The pattern, where it is written there in one piece."""


ALL = frozenset({"search", "match", "fullmatch"})
_USES = {"finditer": "search", "findall": "search", "split": "search", "sub": "search", "subn": "search"}


@cache
def uses(place: str, line: int) -> frozenset[str]:
    """How a pattern that is compiled there is used: "match" and "fullmatch" look at one place, "search" at all.

    Told from the module alone, for a name of its own that it only calls methods of; otherwise all are.
    """
    if place in SCANNERS:
        return frozenset({"match"})
    if f"{place}:{name_of(place, line)}" in WHOLE:
        return frozenset({"fullmatch"})
    tree = _tree(place)
    for node in _nodes(place):
        attribute = node.func if isinstance(node, ast.Call) else None
        if isinstance(attribute, ast.Attribute) and _covers(node, line) and _is_re(attribute):
            return frozenset({_USES.get(attribute.attr, attribute.attr)})
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _covers(statement, line):
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id.startswith("_") and _is_compiled(statement.value):
                return _methods(place, target.id)
    return ALL


@cache
def name_of(place: str, line: int) -> str:
    """The name of a module that is given its value there, or the function that is written there; "" for none."""
    for node in _tree(place).body:
        if isinstance(node, ast.Assign) and _covers(node, line) and isinstance(node.targets[0], ast.Name):
            return node.targets[0].id
        if isinstance(node, ast.FunctionDef) and _covers(node, line):
            return node.name
    return ""


@cache
def _tree(place: str) -> ast.Module:
    return ast.parse((ROOT / place).read_text("utf-8"))


@cache
def _nodes(place: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(place)))


def _is_re(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "re" and node.attr in _CALLS - {"compile"}


def _covers(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return bool(first <= line <= (last or first))


def _is_compiled(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "compile"


def _methods(place: str, name: str) -> frozenset[str]:
    held = {
        id(node.value): node.attr
        for node in _nodes(place)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }
    found = set()
    for node in _nodes(place):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            method = held.get(id(node), "")
            found.add(_USES.get(method, method))
    found.discard("pattern")
    return frozenset(found) if found and found <= ALL else ALL


def sites() -> Iterator[Site]:
    """Every place that asks ``re`` for something, from the source. Raises ``AssertionError`` for hidden ways to it."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith(ELSEWHERE) and re.search(r"\b(?:re|regex)\b", path.read_text("utf-8")):
                yield from _sites_of(place)


def _sites_of(place: str) -> Iterator[Site]:
    calls = {id(node.func): node for node in _nodes(place) if isinstance(node, ast.Call)}
    for node in _nodes(place):
        if isinstance(node, ast.ImportFrom) and node.module == "re":
            raise AssertionError(f"{place}:{node.lineno}: import re whole, so that its use is found")
        if isinstance(node, ast.Import) and any(
            each.name == "regex" or (each.name == "re" and each.asname) for each in node.names
        ):
            raise AssertionError(f"{place}:{node.lineno}: use re under its own name, so that its use is found")
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "re"
            and node.attr in _CALLS
        ):
            call = calls.get(id(node))
            whole: ast.expr = node if call is None else call
            written = None if call is None else _written(call, place)
            yield Site(place, whole.lineno, whole.end_lineno or whole.lineno, written)


def _written(call: ast.Call, place: str) -> Found | None:
    if not (call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)):
        return None
    flags = [each for each in (*call.args[1:], *(word.value for word in call.keywords)) if _is_flags(each)]
    value = eval(compile(ast.Expression(flags[0]), place, "eval"), {"re": re}) if flags else 0
    return Found(call.args[0].value, int(value), place, call.lineno)


def _is_flags(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_flags(node.left) and _is_flags(node.right)
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re"


def _recording(into: dict[Found, None]) -> None:
    compiled: Any = vars(re)["_compile"]

    def noted(pattern: Any, flags: Any) -> Any:
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") == "re" and frame.f_back is not None:
            frame = frame.f_back
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT) and not path.relative_to(ROOT).as_posix().startswith(ELSEWHERE):
            text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
            text = text.decode("latin-1") if isinstance(text, bytes) else text
            into[Found(text, int(flags), path.relative_to(ROOT).as_posix(), frame.f_lineno)] = None
        return compiled(pattern, flags)

    vars(re)["_compile"] = noted


def _import_all() -> None:
    for package in PACKAGES:
        room = importlib.import_module(package)
        for module in walk_packages(room.__path__, f"{package}."):
            if not module.name.replace(".", "/").startswith(ELSEWHERE) and not module.name.endswith("__main__"):
                try:
                    importlib.import_module(module.name)
                except ImportError as error:
                    if (error.name or "").partition(".")[0] in PACKAGES:
                        raise


def main() -> None:
    """Print them."""
    found: dict[Found, None] = {}
    _recording(found)
    _import_all()
    from tests.patterns.makers import call_all

    call_all()
    for site in sites():
        if site.written is not None:
            found[site.written] = None
    here = sorted(found, key=lambda each: (each.place, each.line, each.pattern))
    rows = [
        [each.pattern, each.flags, each.place, each.line] for each in here if each.place.startswith(tuple(PACKAGES))
    ]
    sys.stdout.write(json.dumps(rows))


if __name__ == "__main__":
    main()
