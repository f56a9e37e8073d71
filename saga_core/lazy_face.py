"""Lazy package exports: a name is imported at its first use, so that it does not slow down the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_face(places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``. ``places`` maps each name to ``module:name``, or to a module."""

    def get(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise AttributeError(name)
        module, _, attribute = place.partition(":")
        found = import_module(module)
        return getattr(found, attribute) if attribute else found

    return get
