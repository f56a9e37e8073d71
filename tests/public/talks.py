"""LoCoMo, LongMemEval, BEAM and CRD3 as served chats, from the files as they are published.

Every two messages are the player's words and the reply, whoever said them. Who speaks stands in front of a message if
the set has names, and the time of a conversation in front of its first message. An answer counts only if it has six
words at most, because a longer one is never told word for word. Questions without evidence are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.recall.served import Asked, Chat

_WORDS = 6
_TURN = re.compile(r"D(\d+):(\d+)")
_PLACE = re.compile(r"\s*->->\s*[\d,]+\s*$")
_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""LoCoMo's categories. The fifth asks for what was never said."""
_Said = tuple[str, str]
"""The id of a message, and its text."""
_Question = tuple[str, Sequence[str], Any, str]
"""The question, the ids of its evidence, the answer, the group."""


def _chat(id_: str, said: Sequence[_Said], questions: Iterator[_Question]) -> Chat:
    texts = [text or "…" for _, text in said]
    if len(texts) % 2:
        texts.append("…")
    places: dict[str, list[int]] = {}
    for number, (message, _) in enumerate(said):
        places.setdefault(message, []).append(number // 2)
    asked = []
    for text, evidence, answer, group in questions:
        turns = tuple(sorted({place for message in evidence for place in places.get(message, ())}))
        words = str(answer or "")
        if turns:
            asked.append(Asked(text, turns, words if len(words.split()) <= _WORDS else "", group))
    return Chat(id_, "en", tuple(zip(texts[::2], texts[1::2], strict=True)), tuple(asked))


def locomo(path: Path) -> Iterator[Chat]:
    """``locomo10.json``: a list of conversations in sessions, each with its questions."""
    for row in json.loads(path.read_text(encoding="utf-8")):
        talk = row["conversation"]
        numbers = sorted(int(name[8:]) for name in talk if re.fullmatch(r"session_\d+", name))
        said: list[_Said] = []
        for number in numbers:
            for at, each in enumerate(talk[f"session_{number}"]):
                text = f"{each['speaker']}: {each['text']}"
                if each.get("blip_caption"):
                    text += f" [{each['blip_caption']}]"
                said.append((each["dia_id"], text if at else f"({talk[f'session_{number}_date_time']}) {text}"))
        yield _chat(str(row["sample_id"]), said, _locomo_questions(row["qa"]))


def _locomo_questions(rows: Sequence[Mapping[str, Any]]) -> Iterator[_Question]:
    for row in rows:
        if kind := _KINDS.get(row["category"]):
            evidence = [f"D{int(a)}:{int(b)}" for a, b in _TURN.findall(" ".join(row.get("evidence", ())))]
            yield row["question"], evidence, row.get("answer"), kind


def longmemeval(path: Path) -> Iterator[Chat]:
    """``longmemeval_s.json`` and its sisters: one question for each haystack of conversations."""
    for row in json.loads(path.read_text(encoding="utf-8")):
        said: list[_Said] = []
        evidence: list[str] = []
        for session, (talk, day) in enumerate(zip(row["haystack_sessions"], row["haystack_dates"], strict=True)):
            for at, each in enumerate(talk):
                message = f"{session}:{at}"
                said.append((message, each["content"] if at else f"({day}) {each['content']}"))
                evidence += [message] if each.get("has_answer") else []
        question = (row["question"], evidence, row["answer"], row["question_type"])
        yield _chat(row["question_id"], said, iter([question]))


def beam(path: Path) -> Iterator[Chat]:
    """A folder of BEAM's chats, such as ``chats/100K``: each has ``chat.json`` and its probing questions."""
    for folder in sorted((each.parent for each in path.glob("*/chat.json")), key=lambda each: each.name.zfill(9)):
        batches = json.loads((folder / "chat.json").read_text(encoding="utf-8"))
        if not all("turns" in batch for batch in batches):
            raise ValueError(f"{folder}: a batch has no turns; the chats of ten million tokens are not read")
        messages = [each for batch in batches for turn in batch["turns"] for each in turn]
        said = [(str(each["id"]), _PLACE.sub("", each["content"])) for each in messages]
        rows = json.loads((folder / "probing_questions" / "probing_questions.json").read_text(encoding="utf-8"))
        yield _chat(f"{path.name}-{folder.name}", said, _beam_questions(rows))


def _beam_questions(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[_Question]:
    for ability, questions in rows.items():
        for row in questions:
            evidence = [str(each) for each in _flat(row.get("source_chat_ids", ()))]
            yield row["question"], evidence, row.get("answer"), ability


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    elif value != ():
        yield value


def crd3(path: Path) -> Iterator[Chat]:
    """A folder of CRD3's aligned chunks, such as ``aligned data/c=2``: each summary is asked for the turns it sums up.

    Only the first of the two offsets of an episode is read (``…_0.json``).
    """
    for file in sorted(path.glob("*_0.json")):
        chunks = json.loads(file.read_text(encoding="utf-8"))
        turns = {turn["NUMBER"]: turn for chunk in chunks for turn in chunk["TURNS"]}
        said = [
            (str(number), f"{', '.join(turns[number]['NAMES'])}: {' '.join(turns[number]['UTTERANCES'])}")
            for number in sorted(turns)
        ]
        yield _chat(file.stem, said, _crd3_questions(chunks))


def _crd3_questions(chunks: Sequence[Mapping[str, Any]]) -> Iterator[_Question]:
    for chunk in chunks:
        if chunk["ALIGNMENT"]["ALIGNMENT SCORE"] > 0:
            yield chunk["CHUNK"], [str(turn["NUMBER"]) for turn in chunk["TURNS"]], None, "summary"


TALKS: Mapping[str, Callable[[Path], Iterator[Chat]]] = {
    "locomo": locomo,
    "longmemeval": longmemeval,
    "beam": beam,
    "crd3": crd3,
}
"""The sets, by name."""
