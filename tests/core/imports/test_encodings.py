"""Texts in an encoding of one country, whole and cut off anywhere: what it is, the letters tell."""

from __future__ import annotations

import json
from random import Random
from time import process_time

import pytest

from saga_core.imports import Chat, Losses, Unreadable, read_file
from saga_core.imports.texts import decode
from tests.core.imports import samples

TEXTS = {
    "cp949": [
        "이솔데는 소금 문을 지킨다",
        "국밥 한 그릇 주시오. 값은 얼마요?",
        "水晶은 옛 탑의 門을 지키는 노인이 열어 주었다",
        "똠방각하가 펲시콜라를 샀다",
    ],
    "cp932": [
        "イゾルデはしおのもんをまもる",
        "雪の夜、扉が開いた。",
        "塔の魔女は水晶玉をそっと机に置いた。",
        "暖炉にはまだ赤い炭が残っていた。",
    ],
    "gb18030": [
        "小雨把钥匙递给你，雨打在磨坊上。",
        "我走到港口去找灯笼。",
        "繁體字的書也讀得出來，老人說。",
    ],
    "cp1252": ["Ysolde garde la porte salée", "“Don’t go,” she said", "Über die Straße, élève"],
}
CASES = pytest.mark.parametrize(("encoding", "text"), [(each, text) for each, texts in TEXTS.items() for text in texts])


@CASES
def test_an_encoding_is_known_by_its_usual_letters(encoding: str, text: str) -> None:
    losses = Losses()
    plain = json.dumps([{"role": "user", "content": text}], ensure_ascii=False)
    assert decode(plain.encode(encoding), losses) == plain
    assert [(loss.field, loss.why) for loss in losses.listed()] == [("encoding", f"read as {encoding}")]


@CASES
def test_a_text_that_is_cut_off_in_a_letter_is_read_up_to_there(encoding: str, text: str) -> None:
    raw = json.dumps([{"role": "user", "content": f"{text} {text} {text}"}], ensure_ascii=False).encode(encoding)
    for left in range(len(raw) * 2 // 3, len(raw)):
        losses = Losses()
        read = decode(raw[:left], losses)
        assert read == raw[:left].decode(encoding, "ignore")
        cut = ["end of the file"] if read.encode(encoding) != raw[:left] else []
        assert [loss.field for loss in losses.listed()] == [*cut, "encoding"]


@pytest.mark.parametrize("encoding", ["cp949", "cp932", "gb18030"])
def test_a_chat_that_is_cut_off_in_a_letter_keeps_its_whole_lines(encoding: str) -> None:
    said = TEXTS[encoding]
    rows = [{"chat_metadata": {}}, samples.message("Y", said[0]), samples.message("A", said[1], user=True)]
    rows += [samples.message("Y", said[2]), samples.message("A", said[0], user=True)]
    raw = "\n".join(json.dumps(each, ensure_ascii=False) for each in rows).encode(encoding)
    at = raw.rindex(said[0].encode(encoding)[:2]) + 1  # in the middle of its first letter
    found = read_file("x", raw[:at]).found[0]
    assert isinstance(found.record, Chat)
    assert [each.text for each in found.record.messages] == said[:3]
    assert {"end of the file", "line", "encoding"} <= {loss.field for loss in found.losses}


def test_what_is_no_text_is_refused_at_once() -> None:
    noise, began = Random(1).randbytes(10_000_000), process_time()
    with pytest.raises(Unreadable, match="this is no text"):
        decode(noise, Losses())
    assert process_time() - began < 0.5
