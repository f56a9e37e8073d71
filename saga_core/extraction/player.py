"""The player's character, who is one entity whatever names the client, the card and the blocks use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from saga_core.extraction.habits import LISTED
from saga_core.ids import entity_id
from saga_core.language import all_of, caseless, every, fold_name, mentions, speeches, without_speech
from saga_core.model import Entity, Event, Kind, WorldState, deltas
from saga_core.naming import (
    Names,
    is_form_of,
    is_title,
    is_word_for_player,
    last_word,
    may_be_called,
    remarked,
    stands_in_text_of,
)
from saga_core.state_block import BlockFields
from saga_core.transcript import next_reply_of
from saga_core.values import Value

PERSONA = "persona"
"""The attribute that holds the name under which the client plays a character."""
CLAIMS = "claims"
"""The attribute that holds the names that the player's own words may have given the character, latest last. They are
kept because the history of a request may not reach back to these words."""
_MOST_CLAIMS = 8
_MOST_LISTED = 64
"""How many names of the lists that have the player too are kept, the latest. No list has one person twice."""


def the_player(state: WorldState, name: str, *, sure: bool = True) -> tuple[Event, ...]:
    """The events for a client's name of the player: the player gets the name, or switches to another character.

    The first name from a client becomes the player's name, or an alias if the world's sheet already names the
    player's character. After that, a different name means another persona, which may have been played before. This
    requires that the client is ``sure`` of the name. If another character has the name, the two are only taken for
    one if the client is sure, because a player may claim another character's name falsely.
    """
    player = state.entities.get(state.player)
    if not name or player is None or is_word_for_player(name):
        return ()
    if not sure and not _called(player, name) and second_person(state, name) is not None:
        return ()
    if _called(player, name):
        return () if player.get(PERSONA) else (_learns(player, name),)
    if not player.get(PERSONA):
        learns = _learns(player, name)
        return (deltas.Renamed(player.id, name), learns) if is_word_for_player(player.name) else (learns,)
    if not sure:
        return ()
    names = Names(state)
    if names.find(Kind.CHARACTER, name) == player.id:
        return ()
    for each in state.of_kind(Kind.CHARACTER):
        if each.get(PERSONA) and _called(each, name):
            return (deltas.Played(each.id),)
    found = names.find(Kind.CHARACTER, name)
    attributes: dict[str, Value] = {PERSONA: name, "is_player": True}
    for points in ("hp", "max_hp"):
        if (top := player.get("max_hp")) is not None:
            attributes[points] = top
    if found is not None and found != player.id:
        return (deltas.Introduced(found, Kind.CHARACTER, name, (), attributes), deltas.Played(found))
    fresh = entity_id(Kind.CHARACTER.value, name)
    return (deltas.Introduced(fresh, Kind.CHARACTER, name, (), attributes), deltas.Played(fresh))


def player_events(
    fields: BlockFields,
    state: WorldState,
    name: str,
    sure: bool,
    claims: Sequence[str],
    card: str = "",
    prose: str = "",
) -> tuple[Event, ...]:
    """The events for the names of the player's character at one turn, before its report is read.

    ``name`` and ``sure`` come from the client (see ``the_player``). Without a name, the report tells it: in a note, or
    by bearing out one of ``claims``, the names that the player's own words may have given the character. The other
    names that it bears out become other names of the character. A report bears out a name if somebody owns or does
    something under it who was never company: neither before nor in this report. So it does with names that stand in the
    text about the player in ``card``, the client's description, and with a name by which the reply, ``prose``,
    addresses somebody without telling of its bearer. Never a name of somebody else: of who was listed beside the
    player, or whose next reply the client asks for.
    """
    player = state.entities.get(state.player)
    if player is None:
        return ()
    before = player.get(CLAIMS)
    kept = tuple(map(str, before)) if isinstance(before, tuple) else ()
    others_here = _company(fields, state)
    claims = tuple(dict.fromkeys(each for each in (*kept, *claims) if fold_name(each) not in others_here))
    claims = claims[-_MOST_CLAIMS:]
    beside = _beside(fields, (name, *player.names))
    apart = _somebody_else(state, (*beside, next_reply_of(card)), (name, *player.names))
    borne_out = _borne_out(fields, state, claims, apart)
    if not name and nameless(state):
        name, sure = _noted_name(fields.notes or "") or next(iter(borne_out), ""), True
    head = the_player(state, name, sure=sure)
    if any(isinstance(event, deltas.Played) for event in head):
        return head  # the words may have been another character's
    borne_out |= _from_dealings(fields, state, (name, *player.names), card, prose, apart)
    others = {other: who for other, who in borne_out.items() if other != name and not _called(player, other)}
    listed = _listed(player)
    now = tuple(dict.fromkeys((*listed, *_beside(fields, (name, *player.names, *others)))))[-_MOST_LISTED:]
    if now != listed:
        head += (deltas.AttributeSet(player.id, LISTED, now),)
    if others or claims != kept:
        attributes: dict[str, Value] = {CLAIMS: claims} if claims else {}
        head += (deltas.Introduced(player.id, Kind.CHARACTER, player.name, tuple(others), attributes),)
    return head + tuple(deltas.Merged(who, player.id) for who in dict.fromkeys(others.values()) if who)


def _company(fields: BlockFields, state: WorldState) -> frozenset[str]:
    """The folded names of those who are or were with the player: "This is Bella" is said of the cat."""
    told = {fold_name((remarked(each) or (each, ""))[0]) for each in (*(fields.present or ()), *fields.npc_met)}
    people = (state.entities[who] for who in (*state.met, *state.present) if who in state.entities)
    return frozenset(told.union(*(map(fold_name, each.names) for each in people)))


def _beside(fields: BlockFields, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the lists of a report that have the player's character too, hers with them."""
    own = set(map(fold_name, names))
    return tuple(
        (remarked(each) or (each, ""))[0]
        for company in (fields.present or (), fields.npc_met)
        if any(is_word_for_player(each) or fold_name(each) in own for each in company)
        for each in company
    )


def _somebody_else(state: WorldState, beside: Sequence[str], names: Sequence[str]) -> frozenset[str]:
    """The folded names of those who cannot be the player's character: of whom a list ever had ``beside`` her."""
    told = {fold_name(each) for each in (*beside, *_listed(state.entities[state.player])) if each}
    people = [set(map(fold_name, each.names)) for each in state.of_kind(Kind.CHARACTER) if each.id != state.player]
    return frozenset(told.union(*(each for each in people if each & told)) - set(map(fold_name, names)))


def _listed(player: Entity) -> tuple[str, ...]:
    """The names of the lists until now that had the player too. Older records only say that there were some."""
    listed = player.get(LISTED)
    return tuple(map(str, listed)) if isinstance(listed, tuple) else ()


def _noted_name(notes: str) -> str:
    found = next((found for pattern in _noted() if (found := pattern.search(notes))), None)
    return found["name"].strip() if found is not None else ""


@cache
def _noted() -> tuple[re.Pattern[str], ...]:
    """Notes that tell the name of the player's character. Made when first needed."""
    return tuple(re.compile(pattern) for each in every() for pattern in each.persona.noted)


def _borne_out(fields: BlockFields, state: WorldState, claims: Sequence[str], apart: frozenset[str]) -> dict[str, str]:
    """The names of ``claims`` that a report bears out, and the parts of them that it uses, without those ``apart``.

    Each has the id of the character that it was taken for until now, or "".
    """
    if not claims:
        return {}
    strangers, known = _strangers(fields, state)
    acting = [name for name in _acting(fields) if fold_name(name) not in known | apart]
    found: dict[str, str] = {}
    for claim in (each for each in claims if fold_name(each) not in apart):
        for name in (name for name in acting if _is_part(name, claim)):
            found.setdefault(claim, strangers.get(fold_name(claim), ""))
            found.setdefault(name, strangers.get(fold_name(name), ""))
    return found


def _from_dealings(
    fields: BlockFields, state: WorldState, names: Sequence[str], card: str, prose: str, apart: frozenset[str]
) -> dict[str, str]:
    """The player's other names under which a report has somebody deal with those who are here.

    Such a name has the player's given name, or stands in the text about her ("nobody has ever called her anything but
    Joss"), or the reply addresses somebody by it and tells of nobody. A report that calls the player by a known name
    means others by these names. Two of them in one event are two people. Who is listed as company is none of them,
    unless the narrator lists the player too, or has never named the player and lists somebody new, of whom only the
    text about the player tells. The first of ``names`` is the client's; if it has one, she is addressed by another only
    if that is a title or a form of hers. Who is ``apart`` never is.
    """
    pairs = list(dealing(fields))
    own = set(map(fold_name, names))
    if any(is_word_for_player(each) or fold_name(each) in own for pair in pairs for each in pair):
        return {}
    strangers, known = _strangers(fields, state)
    listed = set(map(fold_name, (*(fields.present or ()), *fields.npc_met)))
    is_listed = bool(listed & own) or lists_player(state)
    narration = without_speech(prose)
    here = listed - set(strangers)
    untold = {each for each in here if not mentions(narration, each)}
    if not prose or len(untold) == len(here) or not (is_listed or not _is_named(state)):
        untold = set()  # where the narration tells of nobody who is listed, it shows nothing
    untold.difference_update(*(map(fold_name, each.names) for each in state.of_kind(Kind.CHARACTER)))
    met = apart | (known - listed if is_listed else known - untold)

    def is_called(name: str) -> bool:
        # 沈先生, of 沈砚秋, may be listed where nobody tells of him. Anybody else who is listed is somebody else.
        is_form = any(may_be_called(name, each) for each in names)
        others = listed - untold if is_form else {*listed, *strangers}
        if names[0] and not (is_form or name.islower() or is_title(last_word(name))):
            return (
                False  # "Here, Ines" is another one's name where the client tells the player's; "Well, Chief?" is not
            )
        is_told = mentions(narration, name) or any(fold_name(name) in each for each in others)
        return not is_told and is_addressed(name, prose)

    found: dict[str, str] = {}
    for one, other in pairs:
        free = [each for each in (one, other) if fold_name(each) not in met]
        new = (
            [each for each in free if _has_given_name(each, names)]
            or [each for each in free if stands_in_text_of(card, each, names)]
            or [each for each in free if each == other and is_called(each)]
            or [
                each
                for each in free
                if fold_name(each) in untold and stands_in_text_of(card, each, names, in_any_sentence=True)
            ]
        )
        if len(new) != 1 or one == other:
            continue
        partner = other if new == [one] else one
        # The speaker of a group chat may be listed nowhere.
        if fold_name(partner) in known or (partner == one and mentions(narration, partner)):
            found[new[0]] = strangers.get(fold_name(new[0]), "")
    return found


def _has_given_name(name: str, names: Sequence[str]) -> bool:
    """Whether a name has the given name of one of ``names``: sior Marco, of Marco Venier; 단이, of 윤단."""
    if caseless(name):
        givens = [whole[1:] for whole in names if caseless(whole) and len(whole) in (2, 3)]
        fond = [given + end for given in givens for end in all_of(lambda each: each.names.endearments)]
        return name in fond or any(name != given and is_form_of(name, given) for given in givens)
    words = set(map(fold_name, name.split(" ")))
    return any(len(given) > 2 and fold_name(given) in words for given in (each.split(" ")[0] for each in names))


def lists_player(state: WorldState) -> bool:
    """Whether the narrator has listed the player's character as company."""
    player = state.entities.get(state.player)
    return player is not None and bool(player.get(LISTED))


def _is_named(state: WorldState) -> bool:
    """Whether any report has named the player's character: as an owner, or in a relation."""
    hands = state.belongings.get(state.player)
    return bool(hands) or any(state.player in pair for pair in state.relations)


def dealing(fields: BlockFields) -> Iterator[tuple[str, str]]:
    """Who gives something to whom, and who feels something for whom, in a report."""
    yield from ((each.giver, each.receiver) for each in fields.items_transferred if each.giver and each.receiver)
    yield from ((each.source, each.target) for each in fields.relationship_changes)


def _strangers(fields: BlockFields, state: WorldState) -> tuple[dict[str, str], set[str]]:
    """The folded names of those who were never company, with their ids, and those of everybody who was or is."""
    strangers: dict[str, str] = {}
    known = set(map(fold_name, (*(fields.present or ()), *fields.npc_met, *fields.npc_separated)))
    placeless = state.location is None  # then nobody's whereabouts are known
    for each in state.of_kind(Kind.CHARACTER):
        names = map(fold_name, each.names)
        if placeless or each.id in (state.player, *state.present) or each.id in state.whereabouts or each.get(PERSONA):
            known.update(names)
        else:
            strangers.update(dict.fromkeys(names, each.id))
    return strangers, known


def _is_part(name: str, whole: str) -> bool:
    """Whether ``name`` is the whole name, one of its words, or the given name at its end in scripts without spaces."""
    if any(is_form_of(name, each) for each in (whole, *whole.split(" "))):
        return True
    return caseless(name) and len(name) > 1 and whole.endswith(name)


def _acting(fields: BlockFields) -> Iterator[str]:
    """The names of those who own, do or are something in a report, without those who are only present."""
    for transfer in fields.items_transferred:
        yield from filter(None, (transfer.giver, transfer.receiver))
    for change in fields.relationship_changes:
        yield from (change.source, change.target)
    yield from (status.name for status in fields.status_changes)


def is_addressed(name: str, told: str) -> bool:
    """Whether a text addresses somebody by this name: in a speech, after a comma or before one. A name alone may be an
    answer."""
    if name not in told:
        return False
    called = re.compile(
        rf"[,，、]\s*{re.escape(name)}(?=[,，、.。!！?？…—]|\s*\Z)"
        rf"|(?:\A|[.。!！?？…—])\s*{re.escape(name)}(?=[,，、!！?？…—])"
    )
    return any(called.search(speech) for speech in speeches(told))


def second_person(state: WorldState, name: str = "") -> str | None:
    """The id of another character named ``name``, or None. The default is the client's name for the player.

    Characters that were played themselves do not count.
    """
    player = state.entities.get(state.player)
    folded = fold_name(name or str((player.get(PERSONA) if player is not None else None) or ""))
    for each in state.of_kind(Kind.CHARACTER):
        if folded and each.id != state.player and not each.get(PERSONA) and fold_name(each.name) == folded:
            return each.id
    return None


def nameless(state: WorldState) -> bool:
    """Whether the player's character has no name yet, neither from a client nor from the world."""
    player = state.entities.get(state.player)
    return player is not None and not player.get(PERSONA) and is_word_for_player(player.name)


def _called(entity: Entity, name: str) -> bool:
    folded = fold_name(name)
    return any(fold_name(each) == folded for each in (*entity.names, str(entity.get(PERSONA) or "")))


def _learns(player: Entity, name: str) -> Event:
    return deltas.Introduced(player.id, Kind.CHARACTER, name, (), {PERSONA: name})
