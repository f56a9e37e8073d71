"""The benchmark of matching measures what it says: a history that is found, a changed one, an unknown one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.bench.command import bench
from tests.bench.matching import Shelf, measure_matching, rows, write_shelf

SMALL = Shelf(turns=60, sessions=3, messages=40)


@pytest.mark.parametrize("lang", ["ko", "en"])
async def test_a_small_shelf_is_found_and_measured(tmp_path: Path, lang: str) -> None:
    await write_shelf(tmp_path, Shelf(SMALL.turns, SMALL.sessions, SMALL.messages, lang))
    found = await measure_matching(tmp_path, repeats=3)
    assert found["bytes"] > 40 * 20
    assert all(float(value.replace(",", "")) >= 0 for _, value in rows(found))
    assert found["warm"]["cpu_p50"] <= found["warm"]["cpu_p99"]


async def test_a_shelf_that_is_not_found_is_an_error(tmp_path: Path) -> None:
    await write_shelf(tmp_path, SMALL)
    file = tmp_path / "matching.json"
    kept = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**kept, "parent": "another"}), encoding="utf-8")
    with pytest.raises(RuntimeError, match="matched by 'reply'"):
        await measure_matching(tmp_path, repeats=1)


def test_the_command_refuses_more_messages_than_there_are() -> None:
    result = CliRunner().invoke(bench, ["match", "--turns", "100", "--messages", "300"])
    assert result.exit_code == 2
    assert "100 turns have 200 messages at most" in result.output
