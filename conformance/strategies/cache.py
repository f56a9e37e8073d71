"""Random calls of an MdCache."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from conformance.calls import Call, call
from conformance.inputs import NFD
from conformance.models import Model
from conformance.strategies.call_strategy import CallStrategy, bare, of_scope
from conformance.strategies.pools import scope_of
from saga_core.stores import Pages
from saga_core.values import PAGE_NAMES


def _write(random: Random, model: Model) -> Call:
    marks: Mapping[str, str] = {
        name: random.choice(("", "\r\n", "하나\n", NFD, "\0", "x" * 3_000)) for name in PAGE_NAMES
    }
    return call("write", scope_of(random, model), Pages(marks, random.choice(("", "t1", "턴 2"))))


CACHE = CallStrategy(
    {"write": _write, "drop": of_scope("drop")},
    {"read": of_scope("read"), "scopes": bare("scopes")},
    {"write": ("C-3",), "read": ("C-1", "C-2"), "scopes": ("C-5",), "drop": ("C-6",)},
)
