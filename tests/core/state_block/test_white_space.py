"""Very much white space in a reply: it is skipped in a few steps, also when all of it is released at once."""

from __future__ import annotations

import pytest

from saga_core.state_block import BlockFilter
from saga_core.state_block.unfenced import ReportFilter


@pytest.mark.parametrize("line", ["\n", " \n", "> \n", "\r\n"])
def test_lines_of_white_space_are_not_read_one_by_one(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    reads = ReportFilter._read_line

    def counted(self: ReportFilter, text: str, pos: int) -> tuple[int, str]:
        read.append(pos)
        return reads(self, text, pos)

    monkeypatch.setattr(ReportFilter, "_read_line", counted)
    text = "It rains.\n" + line * 50_000 + "It stops."
    filtered = BlockFilter()
    shown = [filtered.feed(text[at : at + 4_000]) for at in range(0, len(text), 4_000)]
    assert "".join(shown) + filtered.finish() == text
    assert len(read) < 10


def test_a_report_behind_much_white_space_is_hidden() -> None:
    filtered = BlockFilter()
    text = "It rains.\n" + " \n" * 50_000 + "hp_change: -1\nlocation: the mill\n"
    assert filtered.feed(text) + filtered.finish() == "It rains."
    assert filtered.blocks == ("hp_change: -1\nlocation: the mill\n",)
