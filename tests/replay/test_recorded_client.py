"""Recorded requests of a real client: every one finds the turn that it continues.

The recordings lie beside the checkout, not in it; without them the test is skipped. Cases of our own, with the same
shapes, are in ``test_client_shapes.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.model.tree import TurnKind

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "sillytavern"

# Case -> for each of its requests: the case (and number of its turn, if not the first) that it continues, and how the
# request is read. "root": the chat begins. "kept": a turn that was adopted with the text that the player kept.
EXPECTED: dict[str, list[tuple[str, TurnKind]]] = {
    "turn1": [("root", TurnKind.NARRATION)],
    "turn2": [("turn1", TurnKind.NARRATION)],
    "turn3": [("turn2", TurnKind.NARRATION)],
    "swipe": [("turn2", TurnKind.NARRATION)],
    "swipe_back_then_turn": [("turn3", TurnKind.NARRATION)],
    "regenerate": [("turn3", TurnKind.NARRATION)],
    "continue_nudge": [("regenerate", TurnKind.CONTINUATION)],
    "continue_prefill": [("continue_nudge", TurnKind.CONTINUATION)],
    "turn_after_continue": [("continue_prefill", TurnKind.NARRATION)],
    "impersonate": [("turn_after_continue", TurnKind.SIDE)],
    "edit_old_user_then_turn": [("turn_after_continue", TurnKind.NARRATION)],
    "edit_old_reply_then_turn": [("edit_old_user_then_turn", TurnKind.NARRATION)],
    "delete_last_two_then_turn": [("edit_old_user_then_turn", TurnKind.NARRATION)],
    "delete_last_reply_then_send_empty": [("edit_old_user_then_turn", TurnKind.NARRATION)],
    "quiet_gen": [("delete_last_reply_then_send_empty", TurnKind.SIDE)],
    "quiet_genraw": [("root", TurnKind.NARRATION)],
    "quiet_summarize": [("delete_last_reply_then_send_empty", TurnKind.SIDE)],
    "turn_after_summary": [("delete_last_reply_then_send_empty", TurnKind.NARRATION)],
    "note_then_turn": [("turn_after_summary", TurnKind.NARRATION)],
    "hide_then_turn": [("note_then_turn", TurnKind.NARRATION)],
    "branch_then_turn": [("turn2", TurnKind.NARRATION)],
    "back_to_main_then_turn": [("hide_then_turn", TurnKind.NARRATION)],
    "new_chat_same_first_line": [("root", TurnKind.NARRATION)],
    "new_chat_turn2": [("new_chat_same_first_line", TurnKind.NARRATION)],
    "alt_greeting_chat": [("root", TurnKind.NARRATION)],
    "stream_turn": [("alt_greeting_chat", TurnKind.NARRATION)],
    "stream_swipe": [("alt_greeting_chat", TurnKind.NARRATION)],
    "stream_continue": [("stream_swipe", TurnKind.CONTINUATION)],
    "stream_stop_then_turn": [("stream_continue", TurnKind.NARRATION), ("kept", TurnKind.NARRATION)],
    "multi_swipe_n2": [("stream_stop_then_turn 2", TurnKind.NARRATION)],
    "squash_system": [("multi_swipe_n2", TurnKind.NARRATION)],
    "names_completion": [("squash_system", TurnKind.NARRATION)],
    "strict_postprocessing": [("names_completion", TurnKind.NARRATION)],
    "image_part": [("strict_postprocessing", TurnKind.NARRATION)],
    "truncation": [("image_part", TurnKind.NARRATION)],
    "truncation_turn2": [("truncation", TurnKind.NARRATION)],
    "macro_turn1": [("root", TurnKind.NARRATION)],
    "macro_turn2": [("macro_turn1", TurnKind.NARRATION)],
    "macro_branch": [("macro_turn1", TurnKind.NARRATION)],
    "macro_new_chat": [("root", TurnKind.NARRATION)],
    "group_turn1": [("root", TurnKind.NARRATION), ("group_turn1", TurnKind.NARRATION)],
    "group_turn2": [("group_turn1 2", TurnKind.NARRATION), ("group_turn2", TurnKind.NARRATION)],
}


def recorded() -> list[dict[str, Any]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(RECORDINGS.glob("*.json"))]


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"the recordings of a real client are not at {RECORDINGS}")
async def test_every_recorded_request_finds_its_parent() -> None:
    names: dict[str, str] = {}
    seen = []
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        for case in recorded():
            found = []
            chats = [request for request in case["requests"] if (request["body"] or {}).get("messages")]
            for number, request in enumerate(chats, 1):
                body = request["body"]
                turn = await saga.begin(body["messages"], owner="recorded", choices=body.get("n", 1))
                for reply, text in zip(turn.replies, request["reply_text"], strict=True):
                    reply.feed(text)
                made = await turn.commit(finish="" if request["finish"] == "end" else "aborted")
                if turn.parent.kind is TurnKind.ROOT:
                    parent = "root"
                elif turn.parent.kind is TurnKind.ADOPTED:
                    parent = "kept"
                else:
                    parent = names[turn.parent.id]
                found.append((parent, turn.kind))
                names[made[0].id] = case["case"] if number == 1 else f"{case['case']} {number}"
            if found:
                seen.append(case["case"])
                assert found == EXPECTED[case["case"]], case["case"]
        assert sorted(seen) == sorted(EXPECTED)
        sessions = await saga.sessions.list()
        assert len(sessions) == 5, "two chats share a session only where greeting and first words are the same"
