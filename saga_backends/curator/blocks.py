"""A curator with memory, in which a model edits memory blocks and makes proposals through tools in a few steps."""

from __future__ import annotations

from collections.abc import Callable

from saga_backends.curator.lifecycle import CuratorLifecycle
from saga_backends.curator.model_options import take_model
from saga_core.curation import MOST_CALLS, Desk, read_calls, step_plan, tool_definitions
from saga_core.errors import UpstreamError
from saga_core.model_calls import CuratorModel, ModelCallFailed, Unusable
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import CurationView, Curator
from saga_core.values import Proposal

_UNUSABLE = 2
"""The number of replies without a usable tool call after which a review ends."""


class BlocksCurator(CuratorLifecycle):
    """Makes at most ``steps`` model calls per review. Its memory is read from the state and returned as proposals."""

    def __init__(self, asked: CuratorModel, count: Callable[[str], int], blocks: tuple[str, ...], steps: int) -> None:
        super().__init__("blocks")
        self._asked = asked
        self._count = count
        self._blocks = blocks
        self._steps = steps

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """Return the proposals of all steps. If a step fails, the proposals of earlier steps are kept.

        If there are none, raises ``ModelCallFailed`` when no reply could be used, and the provider's ``UpstreamError``.
        """
        self._alive()
        if not view.turns:
            return ()
        desk, done, unusable = Desk(view, self._blocks), list[str](), 0
        tools = tool_definitions()
        for _ in range(self._steps):
            try:
                said = await self._asked.ask(step_plan(view, desk.blocks, done, self._count), view, tools)
            except (UpstreamError, ModelCallFailed):
                if not desk.result():
                    raise
                self._asked.report("curation.cut", 1)
                break
            self._asked.report("curation.steps", 1)
            try:
                calls = read_calls(said.text, said.calls)
            except Unusable as problem:
                unusable += 1
                done.append(f"error: {problem}")
                if unusable >= _UNUSABLE:
                    if not desk.result():
                        raise ModelCallFailed(f"the model calls no tool: {problem}") from None
                    break
                continue
            done += [desk.take(call) for call in calls[:MOST_CALLS]]
            if len(calls) > MOST_CALLS:
                done.append(f"error: {len(calls)} calls at once; the first {MOST_CALLS} were taken")
            if desk.finished:
                break
        else:
            self._asked.report("curation.endless", 1)
        return desk.result()


async def _open(options: OpenOptions) -> Curator:
    model, found = take_model("blocks", options)
    return BlocksCurator(model, found["count"], found["blocks"], found["steps"])


BACKEND = Backend("curator", "blocks", _open, "a model that remembers its reviews in memory blocks")
