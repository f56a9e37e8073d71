"""The keys of hosting: they stay as they are, because stored records lie there."""

from __future__ import annotations

import inspect

import pytest

from saga_core.journal import keys
from saga_server.hosting import layout
from saga_server.tenancy import _STORED_KEYS

LAYOUT = {
    "lease": (("s",), ("lease", "session", "s")),
    "order": (("s",), ("lease", "order", "s")),
    "access_key": (("k",), ("access", "key", "k")),
    "access_minute": (("k",), ("access", "minute", "k")),
    "access_sessions": (("o",), ("access", "sessions", "o")),
    "access_use": (("k", "host:8765"), ("access", "use", "k", "host:8765")),
    "audit": (("9", "host:8765"), ("access", "audit", "9", "host:8765")),
    "beat": (("host:8765#1",), ("lease", "server", "host:8765#1")),
}


@pytest.mark.parametrize("name", LAYOUT)
def test_each_key_stays_as_it_is(name: str) -> None:
    arguments, key = LAYOUT[name]
    assert getattr(layout, name)(*arguments) == key
    assert keys.fits(key)


def test_no_key_is_left_out() -> None:
    assert {name for name, found in vars(layout).items() if inspect.isfunction(found)} == LAYOUT.keys()


def test_a_server_looks_for_stored_keys_where_they_are() -> None:
    assert _STORED_KEYS == layout.ACCESS_KEYS
