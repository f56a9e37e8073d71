"""The caching bench: its rules refuse what a provider refuses, and the product meets its figures on short plays."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from attrs import evolve

from tests.bench.cache.cases import CASES, Case
from tests.bench.cache.figures import figures
from tests.bench.cache.ideal import Wish, ideal_cost
from tests.bench.cache.play import play
from tests.bench.cache.rules import AutomaticCache, Charge, MarkedCache, Piece, Rates, Refused

RATES = Rates(0.1, 1.25, 2.0)


def pieces(*sizes: int, marks: dict[int, str] | None = None) -> list[Piece]:
    return [Piece(f"{at} {size}", size, (marks or {}).get(at)) for at, size in enumerate(sizes)]  # type: ignore[arg-type]


def test_what_is_written_is_read_until_it_dies() -> None:
    cache = MarkedCache(1_000)
    assert cache.send(pieces(900, 300, 50, marks={1: "5m"}), 0) == Charge(0, 1_200, 0, 50, 0)
    assert cache.send(pieces(900, 300, 60, marks={1: "5m"}), 299) == Charge(1_200, 0, 0, 60, 1_200)
    assert cache.send(pieces(900, 300, 60, marks={1: "5m"}), 598).read == 1_200, "reading refreshed it"
    assert cache.send(pieces(900, 300, 60, marks={1: "5m"}), 899).read == 0


def test_below_the_minimum_nothing_happens_without_a_word() -> None:
    cache = MarkedCache(4_096)
    assert cache.send(pieces(4_095, 10, marks={0: "5m"}), 0) == Charge(plain=4_105)
    assert cache.ignored == 1


@pytest.mark.parametrize(("more", "read"), [(19, 1_000), (20, 0)])
def test_a_breakpoint_looks_back_twenty_blocks(more: int, read: int) -> None:
    cache = MarkedCache(512)
    cache.send(pieces(1_000, marks={0: "5m"}), 0)
    assert cache.send(pieces(1_000, *[10] * more, marks={more: "5m"}), 1).read == read


def test_hours_come_before_minutes_and_four_marks_are_the_most() -> None:
    cache = MarkedCache(512)
    with pytest.raises(Refused, match="hour stands behind"):
        cache.send(pieces(900, 900, marks={0: "5m", 1: "1h"}), 0)
    with pytest.raises(Refused, match="5 breakpoints"):
        cache.send(pieces(*[900] * 5, marks=dict.fromkeys(range(5), "5m")), 0)
    charge = cache.send(pieces(900, 300, 200, marks={0: "1h", 1: "5m"}), 0)
    assert charge == Charge(0, 1_200, 900, 200, 0)
    assert RATES.cost(charge) == 900 * 2 + 300 * 1.25 + 200


def test_automatic_hits_come_in_steps() -> None:
    cache = AutomaticCache(1_024)
    assert cache.send(pieces(1_000, 500), 0).read == 0
    assert cache.send(pieces(1_000, 500, 40), 10).read == 1_024 + 3 * 128
    assert cache.send(pieces(1_000, 500, 40), 400).read == 0


def test_the_ideal_writes_what_will_be_read_and_nothing_else() -> None:
    wishes = [Wish(at, tuple(pieces(5_000)), 100) for at in (0.0, 60.0, 1_000.0)]
    assert ideal_cost(wishes, RATES, 4_096) == pytest.approx(5_000 * 1.25 + 2 * 500 + 300)
    assert ideal_cost(wishes[::2], RATES, 4_096) == pytest.approx(5_000 * 2 + 500 + 200)
    assert ideal_cost(wishes, RATES, 8_000) == 15_300


SHORT = [
    evolve(case, turns=24)
    for case in CASES
    if case.name in ("haiku 4.1k, 50 turns", "20 s and 6 min mixed", "what floats, haiku 4.1k", "gpt-5.6, breakpoints")
]


@pytest.mark.parametrize(
    "case",
    [*SHORT[:2], *(pytest.param(each, marks=pytest.mark.deep) for each in SHORT[2:])],
    ids=lambda case: case.name,
)
def test_a_short_play_reads_what_it_can(case: Case, tmp_path: Path) -> None:
    row = figures(asyncio.run(play(case, tmp_path)))
    assert row["reuse"] >= case.reuse
    assert row["bill"] <= case.bill + 0.06, "a first rewrite weighs more in a short play"
    assert row["pinned"]["first"] == 1


def test_extraction_and_curation_are_paid_for(tmp_path: Path) -> None:
    case = next(evolve(case, turns=22) for case in CASES if case.unreported)
    row = figures(asyncio.run(play(case, tmp_path)))
    assert row["extraction_dollars"] > 0 and row["curation_dollars"] > row["extraction_dollars"]
    price = row["input_dollars"] + row["output_dollars"]
    assert price < price + row["extraction_dollars"] + row["curation_dollars"] < row["without_saga_dollars"]


def test_what_the_model_said_carries_no_breakpoint_of_gpt() -> None:
    said = [Piece("a", 2_000), Piece("b", 100, "30m", said=True)]
    with pytest.raises(Refused, match="what the model said"):
        MarkedCache(1_024, 1, replies=False).send(said, 0.0)
    assert MarkedCache(1_024, 1).send(said, 0.0).written == 2_100
    wishes = [Wish(float(at), (Piece("a", 2_000), Piece("b", 100, said=True)), 50) for at in range(2)]
    assert ideal_cost(wishes, RATES, 1_024, replies=False) == pytest.approx(2_000 * 1.25 + 200 + 2 * 150)
