"""The narrator's English. Each line has variants, and a swipe takes the next; ``{word:a}`` adds the article."""

from __future__ import annotations

from collections.abc import Mapping

LINES: Mapping[str, tuple[str, ...]] = {
    "idle": (
        "A gust passes through, and for a moment the world holds its breath.",
        "Somewhere a pebble rolls down a slope; then it is quiet again.",
        "A cloud covers the sun and slowly moves on.",
    ),
    "continue": (
        "The story draws its next slow breath.",
        "A little time goes by, and the shadows grow by a hand.",
    ),
    "go": (
        "You make your way to {place}. Your footsteps get there first; the view follows.",
        "You follow the path, and before long {place} opens up before you.",
    ),
    "go_far": ("It is a long way round to {place}. The light is going when you arrive.",),
    "go_here": ("You are at {place} already.",),
    "go_nowhere": ("No way from here leads to {place}. The ways that do lead on: {ways}.",),
    "look_place": ("This is {place}.", "You breathe in the air of {place} and look about you slowly."),
    "look_blind": ("You look around. Nothing here is familiar.",),
    "look_present": ("With you: {names}.",),
    "look_nearby": ("Close by you see {names}.",),
    "look_ways": ("The ways from here lead to {ways}.",),
    "look_dead": ("The body of {names} lies still.",),
    "talk": (
        "{person} looks up at you.",
        "{person} stops working and turns round.",
        "The eyes of {person} narrow for a moment.",
    ),
    "says": ('"{saying}" says {person}.',),
    "absent": ("You look about for {person}, who is not here.",),
    "dead": (
        "{person} does not answer. The dead do not.",
        "You call, and only the wind calls back. {person} is dead.",
    ),
    "part": ("{person} nods and turns away. Two roads part here.",),
    "part_absent": ("{person} is not walking with you. There is nothing to part from.",),
    "take": ("You take {item:a} and keep it safe.", "You pick up {item:a}."),
    "take_from": ("{person} hands you {item:a}.",),
    "buy": ("{person} counts the price and hands you {item:a}.",),
    "buy_alone": ("You pay, and {item:a} changes hands.",),
    "short": ("You count, and count again: not enough {item}. There is no deal.",),
    "give": ("{person} takes {item:a} from you with both hands.",),
    "lacking": (
        "You reach for it, but there is no {item}.",
        "You search every pocket. You carry no {item}.",
    ),
    "drink": ("You drink {item:a}. Warmth spreads to your fingertips.",),
    "drink_well": ("You drink {item:a}. There was nothing to heal; only the bitterness stays.",),
    "wield": ("{item:A} hums in your grip.",),
    "attack": (
        "You throw yourself at {person}. It is short and rough, and as you break away your side burns.",
        "{person} moves first. Blood wells from a deep cut.",
        "You and {person} go down together. When you get free your arm is shaking.",
    ),
    "attack_spent": ("A blow from {person} takes your knees. You have no strength left to lose.",),
    "kill": (
        "{person} breathes one last time. Everything falls silent.",
        "A single movement, and {person} sinks down, dead.",
    ),
    "already_dead": ("{person} is dead already. There is nothing left to strike.",),
    "rest": (
        "You lie down and get your breath back. The pain steps back one pace.",
        "You sleep beside the fire and wake lighter than you lay down.",
    ),
    "rest_well": ("You rest a while, and your mind grows still.",),
    "thank": ("The face of {person} softens a little.", "{person} bows without a word."),
    "insult": ("The mouth of {person} hardens. The air turns cold.",),
    "drop": ("You put {item:a} down and turn away.",),
    "inventory": ("You go through your things, one by one: {items}.",),
    "inventory_empty": ("You go through your things. There are none.",),
    "inventory_unknown": ("You try to think what you have on you, but it will not come.",),
    "where": ("This is {place}.",),
    "where_unknown": ("You cannot tell where you are.",),
    "hp": ("You feel for wounds. You have {hp} HP left.",),
    "hp_unknown": ("You feel for wounds, but cannot tell how long you would last.",),
    "company": ("With you: {names}.",),
    "company_none": ("There is nobody with you.",),
    "past": ("You think back. {memory}",),
    "past_unknown": ("You think back, but nothing comes to mind.",),
    "lore": ("This is what is known of {topic}. {text}",),
    "lore_told": ('"{text}" says {person} quietly.',),
    "lore_unknown": ("You have never heard anything of {topic}.",),
    "lore_untold": ("{person} shakes a head: nothing to tell about {topic}.",),
    "side": ("The story so far: {memory}",),
    "side_empty": ("The story has not begun yet.",),
}

SAYINGS: tuple[str, ...] = (
    "Be back before the moon goes down. The night road likes things that look like people.",
    "When the water goes quiet, run. Don't ask. Run.",
    "Bar the door at the third bell.",
    "Keep the white stones on your left. On your right they lead you round in a ring.",
    "Whoever asks your name first, give them a false one.",
    "Three crows are nothing. At four, turn back.",
    "Don't go into a house with its lamps lit. Nobody lives there.",
    "Leave the west well alone. It makes the dreams long.",
    "Whoever names a price first has lost. Always.",
    "If you see two shadows, put the sun behind you.",
)

WORDS: Mapping[str, str] = {
    "player": "player",
    "and": ", ",
    "someone": "the seller",
    "death": "the death of {name}",
    "death_marks": "breathes one last time|sinks down, dead|is dead",
    "note_go": "went to {place}",
    "note_kill": "{person} fell",
    "note_met": "met {person}",
    "note_attack": "fought {person}",
}
