"""Judges how well the narrator of a rehearsal reported. The findings are lines for people, with remedies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from saga_core.config import Reporting
from saga_core.state_block import BlockStatus
from saga_server.doctor.rehearsal import RehearsalScene
from saga_server.terminal import counted

GOOD = 0.75
"""From this share on, something counts as well reported."""
_MISSED = 1
"""How many replies without a block, and other slips, are tolerated."""
_SHOWN = 3

_READER = "set models.extraction to a small model that reads such replies in the background"
_OTHER = "narrate with another model"
_BY_HAND = "correct what is wrong by hand (docs/memory.md)"


@frozen
class Judgement:
    """The result of one check."""

    good: bool
    text: str


def judge(scenes: Sequence[RehearsalScene], player: str) -> list[Judgement]:
    """Return the findings, the most important first."""
    if not any(scene.said for scene in scenes):
        return [Judgement(False, f"story: the model said nothing; does it think, and run out of tokens? {_OTHER}")]
    return [
        _blocks(scenes),
        _fields(scenes),
        _names(scenes, player),
        _share(scenes, "moves", lambda scene: scene.line.moved, _moved),
        _share(scenes, "things", _about_things, _things),
        _share(scenes, "harm", lambda scene: scene.line.hurt, lambda scene: scene.hurt),
        *(Judgement(True, f"habit: {_SAID[habit]}") for habit in scenes[-1].habits),
        _cost(scenes),
    ]


@frozen
class Way:
    """How a rehearsal went with one way of reporting."""

    name: Reporting
    stories: int
    """Replies that told a story and showed nothing of SAGA."""
    right: int
    """Facts of the story that were right in the state afterwards, of ``facts``."""
    facts: int
    seconds: float
    """The mean time that the player waited for a reply."""

    @classmethod
    def of(cls, name: Reporting, scenes: Sequence[RehearsalScene]) -> Way:
        """Sum up a rehearsal."""
        facts = [_moved(scene) for scene in scenes if scene.line.moved]
        facts += [_things(scene) for scene in scenes if _about_things(scene)]
        facts += [scene.hurt for scene in scenes if scene.line.hurt]
        facts += [set(scene.here) == set(scene.line.here) for scene in scenes if scene.line.here is not None]
        stories = sum(scene.tells and not scene.shows for scene in scenes)
        return cls(name, stories, sum(facts), len(facts), sum(scene.seconds for scene in scenes) / len(scenes))

    def text(self, turns: int) -> str:
        """A line for people."""
        return (
            f"reporting {self.name}: tells a story {self.stories} of {turns}, knows {self.right} of {self.facts} facts "
            f"afterwards, {self.seconds:.1f} s a reply"
        )


def recommended(ways: Sequence[Way]) -> Way:
    """The way that keeps the story whole, and then the state right. The first of equals: those before cost less.
    One fact more is no reason to pay for a second call."""
    best = ways[0]
    for way in ways[1:]:
        if (way.stories, way.right - 1) > (best.stories, best.right):
            best = way
    return best


def _blocks(scenes: Sequence[RehearsalScene]) -> Judgement:
    written = sum(scene.status is not BlockStatus.FALLBACK for scene in scenes)
    text = f"blocks: {written} of {len(scenes)} replies have one that can be read"
    cut = sum(scene.cut for scene in scenes if scene.status is not BlockStatus.OK)
    if written >= len(scenes) - _MISSED:
        return Judgement(True, text)
    if cut:
        text += f"; {cut} ended at the length limit: allow longer replies (max_tokens), or raise"
        text += " token_budget.state_block_room"
    return Judgement(False, f"{text}; {_READER}, or {_OTHER}")


def _fields(scenes: Sequence[RehearsalScene]) -> Judgement:
    problems = [problem for scene in scenes for problem in scene.problems if scene.status is not BlockStatus.FALLBACK]
    if not problems:
        return Judgement(True, "fields: all that was written could be read")
    shown = "; ".join(dict.fromkeys(problems[:_SHOWN]))
    text = f"fields: {counted(len(problems), 'line')} could not be read ({shown})"
    return Judgement(len(problems) <= _MISSED, text if len(problems) <= _MISSED else f"{text}; {_OTHER}")


def _names(scenes: Sequence[RehearsalScene], player: str) -> Judgement:
    known = {name for scene in scenes for name in scene.line.here or ()}
    wrong = [scene for scene in scenes if scene.line.here is not None and set(scene.here) != set(scene.line.here)]
    strangers = sorted({name for scene in scenes for name in scene.people} - known)
    text = f"names: who is there is right after {len(scenes) - len(wrong)} of {len(scenes)} replies"
    if strangers:
        text += f"; people of other names came to be: {', '.join(strangers[:_SHOWN])}"
    if len(wrong) <= (1 - GOOD) * len(scenes) and len(strangers) <= _MISSED:
        return Judgement(True, text)
    if player in strangers:
        return Judgement(False, f"{text}; the player is one of them: {_OTHER}, or {_BY_HAND}")
    return Judgement(False, f"{text}; {_remedy(wrong)}")


def _share(
    scenes: Sequence[RehearsalScene],
    name: str,
    asked: Callable[[RehearsalScene], bool],
    holds: Callable[[RehearsalScene], bool],
) -> Judgement:
    about = [scene for scene in scenes if asked(scene)]
    wrong = [scene for scene in about if not holds(scene)]
    text = f"{name}: {len(about) - len(wrong)} of {len(about)} were reported"
    good = len(wrong) <= (1 - GOOD) * len(about)
    return Judgement(good, text if good else f"{text}; {_remedy(wrong)}")


def _remedy(wrong: Sequence[RehearsalScene]) -> str:
    """Return what helps against wrong scenes. An extraction model helps only if most of them have no block."""
    missing = sum(scene.status is BlockStatus.FALLBACK for scene in wrong)
    return _READER if missing * 2 > len(wrong) else f"{_OTHER}, or {_BY_HAND}"


def _moved(scene: RehearsalScene) -> bool:
    return _names_one(scene.line.place or (), (scene.place,))


def _about_things(scene: RehearsalScene) -> bool:
    return scene.line.carries is not None or scene.line.gave is not None


def _things(scene: RehearsalScene) -> bool:
    truth = scene.line
    if truth.carries is not None:
        return _names_one(truth.carries, scene.carries)
    return not _names_one(truth.gave or (), scene.carries)


def _names_one(words: Sequence[str], names: Sequence[str]) -> bool:
    return any(word in name.casefold() for word in words for name in names)


_SAID = {
    "gains_listed": "this model repeats what the player carries; SAGA counts it once",
    "gains_totalled": "this model reports how many there are as a gain; SAGA takes it for the total",
    "player_listed": "this model lists the player among those present; SAGA knows that they are one",
    "losses_repeated": "this model reports what the player hands over as lost too; SAGA counts it once",
}


def _cost(scenes: Sequence[RehearsalScene]) -> Judgement:
    asked, said = sum(scene.input for scene in scenes), sum(scene.output for scene in scenes)
    block = sum(scene.block for scene in scenes)
    if not asked and not said:
        text = f"cost: the provider counted no tokens; blocks took about {block:,} of the replies"
        return Judgement(True, text)
    text = f"cost: {asked:,} tokens in, {said:,} out, about {block:,} of them for blocks"
    paid = [scene.dollars for scene in scenes if scene.dollars is not None]
    if len(paid) == len(scenes):
        return Judgement(True, f"{text}; ${sum(paid):.4f} for {len(scenes)} turns")
    return Judgement(True, f"{text}; what that costs is not known (models.facts can say it)")
