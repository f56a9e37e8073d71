"""Patterns for English prose: actions, deaths, important facts."""

from __future__ import annotations

from saga_core.language.en.predicates import does
from saga_core.language.story import StoryWords

_ACTS = (
    r"says?|said|replie[sd]|answer(?:s|ed)|ask(?:s|ed)|shout(?:s|ed)|whisper(?:s|ed)|smile[sd]|laugh(?:s|ed)"
    r"|grin(?:s|ned)"
    r"|nod(?:s|ded)|walk(?:s|ed)|run[s]?|ran|step(?:s|ped)|turn(?:s|ed)|look(?:s|ed) (?:at|up|down|away|back"
    r"|over|around|to|into|out|from)|stare[sd]|glare[sd]"
    r"|point(?:s|ed)|hand(?:s|ed)"
    r"|give[s]?|gave|draw[s]?|drew|swing[s]?|swung|attack(?:s|ed)|strike[s]?|struck|slash(?:es|ed)|lunge[sd]"
    r"|stab(?:s|bed)|charge[sd]"
    r"|appear(?:s|ed)|arrive[sd]|enter(?:s|ed)|sit[s]?|sat|stand[s]?|stood|rise[s]?|rose|wave[sd]|follow(?:s"
    r"|ed)|join(?:s|ed)"
    r"|greet(?:s|ed)|open(?:s|ed)|shrug(?:s|ged)|mutter(?:s|ed)|sigh(?:s|ed)|snarl(?:s|ed)|growl(?:s|ed)"
    r"|pour(?:s|ed)|offer(?:s|ed)"
    r"|shakes?|shook|lean(?:s|ed)|chuckle[sd]|crosse[sd]|lift(?:s|ed)|raise[sd]|lower(?:s|ed)|push(?:es|ed)"
    r"|pull(?:s|ed)"
    r"|throw[s]?|threw|toss(?:es|ed)|grab(?:s|bed)|catch(?:es)?|caught|kneel[s]?|knelt|bow(?:s|ed)|beckon(?:s"
    r"|ed)|frown(?:s|ed)"
    r"|scowl(?:s|ed)|wink(?:s|ed)|sp(?:its|at)|roar(?:s|ed)|yell(?:s|ed)|scream(?:s|ed)|call(?:s|ed) (?:out|to"
    r"|for)|climb(?:s|ed)"
    r"|jump(?:s|ed)|leap[s]?|leapt|hurrie[sd]|rush(?:es|ed)|limp(?:s|ed)"
    r"|stride[s]?|strode|pace[sd]|tie[sd]|row(?:s|ed)"
    r"|g(?:o|e)ts? (?:up|to)|got (?:up|to)|went|came|comes|goes|took|takes|sets?|puts?|held|brings?|brought"
    r"|began|begins|spoke|speaks|woke|wakes|told|tells"
    r"|reache[sd]|clap(?:s|ped)|whistle[sd]|hum(?:s|med)|drink[s]?|drank|eat[s]?|ate|insist(?:s|ed)|warn(?:s"
    r"|ed)|explain(?:s|ed)"
)
_FIGHTS = (
    r"swing[s]?|swung|attack(?:s|ed)?|strike[s]?|struck|slash(?:es|ed)?|stab(?:s|bed)?|lunge[sd]?|charge[sd]?"
    r"|fight[s]?|fought"
    r"|parr(?:y|ies|ied)|shoot[s]?|shot|cut[s]? down|kick(?:s|ed)?|punch(?:es|ed)?|hack(?:s|ed)?|thrust[s]?"
    r"|smash(?:es|ed)?|hew[s]?|block(?:s|ed)?"
)
_DIED = (
    r"(?:\s+\w+ly)?\s+(?:is dead|dies|died|is killed|was killed|is slain"
    r"|was slain|has died|breathes (?:his|her|their) last)\b"
)
_ALONE = (
    r"(?<!named )(?<!called )(?<!of )(?<!by )(?<!than )(?<!like )(?<!about )"
    r"(?<!what )(?<!that )(?<!which )(?<!whom )(?<!how )"
)


def _acting(named: str, fighting: bool) -> str:
    verbs = _FIGHTS if fighting else _ACTS
    return rf"{_ALONE}(?<!\w)(?:{named})(?:\s+\w+ly)?(?:\s+then)?\s+(?:{verbs})\b"


def _saying(named: str) -> str:
    return rf"[\"”]\s*(?:said|says|[a-z]+(?:ed|s))\s+(?:{named})\b"


def _dying(named: str) -> str:
    return rf"\b(?:{named}){_DIED}"


def _staying(named: str, where: str) -> str:
    return (
        rf"(?i:\b(?:{named})\s+(?:is|was|waits?|waited|sits?|sat|stands?|stood|stays?|stayed|sleeps?|remains?)\b"
        rf"[^.!?\n]{{0,16}}\b(?:in|at|inside|outside)\s+(?:the\s+)?{where}\b)"
    )


def _you_fighting(named: str) -> str:
    return rf"\b(?:you|{named})\b(?:\s+\w+ly)?\s+(?:{_FIGHTS})\b"


STORY = StoryWords(
    died=r"\b(?:dead|died|dies|killed|slain|death)\b",
    bonds=(
        r"\b(?:promis\w*|swear|sw?ore|oath|vow\w*|pact|owe[sd]?|debt|repay|revenge|betray\w*|wound\w*|injur\w*"
        r"|scar\w*|poison\w*|curs\w*|secret|identity|marr\w*|betroth\w*|prophec\w*|clue|key)\b"
    ),
    owed=r"\b(?:owe[sd]?|owing|in debt|indebted|debts?|on credit|i\.?o\.?u)\b",
    settled=(
        r"\b(?:settle[sd]?|repa(?:ys|id)|(?:pa(?:ys|id)|given|gives|gave) (?:\w+ ){0,3}back|paid (?:off|up|in full)"
        r"|pa(?:ys|id) (?:\w+ ){0,3}(?:whole|full|everything)"
        r"|pa(?:ys|id) (?:\w+ ){0,8}in full|(?:has|have|had) paid for|quits|all square"
        r"|(?:struck|crossed) out|wiped clean|debt (?:is|was) (?:paid|forgiven|cancell?ed|cleared)"
        r"|owes? (?:\w+ )?nothing|nothing (?:is )?owed|no longer owes?)\b"
    ),
    partly=(
        r"\b(?:half|part(?:ly|ial\w*)?|some of|first|instal\w+|still|yet|rest|remain\w*|not|never|until|unless|if|when"
        r"|promis\w+|will|wants?|must|has to|have to|offers?|refus\w+)\b|n['’]t\b"
    ),
    still_owed=r"\bstill owes?\b",
    negation=r"\b(?:not|no|never|none|nobody|nothing|without|neither|nor|\w+n['’]t)\b",
    stacked=(
        r"\b(?:potions?|arrows?|coins?|gold|silver|bread|herbs?|torch(?:es)?|rations?|bandages?|bolts?"
        r"|bullets?|food|water|ale|wine|gems?|apples?|money|meat|ore|seeds?|bombs?|keys? copies|rope"
        r"|candles?)\b"
    ),
    hostile=r"hostil|enem|hate|hatred|foe|nemesis|rival|betray|despis|loath|vengeful|resent",
    friendly=r"friend|ally|allied|allies|love|lover|trust|loyal|devot|affection|companion|admir|grateful",
    reasons=(
        r"\b(?:because|since|forg(?:ive|ave|iven)|betray\w*|sav(?:e|ed|es|ing)|rescue\w*|help\w*|apolog\w*"
        r"|confess\w*|truth|secret|lied?|lies|lying|reveal\w*|gift|debt|reveng\w*|kill\w*|insult\w*|mock\w*"
        r"|stole|steal\w*|threat\w*|swear|sw?ore|promis\w*|thank\w*|curs\w*|charm\w*|enchant\w*|tears?|duel"
        r"|recogni[sz]\w*|attack\w*|stab\w*|hit|struck|abandon\w*|misunderst\w*|spare[ds]?|defend\w*"
        r"|protect\w*|reconcil\w*)\b"
    ),
    travel=(
        r"\b(?:follow\w*|caught up|catches up|catch up|arriv\w*|join\w*|came after|hurried|returned"
        r"|teleport\w*|rode|rides|ahead of|already there|portal)\b"
    ),
    unreal=(
        r"\b(?:memor(?:y|ies)|remember\w*|recall\w*|dream\w*|nightmare|ghost\w*|spirit\w*|vision\w*"
        r"|illusion\w*|hallucinat\w*|flashback|once upon|years ago|long ago|portrait|statue|imagin\w*|twin"
        r"|disguise\w*|letter|diary|journal|song|legend|used to|back then|echo\w*|apparition|seance)\b"
    ),
    body=(
        r"\b(?:corpse|body|bodies|grave\w*|tomb\w*|remains|coffin|funeral|carcass|buried|lifeless|cold hand"
        r"|empty eyes|unseeing|sightless|glassy|dead eyes)\b"
    ),
    revived=(
        r"\b(?:resurrect\w*|reviv\w*|brought back|back from the dead|came back to life|alive after all|undead"
        r"|zombie\w*|necroman\w*|not dead|faked|survived|still breath\w*|reanimat\w*)\b"
    ),
    helpless=(
        r"\b(?:unconscious|faint\w*|collaps\w*|carried|carries|dragged|dream\w*|vision\w*|heal\w*|recover\w*"
        r"|reviv\w*|wakes?|woke|awak\w*|potion|stretcher)\b"
    ),
    untrue=(
        r"\b(?:nobody|no one|none|never|no longer|cannot|can't|would|could|should|if|as if|as though|had|once"
        r"|won't|will not|didn't|does not|rumou?r)\b"
    ),
    acting=_acting,
    does=does,
    saying=_saying,
    dying=_dying,
    staying=_staying,
    you_fighting=_you_fighting,
    fights=rf"\b(?:{_FIGHTS})\b",
)
