"""Links lead somewhere, and commands that the pages name exist."""

from __future__ import annotations

import inspect
import re
from typing import TypeGuard, get_type_hints

import click
import pytest

from saga_core import Saga
from saga_core.maintenance import Maintenance
from saga_core.play.pending_turn import PendingTurn
from saga_server.cli.saga_command import main as saga
from tests.docs.pages import ROOT, Page, page, pages

PAGES = pages()
SHELL = ("sh", "bash", "shell", "console", "text")


def commands(found: Page) -> list[str]:
    """What the page would have a reader type: shell blocks line by line, comments left out, and code in the text."""
    lines = [line for block in found.blocks if block.language in SHELL for line in block.text.split("\n")]
    return [line.partition("#")[0].strip() for line in lines] + found.code


@pytest.mark.parametrize("found", PAGES, ids=str)
def test_relative_links_resolve(found: Page) -> None:
    dead = []
    for link in found.links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (found.path.parent / path).resolve() if path else found.path
        there = target.exists() and target.is_relative_to(ROOT)
        if not there or (anchor and anchor not in Page(target).anchors):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("found", PAGES, ids=str)
def test_make_targets_exist(found: Page) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    variables = set(re.findall(r"^([A-Z_]+) \?=", makefile, re.MULTILINE)) | set(
        re.findall(r"^([A-Z_]+) :?= ", makefile, re.MULTILINE)
    )
    for command in commands(found):
        words = command.split()
        if words[:1] == ["make"]:
            for word in words[1:]:
                name, given, _ = word.partition("=")
                assert name in (variables if given else targets), command


@pytest.mark.parametrize("found", PAGES, ids=str)
def test_saga_commands_and_their_options_exist(found: Page) -> None:
    for command in commands(found):
        words = command.split()
        if not words or words[0] not in ("saga", ".venv/bin/saga"):
            continue
        rest = words[1:]
        if not rest or rest[0] == "=":  # the program by itself, or a variable of that name
            continue
        named: click.Command = saga
        while isinstance(named, click.Group) and rest and not rest[0].startswith("-"):
            inner = named.get_command(click.Context(named), rest[0])
            assert inner is not None, command
            named, rest = inner, rest[1:]
        known = {option for param in named.params for option in param.opts} | {"--help", "-h"}
        assert {word for word in rest if word.startswith("-")} <= known, command


def test_make_targets_of_the_makefile_are_in_both_readmes() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name in ("README.md", "README.ko.md"):
        assert {f"make {target}" for target in targets - {"help"}} <= set(page(name).code)


def test_options_of_the_proxy_in_the_readmes_exist() -> None:
    serve = saga.commands["serve"]
    assert isinstance(serve, click.Command)
    known = {option for param in serve.params for option in param.opts}
    for name in ("README.md", "README.ko.md"):
        assert {code.split()[0] for code in page(name).code if code.startswith("--")} <= known


def test_the_readmes_show_the_same() -> None:
    english, korean = page("README.md"), page("README.ko.md")
    assert [block.language for block in english.blocks] == [block.language for block in korean.blocks]
    yaml = [[block.text for block in each.blocks if block.language == "yaml"] for each in (english, korean)]
    assert yaml[0] == yaml[1]
    assert len(english.rows) == len(korean.rows)
    assert {link for link in english.links if "/" in link} == {link for link in korean.links if "/" in link}


def _is_part(found: object) -> TypeGuard[property]:
    return isinstance(found, property)


def _has(owner: type, name: str) -> bool:
    return hasattr(owner, name) or (owner is Saga and hasattr(PendingTurn, name))


def test_what_embed_names_is_there() -> None:
    embed = page("docs/embed.md")
    methods = {name for row in embed.rows if len(row) == 2 for name in re.findall(r"`([\w.]+)\(", row[0])}
    attributes = {name for row in embed.rows if len(row) == 2 for name in re.findall(r"`(\w+)`", row[0])}
    arguments = set(inspect.signature(Saga.begin).parameters)
    annotations = {name for cls in PendingTurn.__mro__ for name in getattr(cls, "__annotations__", {})}
    late = {"Maintenance": Maintenance}  # imported when it is first asked for
    hints = {name: get_type_hints(found.fget, None, late) for name, found in vars(Saga).items() if _is_part(found)}
    parts = {name: found["return"] for name, found in hints.items()}
    owners = {name: parts.get(name.partition(".")[0], Saga) for name in methods}
    missing = {name for name, owner in owners.items() if not _has(owner, name.rpartition(".")[2])}
    missing |= {name for name in attributes - arguments - {"argument", "attribute"} if name not in annotations}
    assert missing == set()
