"""Every room has a face: other rooms, the server and the backends import from it, and it lists what they may take."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "saga_core"
PACKAGES = ("saga_core", "saga_backends", "saga_server", "conformance")
ROOMS = sorted(path.parent.name for path in CORE.glob("*/__init__.py"))


@cache
def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """The modules that a file imports from, and what it takes, deferred imports and ``room.name`` among them."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, str]]:
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "saga_core":
            rooms.update(alias.name for alias in node.names)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in rooms:
            yield f"saga_core.{node.value.id}", node.attr
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def given(room: str) -> list[str]:
    """What a face gives: what it lists, or else what it imports from its own modules."""
    face = import_module(f"saga_core.{room}")
    inside = f"saga_core.{room}"
    own = [name for module, name in imports(CORE / room / "__init__.py") if module.startswith(inside)]
    return list(getattr(face, "__all__", own))


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[1] if parts[0] == "saga_core" and len(parts) > 2 else ""


FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def test_a_module_names_nothing_twice() -> None:
    """The second would count for the functions above it too, as happened where two modules became one."""
    twice = []
    for path in FILES:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        places = [place for node in body if isinstance(node, ast.Assign) for place in node.targets]
        named = [each.id for place in places for each in ast.walk(place)
                 if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]  # fmt: skip
        twice += [f"{path.relative_to(ROOT)}: {name}" for name in set(named) if named.count(name) > 1]
    assert twice == []


def test_a_room_is_entered_by_its_face() -> None:
    past = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for path in FILES
        for module, name in imports(path)
        if module.startswith("saga_core.") and module.count(".") > 1 and module.split(".")[1] in ROOMS
        if module.split(".")[1] != room_of(path) and module not in BEHIND and not name.startswith("_")
    ]
    assert past == [], "import from the room itself instead"


@pytest.mark.parametrize("room", ROOMS)
def test_a_face_lists_what_it_gives(room: str) -> None:
    face, names = import_module(f"saga_core.{room}"), given(room)
    assert face.__doc__ and "TODO" not in face.__doc__
    assert names and len(set(names)) == len(names)
    for name in names:
        assert getattr(face, name) is not None
    with pytest.raises(AttributeError):
        face.nothing_of_that_name  # noqa: B018 - it is the reading that counts


def test_a_face_gives_nothing_that_nobody_takes() -> None:
    left = {(f"saga_core.{room}", name) for room in ROOMS for name in given(room)}
    tests = [path for folder in ("tests", "docs") for path in (ROOT / folder).rglob("*.py")]
    for path in (*FILES, *tests):
        text = path.read_text(encoding="utf-8")
        if any(name in text for _, name in left):
            left -= {taken for taken in imports(path) if taken[0] != f"saga_core.{room_of(path)}"}
    public = [line for page in ROOT.glob("docs/*.md") for line in page.read_text(encoding="utf-8").split("\n")]
    told = {(face, name) for face, name in left if any(name in line and face in line for line in public)}
    assert left - told <= PROMISED


BEHIND = {f"saga_core.stores.{name}" for name in ("validate", "filters", "vector")}
"""Modules that are used beside a face, which lists protocols and values alone."""

PROMISED = {
    ("saga_core.stores", "Remembering"),
    ("saga_core.world", "WorldProblem"),
}
"""What is there for other packages alone."""
