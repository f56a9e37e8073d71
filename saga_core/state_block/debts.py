"""Debts: kinds of relation that are one, and what says that it is settled."""

from __future__ import annotations

import re
from functools import lru_cache

from saga_core.language import every

_DEBT = {each: re.compile(each.block.debt) for each in every()}
_PAID = re.compile("|".join(each.block.paid for each in every()))
_OVER = re.compile("|".join(each.block.over for each in every()))
_PARTLY = re.compile("|".join(each.story.partly for each in every()), re.I)


@lru_cache(maxsize=1_024)
def is_settled(kind: str) -> bool:
    """Whether a kind of relation, or what stands beside it, says that a debt is settled, and not in part."""
    return _PAID.search(kind.casefold()) is not None and _PARTLY.search(kind) is None


@lru_cache(maxsize=1_024)
def is_debt(kind: str) -> bool:
    """Whether a kind of relation is a debt that stands."""
    return not is_settled(kind) and any(debt.search(kind.casefold()) for debt in _DEBT.values())


def settled(kind: str) -> str:
    """What a relation is when the debt that it was is settled, in the language of its kind."""
    return next((each.block.settled for each, debt in _DEBT.items() if debt.search(kind.casefold())), "")


def as_it_stands(kind: str, status: str) -> str:
    """The kind of a relation beside which a status stands: what is over is not told as what it was."""
    if not kind or not status:
        return kind or status
    over = _OVER.search(status.casefold()) is not None and _PARTLY.search(status) is None
    if is_debt(kind) and (is_settled(status) or over):
        return status if is_settled(status) else settled(kind)
    return f"{kind}, {status}" if over or is_settled(status) else kind
