"""Tool calls in the streams of other APIs, as providers cut them: one block or item for each call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain, zip_longest
from time import process_time
from typing import Any

import pytest

from saga_server.doors.messages import MessagesFormat
from saga_server.doors.responses import ResponsesFormat
from saga_server.http.reply_format import Choice, ReplyFormat

CALLS = [("call_1", "roll", '{"dice": 2}'), ("call_2", "look", '{"at": "문"}'), ("call_3", "wait", "{}")]


def pieces(*, repeats: bool, cut: int, beside: bool) -> list[dict[str, Any]]:
    """The calls as a provider streams them, one after the other or a piece of each in turn.

    Some repeat a call's id with every piece, some name it once.
    """
    calls: list[list[dict[str, Any]]] = []
    for index, (number, name, arguments) in enumerate(CALLS):
        calls.append([])
        parts = [arguments[at : at + cut] for at in range(0, len(arguments), cut)]
        for at, part in enumerate(parts):
            function = {"arguments": part, **({"name": name} if at == 0 else {})}
            call = {"index": index, "function": function, **({"id": number} if at == 0 or repeats else {})}
            calls[-1].append({"tool_calls": [call]})
    return [piece for piece in (chain(*zip_longest(*calls)) if beside else chain(*calls)) if piece is not None]


def streamed(shape: ReplyFormat, fields: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    raw = shape.begin(0) + shape.text(0, "Hm. ") + b"".join(shape.extra(0, each) for each in fields)
    raw += shape.finish(0, "tool_calls") + shape.end()
    lines = [line for line in raw.decode().split("\n") if line.startswith("data: {")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("cut", [3, 100])
@pytest.mark.parametrize("repeats", [False, True])
def test_each_call_is_one_block(repeats: bool, cut: int, beside: bool) -> None:
    events = streamed(MessagesFormat("m"), pieces(repeats=repeats, cut=cut, beside=beside))
    begun = [each for each in events if each["type"] == "content_block_start"]
    assert [each["content_block"]["type"] for each in begun] == ["text", "tool_use", "tool_use", "tool_use"]
    for (number, name, arguments), start in zip(CALLS, begun[1:], strict=True):
        assert (start["content_block"]["id"], start["content_block"]["name"]) == (number, name)
        mine = [
            each["delta"]["partial_json"]
            for each in events
            if each["type"] == "content_block_delta" and each["index"] == start["index"]
        ]
        assert "".join(mine) == arguments


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("cut", [3, 100])
@pytest.mark.parametrize("repeats", [False, True])
def test_each_call_is_one_item(repeats: bool, cut: int, beside: bool) -> None:
    events = streamed(ResponsesFormat("m"), pieces(repeats=repeats, cut=cut, beside=beside))
    done = [each["item"] for each in events if each["type"] == "response.output_item.done"]
    assert [each["type"] for each in done] == ["message", "function_call", "function_call", "function_call"]
    assert [(each["call_id"], each["name"], each["arguments"]) for each in done[1:]] == CALLS


@pytest.mark.parametrize("make", ["text", "thought", "whole"])
def test_megabytes_in_pieces_are_not_copied_for_each_piece(make: str) -> None:
    shape, choice, piece = ResponsesFormat("m"), Choice(0), "s" * 500
    shape.text(0, "s" * 2_000_000) if make == "text" else shape.extra(0, {"reasoning": "s" * 2_000_000})
    choice.add("s" * 2_000_000, {"refusal": "s" * 2_000_000})
    began = process_time()
    for _ in range(2_000):
        if make == "text":
            shape.text(0, piece)
        elif make == "thought":
            shape.extra(0, {"reasoning": piece})
        else:
            choice.add(piece, {"refusal": piece, "google_parts": [1]})
    assert process_time() - began < 0.3
    if make == "whole":
        assert (len(choice.text), len(choice.extra["refusal"]), choice.extra["google_parts"]) == (
            3_000_000,
            3_000_000,
            [1] * 2_000,
        )
    else:
        assert b"s" * 3_000_000 in shape.finish(0, "stop")
