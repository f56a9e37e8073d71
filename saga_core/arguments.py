"""Checks that the arguments of public calls are of the plain types that they declare."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import wraps
from types import NoneType
from typing import Any, TypeVar

from saga_core.errors import BadInput


def check_argument(name: str, value: object, kind: type | tuple[type, ...] = str, remedy: str = "give a text") -> None:
    """Raise ``BadInput`` if an argument is not of its ``kind``. A text is no list, and True no number."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, kinds) or (type(value) in (str, bytes, bool) and type(value) not in kinds):
        check_awaited(name, value)
        raise BadInput(f"{name}: is {value!r:.80}, a {type(value).__name__}; {remedy}")


def check_awaited(name: str, value: object) -> None:
    """Raise ``BadInput`` if somebody forgot to await an argument."""
    if inspect.iscoroutine(value):
        value.close()
        raise BadInput(f"{name}: is a coroutine, {value.__qualname__}(…); await it first")


T = TypeVar("T")

_PLAIN: Mapping[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a text"),
    "int": ((int,), "a whole number"),
    "float": ((float, int), "a number"),
    "bool": ((bool,), "True or False"),
    "Sequence": ((Sequence,), "a list"),
    "Mapping": ((Mapping,), "a mapping"),
    "None": ((NoneType,), ""),
}
"""What is checked, by its name in an annotation."""
_WORDS: Mapping[str, str] = {
    "files": 'a list such as [("chat.jsonl", path)]',
    "messages": 'a list of messages such as {"role": "user", "content": "I knock."}',
    "own_tools": "a list of tools as OpenAI's chat API declares them",
    "session": "its id or its name",
    "session_id": "its id or its name",
    "sessions": "a list of sessions",
    "trackers": "a list of saga_core.trackers.Tracker",
    "turn": "a turn's id, its number as a text, or the name of a timeline",
}
"""What arguments of these names are."""


def checks_arguments(cls: type[T]) -> type[T]:
    """Have the public methods of a class raise ``BadInput`` for an argument of another plain type than they declare."""
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and not name.startswith("_") and (wanted := _wanted(method)):
            setattr(cls, name, _checking(method, wanted))
    return cls


_Wanted = list[tuple[int, str, tuple[type, ...], str]]


def _wanted(method: Any) -> _Wanted:
    """The place, the name, the types and the remedy of each argument of a plain type."""
    found: _Wanted = []
    for place, each in enumerate(inspect.signature(method).parameters.values()):
        declared = each.annotation if isinstance(each.annotation, str) else ""
        while "[" in declared:
            declared = re.sub(r"\[[^\[\]]*\]", "", declared)
        parts = declared.split(" | ")
        if all(part in _PLAIN for part in parts):
            kinds = tuple(kind for part in parts for kind in _PLAIN[part][0])
            words = _WORDS.get(each.name) or " or ".join(_PLAIN[part][1] for part in parts if part != "None")
            found.append((place, each.name, kinds, f"give {words}"))
    return found


def _checking(method: Any, wanted: _Wanted) -> Any:
    def check(args: tuple[Any, ...], named: dict[str, Any]) -> None:
        for place, name, kinds, remedy in wanted:
            if place < len(args):
                check_argument(name, args[place], kinds, remedy)
            elif name in named:
                check_argument(name, named[name], kinds, remedy)

    @wraps(method)
    async def awaited(*args: Any, **named: Any) -> Any:
        check(args, named)
        return await method(*args, **named)

    @wraps(method)
    def plain(*args: Any, **named: Any) -> Any:
        check(args, named)
        return method(*args, **named)

    return awaited if inspect.iscoroutinefunction(method) else plain
