"""docs/contribute.md: the job that it shows runs, and a block moves with its origin."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.messages import Origin
from saga_core.prompt import build
from tests.docs.pages import page

JOB = next(block.text for block in page("docs/contribute.md").blocks if "class GreetingJob" in block.text)


async def test_the_job_of_the_page_runs() -> None:
    space: dict[str, type] = {}
    exec(compile(JOB, "docs/contribute.md", "exec"), space)
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        job = space["GreetingJob"]()
        saga.parts.supervisor.add(job)
        job.wake("s1")
        job.wake("s2")
        await saga.drain(5)
        assert sorted(job.greeted) == ["s1", "s2"]


def test_a_block_moves_with_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    client = build.client_blocks([{"role": "system", "content": "card"}, {"role": "user", "content": "words"}])
    plan = build.build_plan(client, rules="rules", world="world")
    assert [block.origin.value for block in plan.blocks] == ["client", "rules", "world", "words"]
    moved = [origin for origin in Origin if origin is not Origin.WORLD]
    moved.insert(moved.index(Origin.RULES), Origin.WORLD)
    monkeypatch.setattr(build, "_RANK", {origin: rank for rank, origin in enumerate(moved)})
    plan = build.build_plan(client, rules="rules", world="world")
    assert [block.origin.value for block in plan.blocks] == ["client", "world", "rules", "words"]
