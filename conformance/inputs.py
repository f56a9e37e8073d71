"""Inputs: sample calls and edge-case values for stores."""

from __future__ import annotations

import unicodedata
from typing import Any

from conformance.calls import StoreCall, call
from saga_core.model import Delta, Entity, Kind, Turn, TurnKind, WorldState
from saga_core.stores import (
    Batch,
    Compare,
    CurationView,
    Edge,
    EdgeKey,
    Exists,
    Mutation,
    Node,
    Pages,
    ScopeSpec,
    VectorItem,
)
from saga_core.values import PAGE_NAMES

NFC = unicodedata.normalize("NFC", "각")
NFD = unicodedata.normalize("NFD", "각")

NAMES: tuple[str, ...] = (
    *(NFC, NFD, "어둠의 숲", "어둠의숲", "a", "ab", "A", "a_b", "aXb", "a%", "a:b", "a.b"),
    *("a/b", "..", ".", "../a", "/a", " ", "a ", "\n"),
    *("'; DROP TABLE nodes; --", '"', "\\", "*", "$x", "{}", "null", "0"),
    *("6f9619ff-8b86-d011-b42d-00c04fc964ff", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
    *("é", "e\u0301", "\uff41", "\uffff", "\U0001f5e1", "\U0010ffff"),
)
"""Distinct names for scopes, ids, labels, types and keys of edges."""

ALIKE: tuple[str, ...] = (
    *("a", "A", "a ", " a", "a\t", "a\u200b", "\ufeffa", "a\u2060", "a\u00ad"),
    *("a.", "a\n", "a\r\n", "a\r"),
    *("a%", "ab", "a_", "aXb", "a_b", "A_B", "a*", "a?", "a?b", "[ab]", "a/b", "a//b", "a\\b"),
    *("7", "007", "7.0", "+7", "\u0667", "\uff17", "1e3", "1000"),
    *("\ufb01", "fi", "\u00df", "ss", "SS", "\u0130", "i\u0307", "I", "i", "\u0131", "\u212a", "k", "K"),
    *(NFC, NFD, "\u00e9", "e\u0301", "\uff41", "\U00010000", "\uffff", "\ud7ff"),
    *("label", "id", "null", "None", "true", "undefined"),
)
"""Names that some engines confuse, most often with the previous or the next name in the tuple."""

SEPARATORS: tuple[str, ...] = (
    *("/", ":", "|", "\0", "\x01", "\x1e", "\x1f", "\t", "\n", ".", ",", ";", "-", "_", " ", "#", "@", "~", "\xff"),
    *("::", "->", "--", "\uffff", "\U0010ffff"),
)
"""Separators with which engines may join the segments of keys."""

FIELDS: tuple[str, ...] = (
    *("id", "_id", "Id", "label", "type", "name", "text", "document", "vector", "embedding", "score", "_score"),
    *("distance", "_distance", "scope", "key", "source", "target", "properties", "metadata", "watermark", "value"),
    *("__id", "__label__", "$id", "@type", "a", "a.b", "a.b.c", "a b"),
    *("rowid", "oid", "hash", "data", "json", "#", "order", "select"),
)
"""Names of fields that an engine may use itself."""

SEGMENTS: tuple[str, ...] = (
    *NAMES,
    *("\0", "\0\x01", "\x01", "a\0", "a\0b", "a\x01", "\x7f", "\xff", "x" * 300),
)
"""Segments of keys, which may contain NUL."""

MARKED: tuple[bytes, ...] = (
    *(b"\x1f\x8b\x08", b"\x78\x9c", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"BZh9", b"PK\x03\x04", b"\xfd7zXZ\0"),
    *(b"\x80\x04", b"\xef\xbb\xbf", b"\xff\xfe", b"SQLite format 3\0", b"null", b"{}", b"\x00", b"\x01", b"\x02"),
)
"""Prefixes by which an engine may recognise values that it compressed, pickled or encoded itself."""

SURROGATE = "\ud800"

BAD_NAMES: tuple[Any, ...] = ("", "a\0b", SURROGATE, "a" + SURROGATE, 1, None, b"a", ("a",))

TEXTS: tuple[str, ...] = (
    "",
    "크룩이 말했다.\n\u201c통행료!\u201d",
    unicodedata.normalize("NFD", "각각 갂"),
    "\U0001f5e1\ufe0f\U0010ffff",
    'it\'s "so" \\ `$x` {y} % _ : . /\r\n\t\x7f\u2028',
)

SCALARS: dict[str, Any] = {
    "one": 1,
    "one point": 1.0,
    "true": True,
    "false": False,
    "zero": 0,
    "zero point": 0.0,
    "minus zero": -0.0,
    "none": None,
    "empty": "",
    "most": 2**63 - 1,
    "least": -(2**63),
    "beyond doubles": 2**53 + 1,
    "big": 1.7976931348623157e308,
    "whole": 1e16,
    "whole beyond 64 bits": 1e20,
    "tiny": 5e-324,
    "tenth": 0.1,
    "text one": "1",
    "text null": "null",
    "text zeros": "007",
    "text date": "2024-01-01",
    "text moment": "2024-01-01T10:00:00.000000Z",
    "text json": '{"a": [1]}',
    "signs": TEXTS[4],
    "한글": "어둠의 숲",
    "composed": NFC,
    "decomposed": NFD,
    "a_b%c:d.e/f": "이름",
    NFC: 1,
    NFD: 2,
}

TUPLES: dict[str, Any] = {
    "no tags": (),
    "tags": ("하나", "둘"),
    "mixed": (1, 1.0, True, None, "", "1"),
    "numbers": (0, -0.0, 2**63 - 1),
    "only one": ("하나",),
    "only none": (None,),
    "int and float": (1, 2.5),
}


class _Text(str):
    __slots__ = ()


class _Number(int):
    pass


BAD_SCALARS: tuple[Any, ...] = (
    *(float("nan"), float("inf"), -float("inf"), 2**63, -(2**63) - 1, SURROGATE, "nul\0"),
    *(b"bytes", ["list"], {"a": 1}, 1j, _Text("text"), _Number(1)),
)


def view() -> CurationView:
    """A story with a contradiction, long enough to be compressed."""
    people = {
        "e1": Entity("e1", Kind.CHARACTER, "아리아"),
        "e2": Entity("e2", Kind.CHARACTER, "크룩"),
        "e3": Entity("e3", Kind.LOCATION, "어둠의 숲"),
    }
    texts = [("숲으로 간다.", "크룩이 숲에서 죽었다."), ("크룩을 부른다.", "크룩이 웃으며 다가왔다.")]
    turns = tuple(
        Turn(f"t{n + 1}", "s", f"t{n}", n + 1, float(n), *texts[n % 2], Delta(), TurnKind.NARRATION) for n in range(12)
    )
    state = WorldState(turn="t12", depth=12, player="e1", entities=people, present=("e2",), met=("e2",))
    return CurationView("s", state, turns, since=0)


def empty_view() -> CurationView:
    """A view without turns and with an empty state."""
    return CurationView("s", WorldState(), ())


def pages(mark: str, watermark: str = "t1") -> Pages:
    """A generation of pages. Each page contains ``mark``, so every page identifies the generation."""
    return Pages({name: f"---\npage: {name}\n---\n\n# 상태 {mark}\n" for name in PAGE_NAMES}, watermark)


_NODES = (Node("아리아", "Character", {"hp": 100}), Node("숲", "Location"))


def samples(kind: str) -> list[StoreCall]:
    """The sample calls of a kind of store. The first two are writes."""
    return {
        "state": [
            call("commit", Batch({("세션", "s1"): b"1", ("head",): b"t1"})),
            call("commit", Batch({("head",): b"t2"}, frozenset({("세션", "s1")})), expected={("head",): b"t1"}),
            call("get", [("head",), ("absent",)]),
            call("scan", ("세션",), after=("세션", "a"), limit=5),
        ],
        "graph": [
            call("apply", "s", Mutation(_NODES, (Edge("아리아", "LOCATED_AT", "숲"),), watermark="t1")),
            call("apply", "s", Mutation(delete_edges=(EdgeKey("아리아", "LOCATED_AT", "숲"),), watermark="t2")),
            call("get", "s", ["아리아"]),
            call("neighbors", "s", ["아리아"], types=["LOCATED_AT"], direction="out", limit=3),
            call("scan", "s", label="Character", after="a", limit=3),
            call("watermark", "s"),
            call("scopes"),
            call("drop", "gone"),
            call("expand", "s", ["아리아"], hops=1),
            call("query", "MATCH (n) RETURN n", timeout=1.0, limit=1),
        ],
        "vector": [
            call("create", "s", ScopeSpec("ngram-1/2", 2)),
            call("upsert", "s", [VectorItem("a", (1.0, 0.0), "하나", {"turn": 1}), VectorItem("b", (0.0, 1.0))]),
            call("describe", "s"),
            call("get", "s", ["a"]),
            call("scan", "s", after="a", limit=3),
            call("query", ["s"], (1.0, 0.0), 1, where=Compare("turn", "ge", 1)),
            call("count", "s", where=Exists("turn")),
            call("delete", "s", ids=["b"]),
            call("scopes"),
            call("drop", "gone"),
        ],
        "cache": [
            call("write", "s", pages("one", "t1")),
            call("write", "s", pages("two", "t2")),
            call("read", "s"),
            call("scopes"),
            call("locate", "s"),
            call("drop", "gone"),
        ],
        "curator": [call("review", view()), call("review", empty_view())],
    }[kind]
