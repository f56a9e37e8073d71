"""The generated dialogues and plays of the recall benchmark, as chats to serve."""

from __future__ import annotations

from collections.abc import Sequence

from saga_core.ports import Embedder
from tests.bench.recall.adventures import make_adventure, make_two_steps
from tests.bench.recall.chats import Chatter, make_chat
from tests.bench.recall.dialogue_set import Dialogue
from tests.bench.recall.plays import stage_play
from tests.bench.recall.served import Asked, Chat
from tests.bench.recall.stage import Stage
from tests.bench.recall.times import stage_times

_BOTH = ("en", "ko")
SERVED = {
    "talk": _BOTH,
    "play": _BOTH,
    "times": _BOTH,
    "adventure": ("en", "ko", "ja", "zh"),
    "two-step": _BOTH,
}
"""The kinds of chats, and the languages of each."""
_CHATTER = Chatter(((1, 2, 3, 5), (3, 3, 2, 2)), particular=0.4)
"""More small talk than in the dialogues, where each utterance is a turn, and partly about particular events. A pair has
about 300 characters in English, and one pair in three has more than 320."""


async def served_chats(kind: str, language: str, seeds: Sequence[int], embedder: Embedder) -> list[Chat]:
    """The chats of a kind in ``SERVED``, one for each seed."""
    if kind == "adventure":
        return [make_adventure(language, seed) for seed in seeds]
    if kind == "two-step":
        return [make_two_steps(language, seed) for seed in seeds]
    if kind == "talk":
        return [chat_of_dialogue(make_chat(language, seed, _CHATTER)) for seed in seeds]
    stage = stage_times if kind == "times" else stage_play
    return [chat_of_play(await stage(language, seed, embedder), language) for seed in seeds]


def chat_of_dialogue(dialogue: Dialogue) -> Chat:
    """The talk in pairs of two turns. The first turn of a pair becomes the player's, regardless of its speaker.

    A last turn without a reply gets an ellipsis as its reply.
    """
    texts = [said.text for said in dialogue.turns]
    if len(texts) % 2:
        texts.append("…")
    at = {said.id: number // 2 for number, said in enumerate(dialogue.turns)}
    return Chat(
        dialogue.id,
        dialogue.language,
        tuple(zip(texts[::2], texts[1::2], strict=True)),
        tuple(
            Asked(each.text, tuple(dict.fromkeys(at[id_] for id_ in each.evidence)), each.answer, each.group)
            for each in dialogue.questions
        ),
    )


def chat_of_play(stage: Stage, language: str) -> Chat:
    """A play without its state blocks.

    New names and returns to places are not asked about, because only the state blocks or the world have the answers.
    """
    turns = [node.id for node in sorted(stage.tree.nodes.values(), key=lambda node: node.depth)][1:]
    at = {turn: number for number, turn in enumerate(turns)}
    asked = [
        Asked(case.request.player_words, (at[evidence.turn],), case.answer, case.group)
        for case in stage.cases
        for evidence in case.evidence
        if evidence.turn and case.group != "renamed"
    ]
    return Chat(stage.id, language, tuple(stage.chat), tuple(asked))
