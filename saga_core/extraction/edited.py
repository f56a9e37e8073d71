"""What an edited reply no longer tells: the changes that only the sentences reported that somebody edited away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from saga_core.language import caseless, content_words, fold_name, match_text, mentions, sentences_of, telling_nothing
from saga_core.model import Delta, Entity, Event, Kind, WorldState, deltas
from saga_core.naming import name_words, parts_alone, patterns_of, short_names

_AROUND = ' \n"“”'
"""What may stand around a sentence. The mark that ends a speech may stand before the next one."""
_Named = tuple[Kind | None, Sequence[str]]
"""Something that an event is about: its kind, None for a status, and its names."""


def still_told(delta: Delta, old: str, new: str, state: WorldState, *, last: bool = False) -> Delta:
    """The part of a reply's delta that holds after a small edit of its text. ``state`` knows the delta's names.

    Only an edit in one place counts, of half of the sentences at most, because a script changes many places. An event
    goes if a sentence that was edited told it, with all names that it is about, and the new text does not: the thing or
    the status is not named there any more, somebody else or another place is, or nobody. A pronoun may stand for a
    person, "inside" for a place, "the letter" for the only letter, and "Barty" for Barty Pike. What no sentence told by
    name stays: nobody can see that it was edited. Notes follow the sentences that they quote. A sentence of a note goes
    like an event if it is about two names or more, or if half of its words stood in the edited sentences alone. If the
    reply is the ``last`` of its path, what only came up in an event that goes is no longer known; otherwise later turns
    may be about it.
    """
    before, after = ([plain for each in sentences_of(text) if (plain := each.strip(_AROUND))] for text in (old, new))
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    if not gone or (len(gone) > 1 and 2 * len(gone) > len(before)):
        return delta
    events = tuple(_events(delta, gone, come, after, state))
    if last:
        events = tuple(_without_unknown(events, delta.events, new))
    return delta if events == delta.events else evolve(delta, events=events)


def _without_unknown(events: Sequence[Event], before: Sequence[Event], text: str) -> Iterator[Event]:
    """The events left of those ``before``, without entities that only came up in one that went and not in a text."""
    left, gone = (
        {each for event in some if not isinstance(event, deltas.Introduced) for each in deltas.ids_in(event)}
        for some in (events, [event for event in before if event not in events])
    )
    unknown = gone - left
    for each in events:
        if not (isinstance(each, deltas.Introduced) and each.id in unknown and not mentions(text, each.name)):
            yield each


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many sentences both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _events(
    delta: Delta, gone: Sequence[str], come: Sequence[str], now: Sequence[str], state: WorldState
) -> Iterator[Event]:
    entities = state.entities.values()
    text = " ".join((*gone, *now))
    parts = {id_: [each for each in alone if each in text] for id_, alone in parts_alone(entities).items()}
    short = parts | {id_: [name] for id_, name in short_names(entities).items()}
    for event in delta.events:
        if isinstance(event, deltas.Noted):
            said = event.text
            for at, sentence in enumerate(gone):
                said = said.replace(sentence, come[at] if len(come) == len(gone) else "")
            if said == event.text:
                left = [each for each in sentences_of(said) if not _is_gone(each, gone, come, now, state, short)]
                said = said if len(left) == len(sentences_of(said)) else "".join(left)
            if said.strip():
                yield event if said == event.text else deltas.Noted(" ".join(said.split()))
            continue
        about = _about(event, state, short)
        if not _tells(gone, about) or _tells(now, about) or not _other(about, gone, come, state, short):
            yield event


def _is_gone(
    note: str,
    gone: Sequence[str],
    come: Sequence[str],
    now: Sequence[str],
    state: WorldState,
    short: Mapping[str, Sequence[str]],
) -> bool:
    """Whether a sentence of a note tells what only edited sentences told, in names or in other words."""
    about = _about(deltas.Noted(note), state, short)
    if _tells(gone, about) and not _tells(now, about) and _other(about, gone, come, state, short):
        return True
    told, words = set(content_words(" ".join(now))), content_words(note)
    only = [each for each in content_words(" ".join(gone)) if each in words and each not in told]
    return len(only) > 1 and 2 * len(only) >= len(words)


def _tells(sentences: Sequence[str], about: Sequence[_Named]) -> bool:
    """Whether a sentence names each; no sentence names all of nothing."""
    return bool(about) and any(all(_names(each, names) for _, names in about) for each in sentences)


def _names(text: str, names: Sequence[str]) -> bool:
    return any(mentions(text, name) for name in names)


def _other(
    about: Sequence[_Named],
    gone: Sequence[str],
    come: Sequence[str],
    state: WorldState,
    short: Mapping[str, Sequence[str]],
) -> bool:
    """Whether the new sentences tell something else than what an event is about."""
    before, after = " ".join(gone), " ".join(come)
    missing = {kind: names for kind, names in about if not _names(after, names)}
    if not after or None in missing or Kind.ITEM in missing:
        return True
    others = (_called(each, short) for each in state.entities.values() if each.kind in missing)
    if any(_names(after, names) and not _names(before, names) for names in others):
        return True
    if any(map(_is_named, _instead(missing.get(Kind.LOCATION, ()), gone, come))):
        return True
    nobody = Kind.CHARACTER in missing and any(each.match(after.casefold()) for each in patterns_of("nobody_else"))
    return nobody and not _instead(missing[Kind.CHARACTER], gone, come)


def _instead(names: Sequence[str], gone: Sequence[str], come: Sequence[str]) -> list[str]:
    """What the new sentences have between the words that stood around a name: "chart room" for "In the galley he"."""
    found = list[str]()
    for sentence in gone:
        for around in (_around(sentence, name) for name in names if mentions(sentence, name)):
            found += [each["instead"] for each in map(around.search, come) if each is not None]
    return found


def _around(sentence: str, name: str) -> re.Pattern[str]:
    """Matches the two words or letters before a name and what stands behind it, with any words between them."""
    before, _, behind = re.sub(re.escape(name), "\0", sentence, count=1, flags=re.I).partition("\0")
    if not caseless(name):
        words = before.split()
        while words and fold_name(words[-1]) in name_words("definite"):
            words.pop()
        before, behind = r"\s+".join(map(re.escape, words[-2:])), _cut(r"\W*\w*", behind)
    elif " " in sentence.strip():
        particle = _cut(r"\w{0,3}", behind)
        before, behind = re.escape(before[-8:]), _cut(r"\W*\w?", behind.removeprefix(particle))
    else:
        before, behind = re.escape(before[-2:]), behind[:2]
    begins = "^" if not before else r"(?<!\w)" if before[0].isascii() else ""
    return re.compile(rf"{begins}{before}\s?(?P<instead>[\w\s'’-]{{1,40}}?)\s?{re.escape(behind)}", re.I)


def _cut(pattern: str, text: str) -> str:
    found = re.match(pattern, text)
    return found.group() if found is not None else ""


def _is_named(text: str) -> bool:
    """Whether words name something, and do not only stand for what was named: "there"."""
    words = {word for word in content_words(text) if word not in telling_nothing()}
    bare = match_text(text)
    return bool(words) and not any(
        bare == each or (caseless(each) and bare.startswith(each) and len(bare) <= len(each) + 2)
        for each in name_words("somewhere")
    )


def _called(entity: Entity, short: Mapping[str, Sequence[str]]) -> Sequence[str]:
    return (*entity.names, *short.get(entity.id, ()))


def _about(event: Event, state: WorldState, short: Mapping[str, Sequence[str]]) -> list[_Named]:
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
        case deltas.Noted(text=text):
            known = [each.id for each in state.entities.values() if _names(text, _called(each, short))]
            others = tuple(known) if len(known) > 1 else ()
        case _:
            return []
    found = (state.entities[each] for each in others if each != state.player and each in state.entities)
    return [*((each.kind, _called(each, short)) for each in found), *status]
