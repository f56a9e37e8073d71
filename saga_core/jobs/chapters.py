"""Chapters: a model tells some turns anew in a style. A person reads the text, and keeps it as a correction or not."""

from __future__ import annotations

from attrs import define, evolve

from saga_core.errors import BadInput, NotSupported, UpstreamError
from saga_core.jobs.asking import Asking
from saga_core.language import detect
from saga_core.model_calls import Count, ModelCall, ModelCallFailed
from saga_core.sessions import SessionDirectory, turn_named
from saga_core.stores import CurationView

CHAPTER_TOKENS = 700
"""Maximum tokens of an answer."""
STYLES = ("terse", "rich", "quotes")
_MOST = 500
"""Most turns of a chapter."""


@define(eq=False, kw_only=True)
class Chapters:
    """Tells turns in a style. ``call`` is None where no model reads replies."""

    directory: SessionDirectory
    asking: Asking
    call: ModelCall | None
    count: Count

    async def rewrite(self, session_id: str, first: int, last: int, style: str, head: str | None = None) -> str:
        """Return the turns from ``first`` to ``last`` of a path as a text in a style. Nothing is recorded but the cost.

        Raises ``BadInput`` for turns or a style that do not exist, ``NotFound``, ``NotSupported`` without an extraction
        model, and ``UpstreamError`` if the model gives no text.
        """
        from saga_core.curation import rewriting_plan, rewritten  # read when it is first needed

        if style not in STYLES:
            raise BadInput(f"style: {style!r} is none of {', '.join(STYLES)}")
        if self.call is None:
            raise NotSupported("chapters: nothing can tell them anew; set models.extraction, and a provider for it")
        live = await self.directory.load(session_id)
        end = live.tree.get(turn_named(live, head or None))
        if not 1 <= first <= last <= end.depth or last - first >= _MOST:
            raise BadInput(f"first, last: {first} to {last} are no turns of 1 to {end.depth}, at most {_MOST} of them")
        path = [node for node in live.tree.path(end.id) if first <= node.depth <= last]
        turns = await live.turns([node.id for node in path])
        view = CurationView(
            live.session.id,
            await live.state(path[-1].id),
            tuple(evolve(turn, delta=live.effective(turn)) for turn in turns),
            first - 1,
            await live.state(path[0].parent) if path[0].parent is not None else None,
            detect(" ".join(turn.user or turn.reply for turn in turns), live.world.language),
        )
        plan = rewriting_plan(view, style, self.count)
        paid = self.asking.paid(live, path[-1].id)
        try:
            answer = await self.call.ask(plan, before_call=self.asking.give_way, paid=paid)
        except ModelCallFailed as failed:
            raise UpstreamError(f"chapters: {failed}", passing=not failed.answered) from None
        text = rewritten(answer.text, view, plan)
        if not text:
            raise UpstreamError(f"chapters: {self.call.chat.name} answered without a text")
        return text
