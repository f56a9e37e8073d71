"""Remarks that tell who somebody really is, or as whom somebody has posed.

``Cole Raddick (the false Father Quinn)`` is the one who was met as Father Quinn.
"""

from __future__ import annotations

import re
from functools import cache

from saga_core.language import every


def unmasked_in(remark: str) -> str:
    """The name of whom somebody turns out to be: 黒騎士 of ``黒騎士の正体``; "" if the remark tells none."""
    return _name_in(remark, _unmasking())


def posed_as(remark: str) -> str:
    """The name under which somebody has posed: Father Quinn of ``the false Father Quinn``; "" if there is none."""
    return _name_in(remark, _posing())


def _name_in(remark: str, patterns: tuple[re.Pattern[str], ...]) -> str:
    for found in (pattern.fullmatch(remark.strip()) for pattern in patterns):
        if found is not None:
            return next(each for each in found.groups() if each).strip()
    return ""


@cache
def _unmasking() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each.names.unmasks) for each in every() if each.names.unmasks)


@cache
def _posing() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each.names.posing) for each in every() if each.names.posing)
