"""English verbs, matched as whole words and regardless of case."""

from __future__ import annotations

import re

from saga_backends.chat.offline.intent import Act
from saga_backends.chat.offline.verbs import Verb

_BLOW = r"(?:final|last|killing|finishing|death|fatal)[ -]?(?:blow|strike|stroke)"
_WAY = r"(?:(?:back|out|over|down|up|on|off|straight|quickly|slowly)\s+)*"
_WALK = (
    r"(?:go|goe|walk|head|travel|return|run|ride|sail|row|march|climb|hurry|hurrie|move|step|set|come|"
    r"make (?:my|our) way)"
)


def _verb(act: Act, *forms: str, deadly: bool = False) -> Verb:
    return Verb(act, re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE), deadly)


VERBS: tuple[Verb, ...] = (
    _verb(
        Act.ATTACK,
        rf"(?:deliver|deal|give|land|strike)s? (?:the|a|my|one) {_BLOW}(?: (?:to|on|at|against))?",
        r"kills?|slays?|finish(?:es)?(?: off)?|cuts? down|beheads?|executes?",
        r"puts? an end to|ends? the life of",
        deadly=True,
    ),
    _verb(
        Act.ATTACK,
        r"attacks?|(?:strikes?|slash(?:es)?|shoots?)(?: at)?|hits?|stabs?|fights?|punch(?:es)?",
        r"(?:charges?|swings?|lunges?) at",
    ),
    _verb(
        Act.PART,
        r"parts? (?:ways )?(?:from|with)|says? (?:goodbye|good-bye|farewell) to|farewell to|takes? (?:my )?leave of",
        r"bids?(?= .*farewell)|leaves?(?= .*behind)|sends?(?= .*(?:away|home))",
    ),
    _verb(Act.GO, rf"{_WALK}s? {_WAY}(?:to|into|towards?|for)", r"enters?|visits?|leaves? for"),
    _verb(
        Act.LOOK,
        r"looks? (?:around|about)|takes? a look(?: around)?|examines?|inspects?|observes?|surveys?|study",
    ),
    _verb(Act.BUY, r"buys?|purchases?"),
    _verb(
        Act.THANK,
        r"thanks?|praises?|compliments?|gives? thanks to|express my (?:thanks|gratitude) to",
    ),
    _verb(Act.INSULT, r"insults?|mocks?|curses?(?: at)?|taunts?|spits? (?:at|on)|ridicules?"),
    _verb(
        Act.TALK,
        r"(?:talks?|speaks?|chats?) (?:to|with)|greets?|meets?|approach(?:es)?|says? (?:hello )?to",
        r"introduce myself to|turns? to|asks?|tells?|hails?|(?:waves?|shouts?) (?:to|at|for)",
        r"calls?(?: out)?(?: (?:to|for))?",
    ),
    _verb(
        Act.TAKE,
        r"takes?|picks? up|grabs?|finds?|receives?|accepts?|collects?|pockets?|obtains?|loots?|gathers?|digs? up",
        r"gets?(?! up| out| away| back| off)",
    ),
    _verb(
        Act.GIVE,
        r"gives?|offers?|pass(?:es)?|pays?|entrusts?|delivers?|returns?(?= .* to )",
        r"(?<!his )(?<!her )(?<!my )(?<!the )(?<!your )(?<!a )hands?(?: over)?",
    ),
    _verb(Act.DROP, r"drops?|discards?|throws? away|loses?|toss(?:es)? away|puts? down"),
    _verb(Act.DRINK, r"drinks?|eats?|swallows?|quaffs?|appl(?:y|ies)|consumes?|sips?"),
    _verb(Act.WIELD, r"uses?|swings?|wields?|brandish(?:es)?|draws?|raises?|lights?"),
    _verb(
        Act.REST,
        r"(?<!the )rests?|sleeps?|naps?|takes? a (?:short |long )?(?:rest|nap|break)|goe?s? to (?:sleep|bed)",
        r"(?:make|set up|pitch) camp|catch my breath|lie down",
    ),
    _verb(Act.CONTINUE, r"continues?|go on|carry on|keep going"),
)
