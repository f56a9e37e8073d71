"""Removes formatting without meaning from a block's body before it is read."""

from __future__ import annotations

import html
import re

from saga_core.language import without_needless_marks
from saga_core.state_block.markup import unmarked
from saga_core.trackers import NO_TRACKERS, Trackers

_ENTITY = re.compile(r"&(?:quot|amp|lt|gt|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
_LINE_END = re.compile(r"\r\n?")
_MARKED = re.compile(r"[<|~\t【〔［\[#☑✅✔①-⑳⓵-⓾❶-❿➀-➓]|/\*|!!| [-–—] ")
"""A text without a match contains no markup."""


def undressed(body: str, own: Trackers = NO_TRACKERS) -> str:
    """``body`` without needless invisible characters and markup, with HTML entities decoded."""
    body = without_needless_marks(body)
    if _MARKED.search(body):
        body = unmarked(_LINE_END.sub("\n", body), own)
    if "&" in body and _ENTITY.search(body):
        body = html.unescape(body)
    return body
