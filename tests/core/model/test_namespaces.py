"""Namespaces: prefixes by segment, and no way for one player's records into another's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.errors import BadInput
from saga_core.model.namespaces import checked, crosses, filled, segments, within

names = st.text(st.characters(categories=("L", "N"), include_characters="-_."), min_size=1, max_size=6)
paths = st.lists(names.filter(lambda name: name not in (".", "..")), max_size=5).map(lambda each: "/" + "/".join(each))


@given(paths, paths)
def test_a_prefix_is_whole_segments(path: str, prefix: str) -> None:
    above = segments(prefix)
    assert within(path, prefix) == (segments(path)[: len(above)] == above)
    assert within(path, path) and within(path, "/")
    assert within(f"{prefix.rstrip('/')}/x", prefix)
    if prefix != "/":
        assert not within(f"{prefix}x/y", prefix), "/a/b is no prefix of /a/bx"


def test_the_reference_case() -> None:
    assert within("/a/b/c", "/a/b") and within("/a/b/c", "/a/b/")
    assert not within("/a/bc", "/a/b")
    assert not within("/a", "/a/b")
    assert within("/요약/아리아/첫째", "/요약/아리아") and not within("/요약/아리아나", "/요약/아리아")


@given(st.text(max_size=8), st.text(max_size=8))
def test_what_is_filled_in_is_one_segment_whatever_it_holds(actor: str, session: str) -> None:
    values = {"actor": actor, "session": session, "strategy": "facts"}
    found = segments(filled("/{strategy}/{actor}/{session}", values))
    assert len(found) == 3 and found[0] == "facts"


def test_no_value_reaches_into_another_actors_place() -> None:
    assert not within(filled("/p/{actor}", {"actor": "a/b"}), "/p/a")
    assert segments(filled("/p/{actor}", {"actor": ".."})) == ("p", "_")


@pytest.mark.parametrize(
    ("template", "what"),
    [
        ("facts/{actor}", "does not begin with '/'"),
        ("/facts//{actor}", "segment ''"),
        ("/facts/../{actor}", r"segment '\.\.'"),
        ("/facts/{player}", "allowed are {actor}, {session}, {strategy}, {card}"),
        ("/facts/{actor", "without its partner"),
        ("/facts/shared", "would mix what different players said"),
        ("/{actor}" * 11, "11 segments; give at most 10"),
    ],
)
def test_bad_templates_are_refused_with_the_remedy(template: str, what: str) -> None:
    with pytest.raises(BadInput, match=what):
        checked(template)


def test_which_cross_sessions() -> None:
    assert checked("/preferences/{actor}/") == "/preferences/{actor}"
    assert crosses("/preferences/{actor}") and not crosses("/facts/{actor}/{session}")
