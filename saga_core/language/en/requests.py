"""What frontends ask in English: most presets are English whatever the story is told in."""

from __future__ import annotations

from saga_core.language.requests import RequestWords

_IMPERSONATION = r"write your next reply from the point of view of\b"

REQUESTS = RequestWords(
    goes_on=r"\bcontinue\b.{0,40}\b(?:message|reply|response|story|writing)\b",
    next_speaker=r"\bnext reply\b.{0,20}\b(?:only )?as\b",
    tool=(
        r"you are (?:a|an|the) (?:[\w-]+ ){0,3}(?:translator|summari[sz]er|classifier|proofreader|title generator)\b"
        r"|(?:translate|summari[sz]e|classify) the (?:following|given|user|text|message|input)"
        r"|from the (?:list|options) below, (?:choose|select|pick)"
    ),
    payload=(
        r"(?:please )?(?:translate|summari[sz]e|classify|proofread|paraphrase) (?:the|this) "
        r"(?:following|above|text|message|chat|conversation|dialogue|passage)"
    ),
    task=(
        r"(?:please )?(?:translate|summari[sz]e|classify|proofread|paraphrase)\b"
        r"|(?:please )?(?:generate|create|write|suggest) (?:a|an|the) (?:[\w-]+ ){0,4}(?:title|image prompt|tags?)\b"
    ),
    nudges=(
        r"continue (?:the|your|from) (?:following|last|previous|above)\b",
        r"write (?:the next|1|one) repl(?:y|ies)\b",
    ),
    impersonation=(_IMPERSONATION,),
    errands=(
        _IMPERSONATION,
        r"in (?:the|your) next (?:response|reply)\b",
        r"(?:summari[sz]e|translate|classify)\b",
        r"generate (?:a|an|the) (?:[\w-]+ ){0,4}(?:title|image prompt|summary|list)\b",
    ),
    stops=(
        r"(?:pause|stop) (?:your|the|this) role-?play\b",
        r"ignore (?:all )?(?:the )?previous instructions\W+(?:and |please )*"
        r"(?:summari[sz]e|classify|describe|provide)\b",
        r"in the next response i want you to provide only\b",
        r"(?:suggest|generate|create|write|come up with) (?:a|an|the) (?:[\w-]+ ){0,4}title for (?:this|the) "
        r"(?:chat|conversation|story|role-?play)\b",
        r"summari[sz]e the ongoing role ?-?(?:play)? ?story\b",
    ),
)
