"""Turns actions in a scene into prose and into the fields of a state block.

The narrator does not contradict the prompt. An item that is not in the inventory cannot be used, and characters who are
absent or dead do not answer. The fields contain exactly the changes that the prose tells.
"""

from __future__ import annotations

from saga_backends.chat.offline.answers import about_oneself, lore, past
from saga_backends.chat.offline.belongings import handle, has_tool
from saga_backends.chat.offline.intent import Act, Intent
from saga_backends.chat.offline.people import find
from saga_backends.chat.offline.scene import Scene, resolve
from saga_backends.chat.offline.telling import Telling, shortened
from saga_backends.chat.offline.voice import Voice
from saga_core.language import fold_name, mentions
from saga_core.state_block import BlockFields

WOUNDS = (15, 30, 5, 20)
"""The hit points that a fight costs. They depend on the variant, so they change with a swipe."""
REST = 10
_MOST_DEEDS = 8


def tell(intents: tuple[Intent, ...], scene: Scene, voice: Voice, variant: int) -> tuple[str, BlockFields]:
    """Return the prose and the fields for the player's actions, in order. The first impossible action ends the turn."""
    telling = Telling(scene, voice, variant)
    for intent in tuple(dict.fromkeys(intents))[:_MOST_DEEDS]:
        if not _do(telling, intent):
            break
    if not telling.prose:
        telling.line("idle")
    return " ".join(telling.prose), telling.fields()


def recap(scene: Scene, voice: Voice) -> str:
    """Return a short recap of the last message, for requests without the player's words."""
    last = next((text for text in reversed(scene.said) if text.strip()), "")
    return voice.say("side", 0, memory=shortened(last)) if last else voice.say("side_empty", 0)


def _do(telling: Telling, intent: Intent) -> bool:
    """Perform one action. Returns False if it was impossible, in which case later actions are skipped."""
    match intent.act:
        case Act.GO:
            return _go(telling, intent.place)
        case Act.LOOK:
            return _look(telling)
        case Act.REST:
            telling.mood = "calm"
            return telling.line("rest" if telling.heal(REST) else "rest_well")
        case Act.CONTINUE:
            return telling.line("continue")
        case Act.TALK | Act.THANK | Act.INSULT:
            return _address(telling, intent)
        case Act.PART:
            return _part(telling, intent.person)
        case Act.ATTACK:
            return _attack(telling, intent)
        case Act.ASK_LORE:
            return lore(telling, intent)
        case Act.ASK_PAST:
            return past(telling, intent)
        case Act.ASK_INVENTORY | Act.ASK_PLACE | Act.ASK_HP | Act.ASK_COMPANY:
            return about_oneself(telling, intent.act)
    return handle(telling, intent)


def _go(telling: Telling, place: str) -> bool:
    scene = telling.scene
    if resolve(place, scene.around):
        return _address(telling, Intent(Act.TALK, person=place))
    if here := resolve(place, [scene.place]):
        return telling.refuse("go_here", place=here)
    way = resolve(place, scene.ways) or next((name for name in scene.ways if fold_name(name) in fold_name(place)), "")
    far = _heard_of(scene, place)
    if scene.ways and not way and not far:
        return telling.refuse("go_nowhere", place=place, ways=telling.voice.listed(scene.ways))
    name = way or far or place
    telling.arrive(name)
    return telling.line("go" if way or not scene.ways else "go_far", place=name)


def _heard_of(scene: Scene, place: str) -> str:
    """Return the name of a place if anything in the prompt mentions it, although no way leads there."""
    entry = resolve(place, (name for name, _ in scene.lore))
    told = (*scene.earlier, *scene.related, *scene.said)
    return entry or next((place for text in told if mentions(text, place)), "")


def _look(telling: Telling) -> bool:
    scene, voice = telling.scene, telling.voice
    if not scene.place:
        return telling.line("look_blind")
    telling.line("look_place", place=scene.place)
    entry = dict(scene.lore).get(scene.place, "")
    if entry:
        telling.prose.append(shortened(entry))
    for key, names in (("look_present", scene.present), ("look_nearby", scene.nearby)):
        if names:
            telling.line(key, names=voice.listed(names))
    return telling.line("look_ways", ways=voice.listed(scene.ways)) if scene.ways else True


def _address(telling: Telling, intent: Intent) -> bool:
    who = find(telling, intent.person)
    if not who:
        return False
    telling.meet(who)
    if intent.act is Act.THANK:
        telling.feel(who, "friendly", 1)
        telling.mood = "relieved"
        return telling.line("thank", person=who)
    if intent.act is Act.INSULT:
        telling.feel(who, "hostile", -2)
        telling.mood = "tense"
        return telling.line("insult", person=who)
    saying = telling.voice.saying(who, telling.scene.place, telling.variant)
    return telling.line("talk", person=who) and telling.line("says", person=who, saying=saying)


def _part(telling: Telling, person: str) -> bool:
    scene = telling.scene
    who = resolve(person, scene.present)
    if not who:
        return telling.line("part_absent", person=resolve(person, scene.around) or person)
    telling.leave(who)
    return telling.line("part", person=who)


def _attack(telling: Telling, intent: Intent) -> bool:
    if intent.tool and not has_tool(telling, intent.tool):
        return False
    scene = telling.scene
    dead = resolve(intent.person, scene.dead) or (intent.person if telling.fell(intent.person) else "")
    if dead:
        return telling.refuse("already_dead", person=dead)
    who = find(telling, intent.person)
    if not who:
        return False
    somebody = who in scene.around or not scene.told
    if intent.deadly:
        telling.mood = "grim"
        telling.note("note_kill", person=who)
        if somebody:
            telling.fall(who)
        return telling.line("kill", person=who)
    telling.mood = "tense"
    telling.note("note_attack", person=who)
    if somebody:
        telling.meet(who)
        telling.feel(who, "hostile", -2)
    lost = telling.wound(WOUNDS[telling.variant % len(WOUNDS)])
    return telling.line("attack" if lost else "attack_spent", person=who)
