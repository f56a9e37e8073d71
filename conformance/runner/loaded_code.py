"""A digest of the suite's loaded functions. It changes if a harness replaces one of them."""

from __future__ import annotations

import hashlib
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any

_WITHOUT = frozenset({"cli", "faults", "pytest_front"})
"""Modules that may be loaded in one process but not in the other. None of them affects the outcome of a check."""


def _code(code: CodeType, total: Any) -> None:
    total.update(code.co_code)
    total.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _code(constant, total)
        elif not isinstance(constant, frozenset):  # its order differs between processes
            total.update(repr(constant).encode())


def _module(module: ModuleType, total: Any) -> None:
    """Add the module's functions, the methods of its classes, and the functions that it imports."""
    for name, value in sorted(vars(module).items()):
        parts = {name: value}
        if isinstance(value, type) and value.__module__ == module.__name__:
            parts = {f"{name}.{part}": each for part, each in sorted(vars(value).items())}
        for full, each in parts.items():
            # Functions that hypothesis and attrs add to a class do not count.
            own = isinstance(each, FunctionType) and str(each.__module__).startswith(("conformance", "saga_core"))
            if own and "<attrs" not in each.__code__.co_filename:
                total.update(f"{full} of {each.__module__}".encode())
                _code(each.__code__, total)


def _is_part(name: str) -> bool:
    head, _, inside = name.partition(".")
    if head == "conformance":
        return inside != "" and inside.partition(".")[0] not in _WITHOUT
    return name == "saga_core.errors"


def code_digest() -> str:
    """A digest of all functions of all loaded modules of the suite, and of ``saga_core.errors``.

    Importing ``conformance.runner`` loads all these modules.
    """
    total = hashlib.sha256()
    for name in sorted(filter(_is_part, sys.modules)):
        _module(sys.modules[name], total)
    return total.hexdigest()[:16]
