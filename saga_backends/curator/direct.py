"""The direct curator, which asks a model once for one JSON object."""

from __future__ import annotations

from collections.abc import Callable

from saga_backends.curator.lifecycle import CuratorLifecycle
from saga_backends.curator.model_options import take_model
from saga_core.curation import read_answer, retry_plan, review_plan
from saga_core.errors import QUOTES
from saga_core.model_calls import CuratorModel, ModelCallFailed, Unusable
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import CurationView, Curator
from saga_core.values import Proposal

_SHOWN = 120


class DirectCurator(CuratorLifecycle):
    """Makes one call per review, and one more if the reply cannot be read."""

    def __init__(self, asked: CuratorModel, count: Callable[[str], int]) -> None:
        super().__init__("direct")
        self._asked = asked
        self._count = count

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """Return the proposals of the model. Raises ``ModelCallFailed`` and ``UpstreamError``."""
        self._alive()
        if not view.turns:
            return ()
        plan = review_plan(view, self._count)
        said = await self._asked.ask(plan, view)
        try:
            return read_answer(said.text, view)
        except Unusable as problem:
            self._asked.report("curation.repairs", 1)
            said = await self._asked.ask(retry_plan(plan, view, str(problem)), view)
        try:
            return read_answer(said.text, view)
        except Unusable as problem:
            shown = " ".join(said.text.split())[:_SHOWN]
            raise ModelCallFailed(f"the answer cannot be used: {problem}{QUOTES}{shown!r}") from None


async def _open(options: OpenOptions) -> Curator:
    model, found = take_model("direct", options)
    return DirectCurator(model, found["count"])


BACKEND = Backend("curator", "direct", _open, "asks a model once a review")
