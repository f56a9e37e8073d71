"""docs/keys.md: its roles, quotas, commands and numbers are those of the code."""

from __future__ import annotations

import re
from typing import get_args

import click
import pytest

from saga_core.config import Config
from saga_server.admin.endpoint import Reach
from saga_server.admin.endpoints import ENDPOINTS
from saga_server.cli.keys import keys
from saga_server.hosting import QUOTAS, Role
from saga_server.hosting.audit_log import PRUNE_SECONDS, TOGETHER_SECONDS
from saga_server.hosting.holdings import OLD_SECONDS
from saga_server.hosting.keys import MARK, SHOWN
from saga_server.hosting.meter import LOOK_SECONDS
from saga_server.http.callers.spending import _LETTERS
from tests.docs.pages import page

PAGE = page("docs/keys.md")
PROSE = " ".join(PAGE.prose.split())


def column(head: str) -> set[str]:
    """The first cells of the table whose first head cell is ``head``."""
    rows = PAGE.rows
    start = next(at for at, row in enumerate(rows) if row[0] == head)
    found = []
    for row in rows[start + 2 :]:
        if len(row) != len(rows[start]) or not re.fullmatch(r"`.*`|", row[0]):
            break
        found.append(row[0].strip("`"))
    return set(found)


def test_the_tables_are_those_of_the_code() -> None:
    assert column("quota") == QUOTAS
    assert column("role") == set(get_args(Role))
    assert column("reach") == set(get_args(Reach)) == {each.reach for each in ENDPOINTS}


def test_the_commands_are_there_and_each_has_its_request() -> None:
    assert isinstance(keys, click.Group)
    told = {cell.split()[2] for row in PAGE.rows if (cell := row[0].strip("`")).startswith("saga keys ")}
    assert told == set(keys.commands)
    requests = {row[1].strip("`") for row in PAGE.rows if len(row) == 3 and "/api/" in row[1]}
    known = {each.request for each in ENDPOINTS}
    assert requests == {each for each in known if "/api/keys" in each or each.endswith("/api/me")}


def test_the_numbers_are_those_of_the_code() -> None:
    server = Config().server
    assert f"`server.audit_days` ({server.audit_days:g})" in PROSE
    assert f"`server.audit_entries` ({server.audit_entries:,})" in PROSE
    assert (SHOWN, MARK) == (9, "saga_"), "nine characters"
    assert LOOK_SECONDS == 1.0, "once a second"
    assert (OLD_SECONDS, TOGETHER_SECONDS, PRUNE_SECONDS) == (60.0, 60.0, 3_600.0), "a minute, a minute, an hour"
    assert _LETTERS == 4, "a token for four characters"


@pytest.mark.parametrize("reach", ["open", "shared"])
def test_what_is_told_to_all_is_what_the_page_says(reach: str) -> None:
    (row,) = [row for row in PAGE.rows if row[0] == f"`{reach}`"]
    told = set(re.findall(r"`(/[^`]*)`", row[1])) or {"/api/openapi.json"}
    assert {each.path for each in ENDPOINTS if each.reach == reach} == told
