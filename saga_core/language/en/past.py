"""English words for time and for remembering."""

from __future__ import annotations

from saga_core.language.past import PastWords

_NUMBERS = {
    word: number
    for number, words in enumerate(("", "a one", "two couple", "three few", "four", "five", "six", "seven", "eight"))
    for word in words.split()
} | {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
_COUNT = rf"(?P<number>{'|'.join(_NUMBERS)}|\d{{1,3}}) (?:of )?(?P<unit>day|night|morning|evening|week|month)s?"
_SENTENCE = r"(?:^|[.!…\n”\"'*)] ?)\s{0,8}+"
_TOLD = r"(?:^|[.!?…\n”\"'’*)] ?)\s{0,8}+"

_MONTHS = {month: number for number, month in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"[0-3]?\d(?:st|nd|rd|th)?"
_COUNTS = (
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)(?:teen|ty)"
    r"|twenty|forty|hundred|thousand|half|dozen|once|twice"
)

PAST = PastWords(
    asking=(
        r"\b(?:who|whom|whose|what|which|when|where|why|how|remember|recall|remind|reminds|forget|forgot|forgotten|ago|"
        r"earlier|yesterday|formerly|once|promised|before|last (?:time|night|day|week|month|year|summer|winter))\b"
    ),
    asking_unmarked=(
        # "Would Mara like it", "do you still have the key", "Tell me of the war", "Name the kings of the north".
        rf"{_SENTENCE}(?:(?:and|but|so|or) )?"
        r"(?:(?:did|does|is|are|was|were|has|had|would|could|should) (?!not\b|be\b)\w"
        r"|(?:do|have) (?:you|we|they|i|any|the|her|his|my|our|their)\b"
        r"|(?:(?:please|now),? )?(?:tell (?:me|us)|(?:name|list) (?:the|all|every|any|some|one|two|three)"
        r"|describe|explain|summari[sz]e|recount|identify)\b)"
    ),
    ago=rf"\b{_COUNT} (?:ago\b|(?:before|earlier|back)(?=\s*(?:[,;.?!]|$)))",
    numbers=_NUMBERS,
    units={"day": 1, "night": 1, "morning": 1, "evening": 1, "week": 7, "month": 30},
    named_days=(
        (r"day before yesterday", 2),
        (r"\byesterday\b|\blast (?:night|evening)\b", 1),
        (r"\blast week\b", 7),
        (r"\blast month\b", 30),
    ),
    meeting=(
        r"\bfirst (?:met|meet|saw|see|encounter\w*|came across)\b|\bmet\b[^.?!]{0,200}\bfirst time\b"
        r"|\b(?:day|time|when) (?:we|i|you) met\b"
    ),
    beginning=(
        r"\b(?:in|at|from) the (?:very )?(?:beginning|start|outset)\b"
        r"(?! of (?!(?:the|this|our) (?:story|tale|journey|adventure|game)))"
        r"|\bwhen (?:we|i|it|this|all this|everything|our \w+) (?:all )?(?:first )?(?:began|started|set out|arrived)\b"
        r"(?! (?:to|at|in|on|with|for|home|there|by|\w+ing)\b)"
    ),
    latest=r"\b(?:the )?(?:last|previous|other) time\b|\bmost recently\b",
    # Matches "On March 16, 2023" and "the 16th of March", but not "we march 10 miles".
    date=(
        rf"\b(?:(?P<month1>{_MONTH})\.? (?:the )?(?P<day1>{_DAY})\b(?! ?(?::|miles|leagues|hours|days|steps|men\b))"
        rf"(?:,? (?P<year1>[12]\d{{3}})\b)?"
        rf"|(?P<day2>{_DAY}) (?:of )?(?P<month2>{_MONTH})\b(?:,? (?P<year2>[12]\d{{3}})\b)?)"
    ),
    months=_MONTHS,
    asks_amount=r"\bhow (?:many|much|old|tall|big|far|heavy|often)\b|\bwhat (?:age|number|price)\b",
    asks_when=(
        r"\bwhen\b|\bhow (?:long|soon)\b"
        r"|\b(?:what|which) (?:time|year|day|date|month|week|weekday|season)\b"
    ),
    amount=rf"\d|\b(?:{_COUNTS})\b",
    moment=(
        rf"\b(?:{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|yesterday|tomorrow|tonight|weekend|noon|midnight"
        r"|(?:next|last|this) (?:week|month|year)|spring|summer|autumn|winter|christmas|easter)\b"
    ),
    other_story=r"\bour (?:very )?(?:last|previous|other|earlier|former|past|first|old) "
    r"(?:stor(?:y|ies)|adventures?|campaigns?|chats?|sessions?|playthroughs?|role-?plays?|rps?|tales?|games?)\b"
    r"|\b(?:the|that|my) (?:last|previous|other|earlier|former) "
    r"(?:stor(?:y|ies)|adventure|campaign|chat|session|playthrough|role-?play|rp)\b"
    r"|\b(?:in|from) another (?:story|adventure|campaign|chat|session|playthrough|role-?play|rp)\b"
    r"|\b(?:story|adventure|campaign) (?:that )?we (?:played|told|wrote|had) (?:before|last|previously|earlier)\b",
    hints=(
        *("ago", "before", "earlier", "back", "yesterday", "last", "first", "met", "beginning", "start", "outset"),
        *("began", "arrived", "set out", "previous", "other time", "recently"),
    ),
    later=(
        rf"{_TOLD}(?:(?:it (?:is|was) )?(?:the )?(?:next|following) (?:day|morning|dawn)\b"
        r"|(?:at|by) (?:dawn|daybreak|sunrise)\b|(?:morning|dawn) (?:comes|came|breaks|broke|finds|found)\b"
        rf"|{_COUNT} (?:later|pass|passed|go by|went by)\b)"
    ),
    turn=("Turn",),
    dated=r"(?P<rest>\d{1,2} [A-Z][a-z]+) (?P<year>\d{1,9})",
)
