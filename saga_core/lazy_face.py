"""Lazy package exports: a name is imported at its first use, so that it does not slow down the start."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import get_data
from typing import Any


def lazy_face(places: Mapping[str, str] | str) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``. ``places`` maps each name to ``module:name``, or to a module.

    Given the package's own name instead, the places are those that its ``if TYPE_CHECKING:`` imports from.
    """

    def get(name: str) -> Any:
        place = (_imports(places) if isinstance(places, str) else places).get(name)
        if place is None:
            raise AttributeError(name)
        module, _, attribute = place.partition(":")
        found = import_module(module)
        return getattr(found, attribute) if attribute else found

    return get


@cache
def _imports(package: str) -> Mapping[str, str]:
    tree = ast.parse(get_data(package, "__init__.py") or b"")
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: f"{node.module}:{alias.name}" for node in imports for alias in node.names}
