"""What an edited reply no longer tells: the changes that only the sentences reported that somebody edited away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from saga_core.language import mentions, sentences_of
from saga_core.model import Delta, Event, WorldState, deltas


def still_told(delta: Delta, old: str, new: str, state: WorldState) -> Delta:
    """The part of a reply's delta that holds after a small edit of its text. ``state`` knows the delta's names.

    Only an edit in one place counts, of half of the sentences at most, because a script changes many places. An event
    goes if a sentence that was edited told it, with all names that it is about, and no sentence tells it now. What no
    sentence told by name stays: nobody can see that it was edited. Notes follow the sentences that they quote.
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
    for event in delta.events:
        if isinstance(event, deltas.Noted):
            text = event.text
            for at, sentence in enumerate(gone):
                text = text.replace(sentence, come[at] if len(come) == len(gone) else "")
            if text.strip():
                yield event if text == event.text else evolve(event, text=" ".join(text.split()))
        elif not _tells(gone, about := _about(event, state)) or _tells(now, about):
            yield event


def _tells(sentences: Sequence[str], about: Sequence[Sequence[str]]) -> bool:
    """Whether a sentence has a name of each; no sentence has one of nothing."""
    return bool(about) and any(
        all(any(mentions(each, name) for name in names) for names in about) for each in sentences
    )


def _about(event: Event, state: WorldState) -> list[Sequence[str]]:
    """The names of all that an event is about, but for the player, who is mostly told without a name."""
    others: tuple[str, ...]
    match event:
        case deltas.ItemGained(owner=owner, item=item) | deltas.ItemLost(owner=owner, item=item):
            others = (owner, item)
        case deltas.ItemTransferred(giver=giver, receiver=receiver, item=item):
            others = (item, giver if receiver == state.player else receiver)
        case deltas.Moved(who=who, to=place):
            others = (who, place)
        case deltas.Met(who=who) | deltas.Separated(who=who):
            others = (who,)
        case deltas.StatusChanged(who=who, status=status):
            named = [state.entities[who].names] if who in state.entities and who != state.player else []
            return [*named, (status,)]
        case _:
            return []
    return [state.entities[each].names for each in others if each != state.player and each in state.entities]
