"""SAGA's own calls in a reply, taken out of the pieces in which providers send them."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from saga_core.tool_calls import GatheredCalls, OwnCalls


def piece(index: int | None, name: str = "", arguments: str = "", number: str = "") -> dict[str, Any]:
    """A piece of a call as a stream has it."""
    found: dict[str, Any] = {"function": {"name": name, "arguments": arguments}, "id": number}
    return found if index is None else {**found, "index": index}


def taken(own: OwnCalls, *pieces: dict[str, Any]) -> list[Any]:
    """What the client gets of each delta."""
    return [own.take({"tool_calls": [each]}).get("tool_calls") for each in pieces]


def test_the_calls_of_a_client_are_numbered_without_saga_s_own() -> None:
    own = OwnCalls(frozenset({"recall"}))
    shown = taken(
        own,
        piece(0, "recall", '{"query":', "a"),
        piece(1, "look", "", "b"),
        piece(0, "", ' "boat"}'),
        piece(1, "", "{}"),
        piece(2, "recall", "{}", "c"),
    )
    assert shown == [None, [piece(0, "look", "", "b")], None, [piece(0, "", "{}")], None]
    assert [(call.name, call.arguments) for call in own.calls] == [("recall", '{"query": "boat"}'), ("recall", "{}")]


@pytest.mark.parametrize("repeated", [True, False])
def test_servers_that_repeat_a_name_or_number_every_call_alike(repeated: bool) -> None:
    own = OwnCalls(frozenset({"recall", "roll"}))
    taken(own, piece(0, "recall", "{", "a"), piece(0, "recall" if repeated else "", "}"), piece(0, "roll", "{}", "b"))
    assert [(call.name, call.arguments) for call in own.calls] == [("recall", "{}"), ("roll", "{}")]


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("number", ["a", ""])
def test_calls_that_share_an_id_or_have_none_stay_apart(number: str, indexed: bool) -> None:
    own = OwnCalls(frozenset({"recall", "roll"}))
    names = ["roll", "recall", "roll"]
    taken(own, *(piece(at if indexed else None, name, "{}", number) for at, name in enumerate(names)))
    assert [(call.name, call.arguments) for call in own.calls] == [(name, "{}") for name in names]
    assert len({call["id"] for call in own.go_on()["tool_calls"]}) == 3


def test_a_call_without_an_id_gets_one_in_each_round() -> None:
    own = OwnCalls(frozenset({"roll"}))
    numbers = []
    for _ in range(2):
        taken(own, piece(None, "roll", "{}"))
        numbers += [call["id"] for call in own.go_on()["tool_calls"]]
    assert numbers == ["saga_0", "saga_1"]
    assert own and not own.calls and own.last("roll") is not None


def test_thoughts_go_back_whole_with_their_signatures() -> None:
    """Routers send one signed thought in many pieces, and the signature last; it is valid for the whole text alone."""
    own = OwnCalls(frozenset({"recall"}))

    def thought(**fields: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "index": 0, **fields}

    for details in (
        [thought(text="What did ", signature=None)],
        [thought(text="she promise?")],
        [thought(signature="c2ln"), {"type": "reasoning.encrypted", "index": 1, "data": "eA"}],
        [{"type": "reasoning.summary", "summary": "A boat"}],
    ):
        own.take({"reasoning_details": details, "reasoning": "."})
    taken(own, piece(0, "recall", "{}", "a"))
    fields = own.go_on()
    assert fields["reasoning"] == "...."
    assert fields["reasoning_details"] == [
        thought(text="What did she promise?", signature="c2ln"),
        {"type": "reasoning.encrypted", "index": 1, "data": "eA"},
        {"type": "reasoning.summary", "summary": "A boat"},
    ]
    assert fields["tool_calls"][0]["function"] == {"name": "recall", "arguments": "{}"}
    taken(own, piece(0, "recall", "{}", "b"))
    assert set(own.go_on()) == {"tool_calls"}, "each round has its own thoughts"


@pytest.mark.parametrize("each", [("", "s" * 1_000), ("n" * 1_000, ""), ("n", '{"a": "'), ("n", "{}")])
def test_megabytes_in_pieces_are_not_copied_for_each_piece(each: tuple[str, str]) -> None:
    """Joined piece by piece, twenty megabytes take a minute."""
    calls = GatheredCalls()
    calls.add(piece(0, "", '{"a": "' + "s" * 1_000_000, "a"))
    began = process_time()
    for _ in range(2_000):
        calls.add(piece(0, *each))
    assert process_time() - began < 0.2
    (call,) = calls.calls
    assert len(call.arguments) == 1_000_007 + 2_000 * len(each[1])
    assert len(call.name) <= 256
