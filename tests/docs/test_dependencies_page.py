"""docs/dependencies.md names every dependency, and no other; and what it says is used is used."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib.metadata import packages_distributions
from typing import Any

import pytest

from tests.docs.pages import ROOT, page

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DEPENDENCIES = page("docs/dependencies.md")


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


def listed(heading: str) -> dict[str, list[str]]:
    section = DEPENDENCIES.text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.split("\n") if line[:2] == "| "]
    return {row[0]: row[1:] for row in rows[2:]} if rows else {}


def imported() -> dict[str, set[str]]:
    """Module to the rooms (``core``, ``backends``, ``server``) whose code imports it, at the top or when needed."""
    found: dict[str, set[str]] = {}
    for room in ("core", "backends", "server"):
        for path in (ROOT / f"saga_{room}").rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                modules: list[str] = []
                if isinstance(node, ast.Import):
                    modules = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    modules = [node.module]
                elif isinstance(node, ast.Call) and re.search("import_module|open_calls", ast.unparse(node.func)):
                    texts = (each.value for each in node.args if isinstance(each, ast.Constant))
                    modules = [text for text in texts if isinstance(text, str)]
                for module in modules:
                    found.setdefault(module.partition(".")[0], set()).add(room)
    return found


@pytest.mark.parametrize(
    ("heading", "requirements"),
    [
        ("To run", PROJECT["project"]["dependencies"]),
        ("The server", PROJECT["project"]["optional-dependencies"]["server"]),
        ("To develop", PROJECT["project"]["optional-dependencies"]["dev"]),
        ("To build", PROJECT["build-system"]["requires"]),
    ],
)
def test_every_dependency_is_named_and_explained(heading: str, requirements: list[str]) -> None:
    rows = listed(heading)
    assert set(rows) == names(requirements)
    assert all(cells[-1].endswith(".") for cells in rows.values())


def test_every_extra_is_named() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert all(f"`{extra}`" in DEPENDENCIES.text for extra in extras)
    rows = listed("Optional engines")
    wanted = {
        extra: requirements
        for extra, requirements in extras.items()
        if extra not in ("all", "dev", "conformance", "server")
    }
    told: dict[str, set[str]] = {}
    for package, row in rows.items():
        told.setdefault(row[0].strip("`"), set()).add(package)
    assert told == {extra: names(requirements) for extra, requirements in wanted.items()}
    assert names(extras["all"]) == {"saga-rp"}


def test_every_dependency_is_used_where_the_page_says() -> None:
    modules: dict[str, list[str]] = {}
    for module, distributions in packages_distributions().items():
        for distribution in distributions:
            modules.setdefault(distribution.lower().replace("_", "-"), []).append(module)
    rooms = imported()
    for name, (where, _) in {**listed("To run"), **listed("The server")}.items():
        using = {room for module in modules[name] for room in rooms.get(module, ())}
        assert using, f"nothing imports {name}"
        said = (
            {"core", "backends", "server"} if where == "everywhere" else set(re.findall("core|backends?|server", where))
        )
        assert {"backends" if room == "backend" else room for room in said} <= using, name
