"""The simulation of docs/scale.md: what it says must follow from what it is given."""

from __future__ import annotations

from attrs import evolve

from tests.bench.sizes import MEASURED, Assumed, size

FEW = Assumed(minutes=6.0)


def test_few_players_need_one_server_and_many_need_more() -> None:
    few, many = size(100, FEW, MEASURED), size(6_000, FEW, MEASURED)
    assert few.servers == 1 and many.servers > 1
    assert many.waits_ms <= FEW.wait_ms
    assert 30 < many.turns_a_second / few.turns_a_second < 120, "sixty times the players"


def test_turns_that_cost_more_need_more_servers() -> None:
    cheap, costly = (size(6_000, FEW, evolve(MEASURED, server_ms=cost)) for cost in (10.0, 100.0))
    assert cheap.servers < costly.servers


def test_sessions_that_do_not_fit_into_memory_are_read_again() -> None:
    fits = size(1_000, FEW, evolve(MEASURED, in_memory=1_000))
    does_not = size(1_000, FEW, evolve(MEASURED, in_memory=4, server_ms=1.0, load_ms=1.0))
    assert fits.loads < 0.5 < does_not.loads


def test_it_comes_out_the_same_again() -> None:
    assert size(500, FEW, MEASURED) == size(500, FEW, MEASURED)
