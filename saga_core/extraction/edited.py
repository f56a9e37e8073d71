"""What an edited reply no longer tells: the changes that only the sentences reported that somebody edited away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from saga_core.language import mentions, sentences_of
from saga_core.model import Delta, Event, Kind, WorldState, deltas
from saga_core.naming import short_names

_Named = tuple[Kind | None, Sequence[str]]
"""Something that an event is about: its kind, None for a status, and its names."""


def still_told(delta: Delta, old: str, new: str, state: WorldState) -> Delta:
    """The part of a reply's delta that holds after a small edit of its text. ``state`` knows the delta's names.

    Only an edit in one place counts, of half of the sentences at most, because a script changes many places. An event
    goes if a sentence that was edited told it, with all names that it is about, and the new text does not: the thing or
    the status is not named there any more, or somebody else or another place is. A pronoun may stand for a person,
    "inside" for a place, and "the letter" for the only letter. What no sentence told by name stays: nobody can see that
    it was edited. Notes follow the sentences that they quote.
    """
    before, after = ([each.strip() for each in sentences_of(text) if each.strip()] for text in (old, new))
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    if not gone or (len(gone) > 1 and 2 * len(gone) > len(before)):
        return delta
    events = tuple(_events(delta, gone, come, after, state))
    return delta if events == delta.events else evolve(delta, events=events)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many sentences both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _events(
    delta: Delta, gone: Sequence[str], come: Sequence[str], now: Sequence[str], state: WorldState
) -> Iterator[Event]:
    short = short_names(state.entities.values())
    for event in delta.events:
        if isinstance(event, deltas.Noted):
            text = event.text
            for at, sentence in enumerate(gone):
                text = text.replace(sentence, come[at] if len(come) == len(gone) else "")
            if text.strip():
                yield event if text == event.text else evolve(event, text=" ".join(text.split()))
            continue
        about = _about(event, state, short)
        if not _tells(gone, about) or _tells(now, about) or not _other(about, gone, come, state):
            yield event


def _tells(sentences: Sequence[str], about: Sequence[_Named]) -> bool:
    """Whether a sentence names each; no sentence names all of nothing."""
    return bool(about) and any(all(_names(each, names) for _, names in about) for each in sentences)


def _names(text: str, names: Sequence[str]) -> bool:
    return any(mentions(text, name) for name in names)


def _other(about: Sequence[_Named], gone: Sequence[str], come: Sequence[str], state: WorldState) -> bool:
    """Whether the new sentences tell something else than what an event is about."""
    before, after = " ".join(gone), " ".join(come)
    missing = [kind for kind, names in about if not _names(after, names)]
    if not after or any(kind in (None, Kind.ITEM) for kind in missing):
        return True
    others = (each.names for each in state.entities.values() if each.kind in missing)
    return any(_names(after, names) and not _names(before, names) for names in others)


def _about(event: Event, state: WorldState, short: Mapping[str, str]) -> list[_Named]:
    """All that an event is about, but for the player, who is mostly told without a name."""
    others: tuple[str, ...]
    status: list[_Named] = []
    match event:
        case deltas.ItemGained(owner=owner, item=item) | deltas.ItemLost(owner=owner, item=item):
            others = (owner, item)
        case deltas.ItemTransferred(giver=giver, receiver=receiver, item=item):
            others = (item, giver if receiver == state.player else receiver)
        case deltas.Moved(who=who, to=place):
            others = (who, place)
        case deltas.Met(who=who) | deltas.Separated(who=who):
            others = (who,)
        case deltas.StatusChanged(who=who, status=text):
            others, status = (who,), [(None, (text,))]
        case _:
            return []
    known = (state.entities[each] for each in others if each != state.player and each in state.entities)
    return [*((each.kind, (*each.names, short.get(each.id, each.name))) for each in known), *status]
