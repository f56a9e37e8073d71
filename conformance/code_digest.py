"""A digest of the suite's functions as they are loaded: a harness that replaces one of them changes it."""

from __future__ import annotations

import hashlib
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any

_ROOMS = ("conformance.checks.", "conformance.machines.", "conformance.models.")
_ALONE = frozenset(
    f"conformance.{name}"
    for name in (
        *("calls", "canaries", "case", "check", "code_digest", "processes"),
        *("report", "runner", "samples", "snapshot", "strategies", "worker"),
    )
) | {"saga_core.errors"}
"""Whatever decides how a check ends. Other modules of the suite may be loaded by one process and not by another."""


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


def code_digest() -> str:
    """Over every function of every module of the suite, and of the error tree and the values that it compares with."""
    import conformance.canaries
    import conformance.checks
    import conformance.machines
    import conformance.runner
    import conformance.worker  # noqa: F401 - all of them are part of it, whoever asks

    total = hashlib.sha256()
    for name in sorted(sys.modules):
        if name in _ALONE or name.startswith(_ROOMS):
            _module(sys.modules[name], total)
    return total.hexdigest()[:16]
