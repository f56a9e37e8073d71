"""Writes a plan as one text: the client's text unchanged, and SAGA's additions in the same template."""

from __future__ import annotations

from saga_core.messages import Frame, Origin, PromptPlan
from saga_core.text_prompt.reading import TextPrompt

_OWN = (Origin.RULES, Origin.WORLD, Origin.PAGES)


def write_prompt(plan: PromptPlan, prompt: TextPrompt) -> str:
    """Return the text of ``plan``, whose client blocks are the messages of ``prompt``.

    SAGA's rules, world and pages are at the end of the system part. Without additions, the result is the client's
    prompt.
    """
    own = "\n\n".join(block.text for block in plan.blocks if block.origin in _OWN)
    rest = [block for block in plan.blocks if block.origin not in _OWN]
    written = [prompt.start]
    for block in rest:
        frame = block.frame or prompt.frame(block.role) or Frame("", "\n\n", "system")
        text, lead = block.text, block.lead
        if own and frame.role == "system" and block.origin is Origin.CLIENT:
            text, own = _joined(text, own), ""
        elif own:
            system = prompt.frame("system")
            if system is None:  # no marks for system text: put it before the first message
                lead = _joined(own, lead)
            else:
                written.append(system.head + own + system.tail)
            own = ""
        if prompt.template.outside:
            written.append(_joined(lead, frame.head + text) + frame.tail)
        else:
            written.append(frame.head + _joined(lead, text) + frame.tail)
    if own:
        written.append(f"{own}\n\n")
    return "".join((*written, prompt.opening))


def _joined(one: str, other: str) -> str:
    return f"{one}\n\n{other}" if one and other else one or other
