"""How the suite is laid out: no circle of imports, and rooms that are entered by their faces."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "conformance"
ROOMS = sorted(path.parent.name for path in SUITE.glob("*/__init__.py"))


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {_name(path): path for path in sorted(SUITE.rglob("*.py"))}


@cache
def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """The modules that it imports from, and what it takes: deferred imports and those for types among them."""
    text = path.read_text(encoding="utf-8")
    return tuple(_imports(text)) if "conformance" in text else ()


def _imports(text: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def _modules(path: Path) -> set[str]:
    """Those of the suite."""
    wholes = {f"{module}.{name}" if f"{module}.{name}" in FILES else module for module, name in imports(path)}
    return wholes & FILES.keys()


def test_no_file_imports_itself_by_way_of_others() -> None:
    TopologicalSorter({name: _modules(path) for name, path in FILES.items()}).prepare()  # a CycleError names them


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_entered_by_its_face(room: str) -> None:
    inside = f"conformance.{room}"
    others = {name: path for name, path in FILES.items() if name != inside and not name.startswith(f"{inside}.")}
    past = [
        f"{name}: {module}"
        for name, path in others.items()
        for module, _ in imports(path)
        if module.startswith(f"{inside}.")
    ]
    assert past == [], f"import from {inside} instead"


@pytest.mark.parametrize("room", ROOMS)
def test_a_face_lists_what_others_take(room: str) -> None:
    face = import_module(f"conformance.{room}")
    assert face.__doc__
    assert all(getattr(face, name) is not None for name in face.__all__)
    tests = (ROOT / "tests").rglob("*.py")
    taken = {name for path in (*FILES.values(), *tests) for module, name in imports(path) if module == face.__name__}
    assert set(face.__all__) - taken == set()
