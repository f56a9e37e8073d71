"""Writes a plan as one text again: what the client sent in its own bytes, and what SAGA adds in the same template."""

from __future__ import annotations

from saga_core.messages import Frame, Origin, PromptPlan
from saga_core.text_prompt.reading import TextPrompt

_OWN = (Origin.RULES, Origin.WORLD, Origin.PAGES)


def write_prompt(plan: PromptPlan, prompt: TextPrompt) -> str:
    """The text of ``plan``, whose client's blocks are the messages of ``prompt``.

    SAGA's rules, world and pages stand at the end of the system part. Without anything of SAGA's it is the client's
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
            if system is None:  # no marks for it: it goes before what is said first
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
