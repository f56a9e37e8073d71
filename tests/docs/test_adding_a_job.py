"""docs/contribute.md: the job that it shows runs, and a block moves with its origin."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.jobs.views import FollowingJob
from saga_core.messages import Origin
from saga_core.prompt import plan as plans
from tests.core.frontend import Frontend
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


async def test_a_job_that_follows_the_turns_is_woken_by_them() -> None:
    (method,) = (block.text for block in page("docs/contribute.md").blocks if "def views_rendered" in block.text)
    space: dict[str, type] = {"FollowingJob": FollowingJob}
    following = f"from __future__ import annotations\n{JOB.replace('(Job)', '(FollowingJob)')}\n{method}"
    exec(compile(following, "docs/contribute.md", "exec"), space)
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        job = space["GreetingJob"]()
        saga.parts.supervisor.add(job)
        chat = Frontend(saga, greeting="An inn.", system="You narrate.", note="")
        turn = await chat.say("I sit down.", "The inn is full.")
        await saga.drain(5)
        assert job.greeted == [turn.session.id]


def test_a_block_moves_with_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    client = plans.client_blocks([{"role": "system", "content": "card"}, {"role": "user", "content": "words"}])
    moved = list(Origin)
    one, other = moved.index(Origin.RULES), moved.index(Origin.WORLD)
    moved[one], moved[other] = moved[other], moved[one]
    for order in (list(Origin), moved):
        monkeypatch.setattr(plans, "_RANK", plans.ranks(order))
        plan = plans.build_plan(client, rules="rules", world="world")
        sent = {Origin.CLIENT, Origin.RULES, Origin.WORLD, Origin.WORDS}
        assert [block.origin for block in plan.blocks] == [origin for origin in order if origin in sent]
