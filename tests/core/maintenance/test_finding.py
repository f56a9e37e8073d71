"""Findings say what differs, and mend what can be mended, each thing once."""

from __future__ import annotations

from saga_core.maintenance.verify import Discrepancy, mend


async def test_one_remedy_of_several_findings_is_applied_once_and_each_counts() -> None:
    done: list[str] = []

    async def graph() -> None:
        done.append("graph")

    async def pages() -> None:
        done.append("pages")

    lost = Discrepancy("s1", "journal", "its root is gone")
    found = [
        Discrepancy("s1", "graph", "a", graph),
        lost,
        Discrepancy("s1", "graph", "b", graph),
        Discrepancy("s1", "pages", "c", pages),
    ]
    assert await mend(found) == 3 and done == ["graph", "pages"]
    assert await mend([lost]) == await mend([]) == 0


def test_a_finding_is_words_and_data() -> None:
    async def nothing() -> None:
        return None

    found = Discrepancy("", "graph", "둘이 모자란다", nothing)
    assert str(found) == "graph: 둘이 모자란다"
    assert found.plain() == {"session": None, "store": "graph", "what": "둘이 모자란다", "mendable": True}
    assert found == Discrepancy("", "graph", "둘이 모자란다"), "the same finding, whoever mends it"
