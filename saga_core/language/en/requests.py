"""Instructions of frontends in English. Most presets are in English, whatever the language of the story."""

from __future__ import annotations

from saga_core.language.requests import RequestWords

_IMPERSONATION = r"write your next reply from the point of view of\b"

REQUESTS = RequestWords(
    goes_on=r"\bcontinue\b.{0,40}\b(?:message|reply|response|story|writing)\b",
    next_speaker=r"\bnext reply\b.{0,20}\b(?:only )?as\b",
    line_of=r"\bas NAME(?!\w)",
    tool=(
        r"(?:you are|role\W{1,4}) ?(?:(?:a|an|the) )?(?:[\w-]+ ){0,3}"
        r"(?:translator|summari[sz]er|classifier|proofreader|title generator)\b"
        r"(?!['’]|,? (?:who|named|called|in|at|from)\b)"
        r"|(?:translate|summari[sz]e|classify) the "
        r"(?:following|given|user|text|message|input|emotion|mood|sentiment|expression|conversation|chat)\b"
        r"|from the (?:list|options) below, (?:choose|select|pick)"
        r"|review (?:the )?past conversations and (?:suggest|infer)\b"
        r"|depending on the conversation history\b"
        r"|suggest (?:\d[\d-]* |some |several )(?:[\w-]+ ){0,4}(?:responses|replies|options)\b"
        r"|you are an assistant skilled in conversation\b"
    ),
    payload=(
        r"(?:please )?(?:translate|summari[sz]e|classify|proofread|paraphrase) (?:the|this) "
        r"(?:following|above|text|message|chat|conversation|dialogue|passage)"
    ),
    task=(
        r"(?:please )?(?:translate|summari[sz]e|classify|proofread|paraphrase)\b"
        r"|(?:#{1,6} ?task:?\s{1,4})?(?:please )?(?:generate|create|write|suggest|provide) (?:(?:a|an|the) )?"
        r"(?:[\w,-]+ ){0,6}(?:title|image prompt|tags?|follow-?up (?:questions|prompts)|search quer(?:y|ies))\b"
        r"|#{1,6} ?task:?\s{1,4}analy[sz]e the chat history\b"
        r"|your task is to reflect the speaker\b"
        r"|you are an? (?:[\w-]+ ){0,2}(?:summari[sz]ation|summari[sz]ing|classification|captioning) "
        r"(?:assistant|engine|tool|model|expert)\b"
        r"|(?:what(?:['’]s| is) in|describe) this (?:image|picture|photo)\b"
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
        r"(?:summari[sz]e|classify|describe|provide|translate|determine"
        r"|(?:generate|create|write) (?:a|an|the) (?:[\w-]+ ){0,3}(?:list|summary|title|description|prompt))\b",
        r"in the next response i want you to provide only\b",
        r"(?:suggest|generate|create|write|come up with) (?:a|an|the) (?:[\w-]+ ){0,4}title for (?:this|the) "
        r"(?:chat|conversation|story|role-?play)\b",
        r"summari[sz]e the ongoing role ?-?(?:play)? ?story\b",
        r"re-?summari[sz]e (?:this|these|the) summar",
        r"your next response must be formatted as a (?:single )?(?:[\w-]+ )?list\b",
        r"based on the (?:chat|conversation) history, (?:give|suggest|generate|write)\b",
    ),
)
