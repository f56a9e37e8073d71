"""The English adventure, Harrow Staithe: across the drowned quay to the captain's hulk and back."""

from __future__ import annotations

from saga_server.demo.adventure import Adventure, Expected, Step

_START = {
    "sounding staff": 1,
    "Tide Table": 1,
    "brass lantern": 1,
    "pan of salt coin": 3,
    "dry biscuit": 2,
}
_SHOPPED = {**_START, "pan of salt coin": 2, "Brine Salve": 2}
_SHOD = {**_SHOPPED, "Reed Stilts": 1}
_HEALED = {**_SHOD, "Brine Salve": 1}
_CORIN = "Corin Fenwright"
_DORCAS = "Dorcas Quill"
_VEY = "Captain Lucan Vey"

STEPS = (
    Step(1, "send", "I look around.", stream=True, expected=Expected(place="Ferry Steps", hp=100, inventory=_START)),
    Step(
        2,
        "send",
        'I greet Corin. "The tide table is wrong. I have come to see by how much."',
        stream=True,
        expected=Expected(present=frozenset({_CORIN}), says=(_CORIN,)),
    ),
    Step(3, "send", "I ask Corin about the Long Tide.", expected=Expected(says=("orty years",))),
    Step(
        4,
        "send",
        "I say goodbye to Corin and go to Rope Quay.",
        stream=True,
        expected=Expected(place="Rope Quay", present=frozenset()),
    ),
    Step(5, "send", "I enter the Brine House.", expected=Expected(place="The Brine House")),
    Step(
        6,
        "send",
        "I pay Dorcas a pan of salt coin for two jars of brine salve.",
        remark="A trade with quantities.",
        expected=Expected(inventory=_SHOPPED, present=frozenset({_DORCAS})),
    ),
    Step(
        7,
        "send",
        "I take leave of Dorcas and return to Ferry Steps.",
        expected=Expected(place="Ferry Steps", present=frozenset()),
    ),
    Step(8, "send", "I walk into the Slakes.", stream=True, expected=Expected(place="The Slakes")),
    Step(9, "send", "I go to the Hulk of the Patience.", expected=Expected(place="Hulk of the Patience")),
    Step(10, "send", "I approach Captain Vey.", stream=True, expected=Expected(present=frozenset({_VEY}))),
    Step(11, "send", "I strike Captain Vey with the sounding staff.", stream=True, expected=Expected(hp=85)),
    Step(
        12,
        "swipe",
        remark="The same request again, and the second reply is kept. The damage must not add up.",
        stream=True,
        expected=Expected(hp=70, inventory=_SHOPPED),
    ),
    Step(
        13,
        "branch",
        "I offer Captain Vey a dry biscuit.",
        at=10,
        remark="Back to before the fight, and another way.",
        expected=Expected(hp=100, place="Hulk of the Patience"),
    ),
    Step(
        14,
        "send",
        "I pick up the silver compass.",
        expected=Expected(hp=100, inventory={**_SHOPPED, "dry biscuit": 1, "silver compass": 1}),
    ),
    Step(
        15,
        "return",
        "I look around.",
        stream=True,
        remark="Back on the main path. The compass is not here, and both biscuits are.",
        expected=Expected(hp=70, inventory=_SHOPPED, present=frozenset({_VEY})),
    ),
    Step(
        16,
        "kill",
        "I take the reed stilts from Captain Vey.",
        stream=True,
        remark="As soon as the reply has ended the server is killed (SIGKILL), and started again on the same data.",
        expected=Expected(hp=70, inventory=_SHOD),
    ),
    Step(
        17,
        "send",
        "What do I carry?",
        expected=Expected(inventory=_SHOD, hp=70, says=("Reed Stilts", "2 × Brine Salve"), silent=("silver compass",)),
    ),
    Step(18, "send", "I apply a jar of brine salve.", stream=True, expected=Expected(hp=100, inventory=_HEALED)),
    Step(
        19,
        "send",
        "I deliver the final blow to Captain Vey with the sounding staff!",
        stream=True,
        expected=Expected(dead=frozenset({_VEY}), present=frozenset(), hp=100),
    ),
    Step(20, "send", "I go back to the Slakes.", expected=Expected(place="The Slakes")),
    Step(21, "send", "I return to Ferry Steps.", stream=True, expected=Expected(place="Ferry Steps")),
    Step(22, "send", "I thank Corin.", expected=Expected(present=frozenset({_CORIN}))),
    Step(
        23,
        "send",
        "What did Corin say about false names?",
        remark="That was turn 2. It has left the frontend's window and is no longer sent.",
        expected=Expected(repeats=2),
    ),
    Step(
        24,
        "send",
        'I call out to Captain Vey. "Answer me, captain!"',
        stream=True,
        remark="The dead do not answer.",
        expected=Expected(dead=frozenset({_VEY}), present=frozenset({_CORIN}), silent=(f"{_VEY} says",)),
    ),
)

ADVENTURE = Adventure(
    language="en",
    world="harrow",
    title="Harrow Staithe",
    player="Nell Askerry",
    card=(
        "You are the storyteller of Harrow Staithe. Write the next scene for the player, Nell Askerry.",
        "Keep it short and dry, and leave what Nell thinks and says to the player.",
        "[A new chat begins]",
    ),
    greeting="Ferry Steps, four of them dry. The punt knocks against the stone and the ferryman does not look up. "
    "Out on the mole the lamp is dark.",
    after="[Three sentences at most.]",
    window=8,
    steps=STEPS,
    final=Expected(
        place="Ferry Steps",
        hp=100,
        inventory=_HEALED,
        present=frozenset({_CORIN}),
        met=frozenset({_CORIN, _DORCAS, _VEY}),
        relations={
            "Ives Thackery": ("correspondent", 1),
            _VEY: ("hostile", -2),
            _CORIN: ("friendly", 1),
        },
        dead=frozenset({_VEY}),
    ),
    nowhere="silver compass",
)
