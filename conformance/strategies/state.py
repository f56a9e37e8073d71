"""Random calls of a StateKV."""

from __future__ import annotations

from random import Random

from conformance.calls import Call, call
from conformance.inputs import NFC, NFD
from conformance.models import Model
from conformance.strategies.call_strategy import CallStrategy
from conformance.strategies.pools import chance
from saga_core.stores import Batch, Key

_SEGMENTS = ("a", "ab", "a\0", "\0", "\x01", "\xff", NFC, NFD, "_", "%", "a:b", ".", "/", "\uffff", "\U0001f600")


def _key(random: Random, model: Model) -> Key:
    if model.entries and chance(random, 2):
        known: Key = random.choice(model.entries)[0]
        return known
    return tuple(random.choice(_SEGMENTS) for _ in range(random.randint(1, 3)))


def _value(random: Random) -> bytes:
    return random.choice((b"", b"0", b"1", b"\x00\xff", "값".encode(), b"x" * 5_000))


def _commit(random: Random, model: Model) -> Call:
    puts = {_key(random, model): _value(random) for _ in range(random.randint(0, 4))}
    deletes = frozenset(_key(random, model) for _ in range(random.randint(0, 2))) - puts.keys()
    batch = Batch(puts, deletes)
    kind = random.randint(1, 4)
    if kind == 1:  # any expectation
        wanted = {_key(random, model): random.choice((None, _value(random))) for _ in range(random.randint(0, 2))}
        return call("commit", batch, expected=wanted)
    if kind == 2:  # an expectation that holds
        return call("commit", batch, expected={key: model.get([key]).get(key) for key in (*puts, *deletes)})
    return call("commit", batch)


def _get(random: Random, model: Model) -> Call:
    return call("get", [_key(random, model) for _ in range(random.randint(0, 4))])


def _scan(random: Random, model: Model) -> Call:
    key = _key(random, model)
    prefix = key[: random.randint(0, len(key))]
    after = _key(random, model) if chance(random, 2) else None
    return call("scan", prefix, after=after, limit=random.randint(1, 6))


STATE = CallStrategy(
    {"commit": _commit},
    {"get": _get, "scan": _scan},
    {"commit": ("S-8", "S-9", "S-10", "S-11"), "get": ("S-1", "S-2", "S-3"), "scan": ("S-4", "S-5", "S-6", "S-7")},
)
