"""Lazy room faces: a name is imported when it is first used, so that the start does not pay for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_face(places: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__``. ``places``: name to ``module:name``, or to the module that it is."""

    def get(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise AttributeError(name)
        module, _, attribute = place.partition(":")
        found = import_module(module)
        return getattr(found, attribute) if attribute else found

    return get
