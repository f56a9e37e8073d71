"""A turn stays a straight line: it enters few files, and computes little twice."""

from __future__ import annotations

from tests.bench.turn_trace import traced

FILES = {"begin": 76, "commit": 75, "drain": 49}
"""The most files of the core and the backends that a step enters. A module that comes in should replace another one."""
AGAIN = 1_800
"""The most calls of ``begin`` with the arguments of an earlier call; nearly all are look-ups."""


async def test_a_turn_enters_few_files_and_computes_little_twice() -> None:
    trace = await traced()
    entered = {name: {calls.file for calls in step.values()} for name, step in trace.steps.items()}
    assert {name: len(files) for name, files in entered.items() if len(files) > FILES[name]} == {}
    assert sum(calls.again for calls in trace.steps["begin"].values()) <= AGAIN
