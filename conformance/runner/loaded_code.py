"""A digest of the suite's functions as they are loaded: a harness that replaces one of them changes it."""

from __future__ import annotations

import hashlib
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any

_WITHOUT = frozenset({"cli", "faults", "pytest_front"})
"""Modules of the suite that may be loaded by one process and not by another. None of them decides how a check ends."""


def _code(code: CodeType, total: Any) -> None:
    total.update(code.co_code)
    total.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _code(constant, total)
        elif not isinstance(constant, frozenset):  # whose order is not the same twice
            total.update(repr(constant).encode())


def _module(module: ModuleType, total: Any) -> None:
    """Its functions, those of its classes, and where each of the names that it imports comes from."""
    for name, value in sorted(vars(module).items()):
        parts = {name: value}
        if isinstance(value, type) and value.__module__ == module.__name__:
            parts = {f"{name}.{part}": each for part, each in sorted(vars(value).items())}
        for full, each in parts.items():
            # What hypothesis and attrs put into a class is theirs.
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
    """Over every function of every module of the suite, and of the error tree and the values that it compares with.

    Whoever imports ``conformance.runner`` has loaded all of them.
    """
    total = hashlib.sha256()
    for name in sorted(filter(_is_part, sys.modules)):
        _module(sys.modules[name], total)
    return total.hexdigest()[:16]
