"""``Call``: a method of a store and its arguments, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


@frozen
class Call:
    """A method and its arguments."""

    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(factory=dict)

    def __str__(self) -> str:
        parts = [_shown(value) for value in self.args]
        parts += [f"{name}={_shown(value)}" for name, value in self.options.items()]
        return f"{self.method}({', '.join(parts)})"


def _shown(value: object) -> str:
    try:
        return repr(value)
    except RecursionError:
        return f"a {type(value).__name__} nested deeper than can be shown"


def call(method: str, *args: Any, **options: Any) -> Call:
    """Make a ``Call``, written like the call itself."""
    return Call(method, args, options)
