"""English phrases that name the player's character."""

from __future__ import annotations

from saga_core.language.persona import ABBREVIATED, NAME_PATTERN, PersonaWords, before, behind, bracketed, headed

_CAPITAL = r"[A-Z][\w'’-]{0,24}"
_MINE = "me|my character|player(?: character)?|user|pc"

PERSONA = PersonaWords(
    between=(
        before(
            r"\b(?:chat|role-?play|conversation|story|scene) between ", rf"(?P<all>(?:{ABBREVIATED}|[^\n.!?]){{3,200}})"
        ),
    ),
    about=(
        behind(r"['’]s persona\b", rf"(?:^|[\[\n.:(]\s*)(?P<name>{NAME_PATTERN})$"),
        headed(
            r"(?:the )?(?:player(?: character)?|protagonist|user|persona|pc)(?:['’]s)?"
            r"(?: (?:character|persona|profile|sheet|info(?:rmation)?|description))?",
            rf"(?P<name>{_CAPITAL}(?: (?:{_CAPITAL}|of|the|de|von|van)){{0,3}}?)\**"
            r"(?=[ \t]*(?:$|[\n,(;|—–]|- )| (?:is|was|has|had|comes|came|works|lives)\b|['’]s\b)",
            "(?:full )?name",
        ),
        bracketed(_MINE, rf"(?P<name>{_CAPITAL}(?: {_CAPITAL}){{0,3}}?)\**(?=[ \t]*(?:$|[\n,.(;|—–]|- ))"),
        before(r"\bpersona (?:of|for|named) "),
        before(r"\buser(?:'s name is|['’]s character is| is (?:named|called)| plays(?: as)?) "),
        before(r"\b(?:every|all) (?:other )?characters? (?:except|but|other than)(?: for)? "),
        before(
            r"\b(?:do not|don['’]t|never) (?:write|speak|act|talk|decide)"
            r"(?:,? (?:or )?(?:speak|act|talk|decide))? (?:for|as) "
        ),
        before(
            r"\b(?:do not|don['’]t|never) (?:write|control) ",
            rf"(?P<name>{NAME_PATTERN})['’]s (?:lines|actions|dialogue|words)",
        ),
    ),
    mine=_MINE,
    own=(
        r"\b(?:[Mm]y name is|[Mm]y name['’]s|[Cc]all me|[Tt]he name['’]s|I am called|[Tt]hey call me) "
        r"(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)",
        r"\A[\s\"“'‘*_]*(?P<name>[A-Z][a-z'’-]{1,20})\.[\"”]? I\b",
    ),
    claims=(
        r"\b(?:I['’]m|I am|[Ii]t['’]s|[Tt]his is) (?P<name>[A-Z][\w'’-]{1,24}(?: [A-Z][\w'’-]{1,24})?)"
        r"(?=[.,!?…;:\"”*]|['’](?!\w)|\s*\Z)",
        r"\A[\s\"“'‘*_]*(?P<name>[A-Z][a-z'’-]{1,24} [A-Z][a-z'’-]{1,24})[.,]",
    ),
    noted=(
        r"\b(?:[Uu]ser|[Pp]layer|PC|MC|[Pp]rotagonist|[Mm]ain character)(?: character)?(?:['’]s)? "
        r"(?:(?:real|true|full|actual|given|character|last|first) ){0,2}(?:name(?: is|:| =)|is (?:named|called)) "
        rf"[\"“'‘]?(?P<name>{_CAPITAL}(?: {_CAPITAL}){{0,2}})",
    ),
    no_names=frozenset(
        "the a an this that these those your my our his her their its him them they he she it you we i one any all "
        "every each other others another someone somebody anyone who what when where if no not never always do does "
        "is are be male female man woman human user player protagonist character persona name age".split()
    ),
)
