"""Parses the player's English words into intents.

A sentence is split at its verbs. In English, the objects of a verb follow it, up to the next verb. Prepositions tell
them apart, as in "give two potions *to* Mara" and "strike him *with* the sword".
"""

from __future__ import annotations

import re

from attrs import evolve

from saga_backends.chat.offline.intent import Act, Amount, Intent
from saga_backends.chat.offline.scene import Scene, named_in, resolve
from saga_backends.chat.offline.sentences import QUOTED, sentences, unquoted
from saga_backends.chat.offline.verbs import spoken
from saga_backends.chat.offline.verbs_en import VERBS

_NEGATION = re.compile(r"\b(?:don't|do not|never|won't|will not|refuse to|without|cannot|can't)\s*$", re.IGNORECASE)

_BAG = r"my (?:bag|pack|backpack|inventory|pockets?|satchel|belongings|things)"
_ASK_INVENTORY = re.compile(
    rf"what (?:do|am|have|did) (?:i|we) (?:have|carry|carrying|got|hold|holding|own)|what(?:'s| is) in {_BAG}|"
    rf"(?:check|open|look (?:in|into|through|at)|show(?: me)?|search|go through) {_BAG}|\binventory\b",
    re.IGNORECASE,
)
_ASK_PLACE = re.compile(
    r"where (?:am i|are we|is this|exactly am i)|what (?:place|town|village) is this", re.IGNORECASE
)
_ASK_HP = re.compile(
    r"how (?:badly )?(?:am i|hurt|wounded|injured)|how (?:is|are) my (?:health|wounds?|injuries)|"
    r"(?:check|what is|what's) my (?:hp|health|wounds?|injuries)",
    re.IGNORECASE,
)
_ASK_COMPANY = re.compile(
    r"who(?:'s| is| are| else is)? (?:here|with (?:me|us)|around|near|nearby|beside)", re.IGNORECASE
)
_ASK_PAST = re.compile(
    r"what (?:did|was it(?: that)?|had) (?P<a>.+?) (?:say|said|tell|told)|"
    r"(?:remember|recall) what (?P<b>.+?) (?:said|told)|"
    r"(?:remember|recall) (?P<c>.+?)(?:'s words)?[.?!]*$",
    re.IGNORECASE,
)
_ASK_LORE = re.compile(
    r"\bask(?:s)?(?P<who> .+?)? about (?P<a>.+)|tell me (?:more )?about (?P<b>.+)|"
    r"what do(?:es)? .+? know about (?P<c>.+)|"
    r"(?:what|who)(?: is|'s| are| was| were) (?P<d>.+?)\?",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\babout (.+?)[.?!]*$", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"\s*\b(to|from|with|about|for|into|towards?|at|in|on|using|off|beside|near|under|by|before|after|behind|through|across|away|home|farewell)\b\s*",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"(?:[\s,;]|\b(?:and|then|but|so|i|we|again|once more|now|carefully|quickly|there|here)\b)+$", re.IGNORECASE
)
_DETERMINER = re.compile(r"^(?:the|my|our|his|her|its|their|this|that|these|those|some|your)\s+", re.IGNORECASE)
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "another": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "twenty": 20,
}  # fmt: skip
_NUMBER = "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r"|\d+"
_COUNT = re.compile(
    rf"^({_NUMBER})\s+(?:(?:vials?|bottles?|jars?|flasks?|sheaves|pieces?) of )?(?!of\b)(.+)$", re.IGNORECASE
)
_DATIVE = re.compile(rf"^(\S+(?:\s+\S+)*?)\s+((?:{_NUMBER}|the|my|some)\s+.+)$", re.IGNORECASE)
_PRONOUN = re.compile(r"^(?:him|her|them|it|he|she|they)$", re.IGNORECASE)
_CONSUMABLE = re.compile(
    r"potion|elixir|draught|tonic|salve|balm|herb|biscuit|bread|ration|apple|tea|wine|ale|food|물약", re.IGNORECASE
)


def hear(words: str, scene: Scene) -> tuple[Intent, ...]:
    """Return the actions in the player's words, in order. Empty if nothing was understood."""
    found: list[Intent] = []
    for sentence in sentences(words.replace("’", "'")):
        found += _sentence(sentence, scene, found)
    return tuple(found)


def consumable(item: str) -> bool:
    """Return whether an item of this name is used up when it is used."""
    return bool(_CONSUMABLE.search(item))


def _sentence(sentence: str, scene: Scene, before: list[Intent]) -> list[Intent]:
    question = _question(sentence, scene)
    if question is not None:
        return [question]
    last = next((intent.person for intent in reversed(before) if intent.person), "")
    if not last and len(scene.present) == 1:
        last = scene.present[0]
    found = _clauses(unquoted(sentence), scene, last)
    if found:
        return found
    known = named_in(sentence, _persons(scene))
    if known and QUOTED.search(sentence):
        return [Intent(Act.TALK, person=known[0])]
    return []


def _question(sentence: str, scene: Scene) -> Intent | None:
    past = _ASK_PAST.search(sentence)
    if past:
        person = _noun(past["a"] or past["b"] or past["c"] or "")
        named = _ABOUT.search(sentence)
        topic = _noun(named[1]) if named else _topic(sentence, scene, person)
        return Intent(Act.ASK_PAST, person=person, topic=topic)
    for act, pattern in (
        (Act.ASK_INVENTORY, _ASK_INVENTORY),
        (Act.ASK_HP, _ASK_HP),
        (Act.ASK_COMPANY, _ASK_COMPANY),
        (Act.ASK_PLACE, _ASK_PLACE),
    ):
        if pattern.search(sentence):
            return Intent(act)
    lore = _ASK_LORE.search(sentence)
    if lore is None:
        return None
    about = _noun((lore["a"] or lore["b"] or lore["c"] or lore["d"] or "").replace('"', ""))
    person = _noun(lore["who"] or "")
    return Intent(Act.ASK_LORE, person=person, topic=_topic(about, scene, person) or about) if about else None


def _topic(text: str, scene: Scene, person: str) -> str:
    names = [*(name for name, _ in scene.lore), *scene.places, *(name for name, _ in scene.inventory), *_persons(scene)]
    spoken = resolve(person, names) or person
    known = [name for name in named_in(text, names, whole=True) if name != spoken]
    return known[0] if known else ""


def _clauses(text: str, scene: Scene, last: str) -> list[Intent]:
    found: list[Intent] = []
    verbs = list(spoken(text, VERBS))
    ends = [*(one.begin for one in verbs), len(text)][1:]
    for one, until in zip(verbs, ends, strict=True):
        if _NEGATION.search(text[: one.begin]):
            continue
        intent = _intent(one.verb.act, text[one.end : until], scene, last)
        last = intent.person or last
        found.append(evolve(intent, deadly=True) if one.verb.deadly else intent)
    return [intent for intent in _joined(found) if intent.complete]


def _intent(act: Act, segment: str, scene: Scene, last: str) -> Intent:
    thing, after = _parts(segment)
    known = named_in(segment, _persons(scene))
    match act:
        case Act.GO:
            return Intent(act, place=thing)
        case Act.ATTACK:
            person = known[0] if known else _owner(thing) or _owner(after.get("to", "")) or last
            return Intent(
                act, person=last if _PRONOUN.match(person) else person, tool=after.get("with") or after.get("using", "")
            )
        case Act.TALK | Act.PART | Act.THANK | Act.INSULT:
            person = known[0] if known else thing
            return Intent(act, person=last if _PRONOUN.match(person) else person)
        case Act.TAKE | Act.BUY | Act.DRINK | Act.WIELD | Act.DROP:
            return _with_item(act, thing, after, scene, last)
        case Act.GIVE:
            return _giving(thing, after, known, last)
        case _:
            return Intent(act)


def _with_item(act: Act, thing: str, after: dict[str, str], scene: Scene, last: str) -> Intent:
    if not thing or _PRONOUN.match(thing):
        return Intent(act)
    if resolve(_noun(thing), _persons(scene)) and not resolve(_noun(thing), dict(scene.inventory)):
        return Intent(Act.TALK if act is Act.TAKE else act, person=_noun(thing))
    item = _amount(thing)
    if act is Act.WIELD and consumable(item.name):
        act = Act.DRINK
    price = _amount(after["for"]) if act is Act.BUY and after.get("for") else None
    person = after.get("from", "")
    return Intent(act, person=last if _PRONOUN.match(person) else person, item=item, price=price)


def _giving(thing: str, after: dict[str, str], known: list[str], last: str) -> Intent:
    person = after.get("to", "")
    if not person:
        dative = _DATIVE.match(thing)
        if dative:
            person, thing = _noun(dative[1]), _keep_count(dative[2])
    if _PRONOUN.match(person):
        person = last
    item = _amount(thing) if thing and not _PRONOUN.match(thing) else None
    if after.get("for"):
        return Intent(Act.BUY, person=person, item=_amount(after["for"]), price=item)
    if not person and known:
        person = known[0]
    return Intent(Act.GIVE, person=person, item=item)


def _joined(intents: list[Intent]) -> list[Intent]:
    """Merge two verbs for one purchase, as in "give three coins and buy a lamp"."""
    found: list[Intent] = []
    for intent in intents:
        before = found[-1] if found else None
        if before and intent.act is Act.BUY and before.act is Act.GIVE:
            found[-1] = evolve(intent, price=intent.price or before.item, person=intent.person or before.person)
        else:
            found.append(intent)
    return found


def _persons(scene: Scene) -> tuple[str, ...]:
    return (*scene.around, *scene.dead)


def _parts(segment: str) -> tuple[str, dict[str, str]]:
    """Return the direct object and the phrase after each preposition.

    "of" does not split, because it occurs in names ("Warden of the Salt Gate").
    """
    pieces = _PREPOSITION.split(_clean(segment))
    after: dict[str, str] = {}
    for preposition, phrase in zip(pieces[1::2], pieces[2::2], strict=True):
        after.setdefault(preposition.casefold(), _keep_count(phrase))
    return _keep_count(pieces[0]), after


def _clean(text: str) -> str:
    return _TRAIL.sub("", re.split(r"[.!?;]", text.strip())[0].strip())


def _keep_count(text: str) -> str:
    text = _TRAIL.sub("", text.split(",")[0].strip())
    return _DETERMINER.sub("", text).strip("\"' ")


def _noun(text: str) -> str:
    """Return a name or thing without its article or count."""
    text = _keep_count(_clean(text))
    count = _COUNT.match(text)
    return count[2] if count else text


def _owner(text: str) -> str:
    """Return the owner of a body part, such as the wolf for "the wolf's throat"."""
    return re.split(r"'s\b", _noun(text))[0].strip()


def _amount(text: str) -> Amount:
    count = _COUNT.match(text)
    if not count:
        return Amount(text)
    quantity = max(1, int(count[1]) if count[1].isdigit() else _NUMBERS[count[1].casefold()])
    name = count[2]
    if quantity > 1:
        name = re.sub(r"(?<=[^s])s(?= of\b)|(?<=[^s])s$", "", name, count=1)
    return Amount(name, quantity)
