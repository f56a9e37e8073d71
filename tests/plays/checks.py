"""What is compared at every turn: the play's truth, and laws that hold in every story."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from attrs import define, field, frozen

from saga_core.model import Entity, Kind
from tests.plays.play import Play
from tests.plays.stage import Seen


@frozen
class Check:
    """One comparison."""

    kind: str
    held: bool
    about: str


@define
class Tally:
    """Checks of one play, by kind, with those that do not hold."""

    held: Counter[str] = field(factory=Counter)
    all: Counter[str] = field(factory=Counter)
    failed: list[str] = field(factory=list)

    def take(self, at: int, checks: Iterable[Check]) -> None:
        """Count the checks of a turn."""
        for check in checks:
            self.all[check.kind] += 1
            self.held[check.kind] += check.held
            if not check.held:
                self.failed.append(f"{at}: {check.kind}: {check.about}")

    @property
    def share(self) -> float:
        """How many hold, 0 to 1."""
        return self.held.total() / max(1, self.all.total())


@lru_cache(maxsize=16_384)
def folded(name: str) -> str:
    """A name as it is compared: no case, no spaces, no article."""
    plain = re.sub(r"^(the|a|an)\s+", "", unicodedata.normalize("NFKC", name).casefold().strip())
    return re.sub(r"\s+", "", plain)


@define
class Names:
    """Which entities of a state are meant by the names of a play."""

    seen: Seen

    def of(self, kind: Kind, names: Iterable[str]) -> list[Entity]:
        """The entities of a kind that bear one of the names."""
        wanted = {folded(name) for name in names}
        return [each for each in self.seen.state.of_kind(kind) if wanted & {folded(name) for name in each.names}]

    def person(self, play: Play, who: str) -> list[Entity]:
        """The entities that are somebody of the cast. The player's character is whom the state says it is, unless
        another human plays at this turn."""
        state, found = self.seen.state, self.of(Kind.CHARACTER, play.cast[who].names)
        if not play.cast[who].player:
            return found
        others = {name for by in play.humans - {who} for name in map(folded, play.cast[by].names)}
        acting = state.entities[state.player]
        return found if others & {folded(name) for name in acting.names} else [acting]


def checks(play: Play, seen: Seen) -> Iterator[Check]:
    """Everything that is compared at a turn."""
    yield from _truth(play, seen)
    yield from _people(play, seen)
    yield from _things(play, seen)
    yield from _told(play, seen)
    yield from _laws(play, seen)
    beat, kind = seen.beat, seen.begun.kind.value
    asked = "side" if beat.aside else "continuation" if beat.continue_ else "narration"
    yield Check("kind of request", kind == asked, f"{kind}, not {asked}")


def _truth(play: Play, seen: Seen) -> Iterator[Check]:
    state, truth = seen.state, seen.truth
    if truth.place is not None:
        here = state.name(state.location) if state.location else "nowhere"
        names = play.places[truth.place]
        yield Check("place", folded(here) in map(folded, names), f"{here}, not {names[0]}")
    if truth.hp is not None:
        hp = state.entities[state.player].get("hp")
        yield Check("hp", hp == truth.hp, f"{hp}, not {truth.hp}")
    if seen.beat.reply and not seen.beat.aside and seen.beat.stop is None:
        yield Check("shown", seen.shown.strip() == seen.beat.reply.strip(), f"the player saw {seen.shown[-200:]!r}")


def _people(play: Play, seen: Seen) -> Iterator[Check]:
    names, state, truth = Names(seen), seen.state, seen.truth
    for who in sorted(truth.entered - {play.player}):
        them = names.person(play, who)
        shown = ", ".join(each.name for each in them) or "nobody"
        yield Check("identity", len(them) == 1, f"{who} is {shown}")
        present = any(each.id in state.present or each.id == state.player for each in them)
        if who not in truth.unsure:
            wanted = who in truth.present
            yield Check("present", present == wanted, f"{who} is {'present' if present else 'not present'}")
        dead = any(each.dead for each in them)
        yield Check("dead", dead == (who in truth.dead), f"{who} is {'dead' if dead else 'alive'}")
        if who in truth.dead:
            yield Check("dead and present", not present, f"{who} is dead, and present")
    own = {each.id for each in names.person(play, play.player)}
    others = [each.name for each in names.of(Kind.CHARACTER, play.cast[play.player].names) if each.id not in own]
    yield Check("persona", not others, f"the player's character is also {', '.join(others)}")


def _things(play: Play, seen: Seen) -> Iterator[Check]:
    names, state = Names(seen), seen.state
    for (who, thing), count in sorted(seen.truth.holds.items()):
        them = names.person(play, who)
        items = {each.id for each in names.of(Kind.ITEM, play.things[thing].names)}
        held = sum(
            stack.quantity
            for each in them
            for item, stack in state.belongings.get(each.id, {}).items()
            if item in items
        )
        yield Check("items", held == count, f"{who} has {held} of {thing}, not {count}")
    for thing, about in sorted(play.things.items()):
        items = {each.id for each in names.of(Kind.ITEM, about.names)}
        if about.single and items:
            owners = [state.name(who) for who, held in state.belongings.items() if items & held.keys()]
            twice = len(owners) > 1 or len({item for held in state.belongings.values() for item in held} & items) > 1
            yield Check("owned once", not twice, f"{thing} is with {', '.join(owners)}")


def _told(play: Play, seen: Seen) -> Iterator[Check]:
    whole = "\n".join([*(block.text for block in seen.begun.plan.blocks), seen.begun.context.text])
    for phrase in seen.beat.prompt.has:
        yield Check("told", folded(phrase) in folded(whole), f"{phrase!r} does not stand in the prompt")
    for phrase in seen.beat.prompt.hasnot:
        yield Check("untold", folded(phrase) not in folded(seen.own), f"{phrase!r} is told")


# -- laws ---------------------------------------------------------------------------------------------------------

CHAT = frozenset({"client", "history", "words"})
_LEAST = 24
"""Characters from which on a line is one that nobody says twice by accident."""


def _laws(play: Play, seen: Seen) -> Iterator[Check]:
    state = seen.state
    walking = [state.name(who) for who in state.present if state.entities[who].dead]
    yield Check("law: nobody is dead and present", not walking, ", ".join(walking))
    yield Check("law: nobody is two", *_twins(seen))
    edges = Counter(edge["source"] for edge in seen.graph["edges"] if edge["type"] == "LOCATED_AT")
    two = [state.name(who) for who, count in edges.items() if count > 1]
    yield Check("law: nobody is at two places", not two, ", ".join(two))
    told = [line.strip() for line in seen.own.splitlines() if len(line.strip()) >= _LEAST]
    twice = [line for line, count in Counter(told).items() if count > 1]
    yield Check("law: no fact is told twice", not twice, " | ".join(twice)[:200])
    yield Check("law: nothing told contradicts what is true now", *_agrees(seen))
    # Of what the client sends SAGA may leave the oldest out, to keep the provider's cache.
    history = folded("\n".join(block.text for block in seen.begun.plan.blocks if block.origin.value in CHAT))
    echoes = [
        sentence
        for sentence in re.split(r"(?<=[.!?。！？])\s+|\n|\"", seen.begun.context.text)
        if len(sentence) >= _LEAST * 1.5 and folded(sentence.lstrip("- ")) in history
    ]
    yield Check("law: nothing is told that the history shows", not echoes, " | ".join(echoes)[:200])


_FIELD = re.compile(r"(?:^[- *]*|\| )(?P<label>[^|:*\n]{2,24}):\**[ ](?P<told>[^|\n]+)", re.M)


def _agrees(seen: Seen) -> tuple[bool, str]:
    """Whether the pages, which are older, claim nothing of what is told as true now: no field of it stands in them."""
    pages = "\n".join(block.text for block in seen.begun.plan.blocks if block.origin.value == "pages")
    now = "\n".join(piece.text for piece in seen.begun.context.pieces if piece.key.startswith("briefing:"))
    labels = {found["label"] for found in _FIELD.finditer(now)}
    claims = [found.group() for found in _FIELD.finditer(pages) if found["label"] in labels]
    return not claims, " | ".join(claims)[:200]


def _twins(seen: Seen) -> tuple[bool, str]:
    names: dict[tuple[Kind, str], str] = {}
    for each in seen.state.entities.values():
        if each.id in seen.state.merged:
            continue
        for name in each.names:
            other = names.setdefault((each.kind, folded(name)), each.id)
            if other != each.id:
                return False, f"{seen.state.name(other)} and {each.name} are both called {name}"
    return True, ""
