"""The layout of the journal: stored data depends on it, so that each key is written out here."""

from __future__ import annotations

import inspect

import pytest

from saga_core.journal import keys
from saga_core.stores import Key

LAYOUT: dict[str, tuple[Key, Key]] = {
    "session": (("s",), ("session", "s")),
    "label": (("mina", "모험"), ("label", "mina", "모험")),
    "world": (("d",), ("world", "d")),
    "turn": (("s", "t"), ("turn", "s", "t")),
    "node": (("s", "t"), ("node", "s", "t")),
    "amendment": (("s", "t", "1"), ("amend", "s", "t", "1")),
    "review": (("s", "t", "1"), ("review", "s", "t", "1")),
    "unfinished": (("s",), ("unfinished", "s")),
    "unfinished_part": (("s", "n"), ("unfinished", "s", "n")),
    "reply": (("mina", "k", "t"), ("reply", "mina", "k", "t")),
    "beginning": (("mina", "48:k", "t"), ("begin", "mina", "48:k", "t")),
    "said": (("mina", "k", "t"), ("said", "mina", "k", "t")),
    "opening": (("mina", "k", "s"), ("open", "mina", "k", "s")),
    "known": (("s", "t"), ("known", "s", "t")),
    "sharing": (("w",), ("sharing", "w")),
    "publication": (("w", 7), ("share", "w", "000000000007")),
    "shared": (("s", "t"), ("shared", "s", "t")),
    "checkpoint": (("s", "t"), ("state", "s", "t")),
    "segment": (("s", "t"), ("terms", "s", "t")),
    "job": (("s", "t"), ("job", "s", "t")),
    "bill": (("s", "t", "c"), ("bill", "s", "t", "c")),
    "prompt": (("s", "memory"), ("prompt", "s", "memory")),
    "pinned_page": (("s", "t", "ko"), ("prompt", "s", "page", "t", "ko")),
    "timeline": (("s", "탑"), ("timeline", "s", "탑")),
    "view": (("s.0", "hp"), ("view", "s.0", "hp")),
    "view_mark": (("s.0",), ("viewmark", "s.0")),
    "trash": (("s", "n"), ("trash", "s", "n")),
    "pending_forget": (("letta", "s"), ("leaving", "letta", "s")),
}


@pytest.mark.parametrize("name", LAYOUT)
def test_each_key_stays_as_it_is(name: str) -> None:
    arguments, key = LAYOUT[name]
    assert getattr(keys, name)(*arguments) == key
    assert keys.fits(key)


def test_no_key_is_left_out() -> None:
    functions = {name: found for name, found in vars(keys).items() if inspect.isfunction(found) and name[0] != "_"}
    of_keys = ("Key", inspect.Signature.empty)  # those of the table are not annotated one by one
    made = {name for name, found in functions.items() if inspect.signature(found).return_annotation in of_keys}
    assert made == LAYOUT.keys()


@pytest.mark.parametrize("name", ["label", "reply", "beginning", "said", "opening"])
def test_no_owner_is_a_dash_because_no_segment_is_empty(name: str) -> None:
    arguments = ("", *LAYOUT[name][0][1:])
    assert getattr(keys, name)(*arguments)[1] == "-"


def test_the_bill_of_a_narration_stands_above_those_of_further_calls() -> None:
    assert keys.bill("s", "t") == ("bill", "s", "t") == keys.bill("s", "t", "c")[:3]


def test_what_stands_beside_a_turn_is_named_so_that_it_goes_with_it() -> None:
    beside = {
        LAYOUT[name][1][0]
        for name in ("job", "amendment", "checkpoint", "segment", "review", "bill", "known", "prompt", "shared")
    }
    assert set(keys.BESIDE) == beside
    assert keys.FORMAT == 1 and keys.FORMAT_KEY == ("meta", "format") and keys.PROBE_KEY == ("meta", "probe")
    assert keys.NEWEST == 2
    assert keys.pending_forget("letta", "s")[:1] == keys.PENDING_FORGET
