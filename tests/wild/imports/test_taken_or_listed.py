"""Files as they really come: what is taken of them is whole or listed, and what is refused says why.

Each input is of a kind that people reported. The words are made up.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.imports import Card, Chat, Found, Lorebook, Record, importers, plan_stories, read_file
from saga_core.imports.texts import unmixed
from saga_core.language import fold_name
from tests.core.imports import samples

HEADER = {"user_name": "unused", "character_name": "unused", "chat_metadata": {"integrity": "1"}}
TEXTS = ("The ferry leaves at dusk.", "I buy a seat.", "She takes the key.", "I board.", "The rope’s cast off.")


def message(at: int, text: str, **more: Any) -> dict[str, Any]:
    name = ("Odile", "Tamsin")[at % 2]
    date = "2026-06-01T10:00:00.000Z"
    return {"name": name, "is_user": bool(at % 2), "is_system": False, "send_date": date, "mes": text, **more}


def lines(*texts: str) -> list[bytes]:
    rows = [HEADER, *(message(at, text) for at, text in enumerate(texts))]
    return [json.dumps(row, ensure_ascii=False).encode() for row in rows]


WHOLE = lines(*TEXTS)


def found(raw: bytes, name: str = "Odile - ferry.jsonl") -> Found:
    reading = read_file(name, raw)
    assert reading.found, reading.refused
    return reading.found[0]


def texts(record: Record) -> tuple[str, ...]:
    assert isinstance(record, Chat)
    return tuple(each.text for each in record.messages)


def listed(one: Found) -> str:
    return "\n".join(f"{loss.field}: {loss.why} ({loss.where})" for loss in one.losses)


def refused(raw: bytes, name: str = "x") -> str:
    (only,) = read_file(name, raw).refused
    return only.why


# -- chats that are damaged somewhere ------------------------------------------------------------------------------

DAMAGED = {
    "a byte order mark before the header": (b"\xef\xbb\xbf" + b"\n".join(WHOLE), TEXTS, ""),
    "a byte order mark before the second line": (
        b"\n".join([WHOLE[0], b"\xef\xbb\xbf" + WHOLE[1], *WHOLE[2:]]),
        TEXTS,
        "",
    ),
    "the header is cut off": (b"\n".join([WHOLE[0][:30], *WHOLE[1:]]), TEXTS, "line 1"),
    "the header is cut off, Windows line ends": (b"\r\n".join([WHOLE[0][:30], *WHOLE[1:]]), TEXTS, "line 1"),
    "zero bytes for a header": (b"\0" * 512 + b"\n" + b"\n".join(WHOLE[1:]), TEXTS, "line 1"),
    "zero bytes at the end": (b"\n".join(WHOLE) + b"\n" + b"\0" * 4_096, TEXTS, "line 7"),
    "zero bytes in the middle": (b"\n".join([*WHOLE[:2], b"\0" * 99, *WHOLE[3:]]), (TEXTS[0], *TEXTS[2:]), "line 3"),
    "a broken line": (b"\n".join([*WHOLE[:4], WHOLE[4][:25], *WHOLE[5:]]), (*TEXTS[:3], TEXTS[4]), "line 5"),
    "two lines in one": (b"\n".join([*WHOLE[:3], WHOLE[3] + WHOLE[4], WHOLE[5]]), TEXTS, "line 4"),
    "a line that is no object": (b"\n".join([*WHOLE[:3], b"null", *WHOLE[3:]]), TEXTS, "line 4"),
    "the end is cut off": (b"\n".join(WHOLE)[:-30], TEXTS[:4], "the last line is cut off"),
    "the first half is lost": (WHOLE[2][30:] + b"\n" + b"\n".join(WHOLE[3:]), TEXTS[2:], "line 1"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_chat_is_read_but_for_the_damage(what: str) -> None:
    raw, whole, where = DAMAGED[what]
    one = found(raw)
    assert one.kind == "sillytavern_chat" and texts(one.record) == whole
    assert where in listed(one)


@pytest.mark.parametrize(
    "told",
    [
        ("나루터의 배는 해 질 녘에 떠난다.", "은 열쇠로 자리를 산다.", "그녀는 열쇠를 앞치마에 넣는다. @"),
        ("Паром уходит в сумерках.", "Я покупаю место.", "Она прячет ключ. @"),
        ("It’s late — she nods.", "I’ll buy a seat.", "She hides the key. @"),
        ("渡し船は夕暮れに出る。", "席を買う。", "彼女は鍵を隠す。@"),
    ],
)
def test_one_bad_byte_spoils_its_own_line(told: tuple[str, ...]) -> None:
    one = found(b"\n".join(lines(*told)).replace(b"@", b"\xff"))
    assert texts(one.record) == (*told[:2], told[2].replace("@", "\N{REPLACEMENT CHARACTER}"))
    assert "encoding: a byte that is not UTF-8 stands as U+FFFD (line 4)" in listed(one)


@pytest.mark.parametrize("told", ["Café…", "“fatigué…”", "fatigué…”", "AMANHÃ…", "나룻배가 샌다.", "ÄÖÜ“"])
def test_a_line_in_its_own_letters_stays_as_it_is(told: str) -> None:
    assert unmixed(told) == told


@given(st.data())
def test_a_chat_with_damage_anywhere_loses_no_whole_line_in_silence(data: st.DataObject) -> None:
    raw = bytearray(b"\n".join(WHOLE))
    at = data.draw(st.integers(0, len(raw) - 1))
    size = data.draw(st.integers(1, 60))
    raw[at : at + size] = data.draw(st.sampled_from([b"", b"\0" * size, b"\xff" * size, b"\n", b'"', b"}"]))
    reading = read_file("x.jsonl", bytes(raw))
    intact = [text for text, line in zip(TEXTS, WHOLE[1:], strict=True) if line in bytes(raw).split(b"\n")]
    if not reading.found:
        assert reading.refused[0].why
        return
    (one,) = reading.found
    for text in intact:
        assert text in texts(one.record)
    if len(texts(one.record)) < len(TEXTS):
        assert one.losses


# -- what a narrator says --------------------------------------------------------------------------------------------


def narrated(*rows: dict[str, Any]) -> list[tuple[str, str, bool]]:
    raw = b"\n".join(json.dumps(row).encode() for row in rows)
    one = found(raw)
    assert isinstance(one.record, Chat)
    ((story,), ()) = plan_stories([(one.file, one.record)])  # type: ignore[misc]
    return [(turn.user, turn.reply, "dies" in turn.user + turn.reply) for turn in story.turns]


SYS = {**message(0, "Brand dies of the fever."), "name": "System", "extra": {"type": "narrator"}}


def test_a_narrators_line_belongs_to_the_next_turn_and_does_not_change_what_it_is_found_by() -> None:
    plain = [HEADER, *(message(at, text) for at, text in enumerate(TEXTS))]
    with_it = [*plain[:4], SYS, *plain[4:]]
    assert narrated(*with_it)[1] == ("Brand dies of the fever.\nI board.", TEXTS[4], True)
    stories = []
    for rows in (plain, with_it):
        record = found(b"\n".join(json.dumps(row).encode() for row in rows)).record
        assert isinstance(record, Chat)
        stories.append(plan_stories([("x", record)])[0][0])
    keys = [[(turn.user_key, turn.reply_key) for turn in story.turns] for story in stories]
    assert keys[0] == keys[1] and stories[0].greeting == stories[1].greeting


def test_a_narrators_line_at_the_end_belongs_to_the_last_turn() -> None:
    (first, last) = narrated(HEADER, *(message(at, text) for at, text in enumerate(TEXTS)), SYS)
    assert not first[2] and last == ("I board.", f"{TEXTS[4]}\n\nBrand dies of the fever.", True)


def test_a_narrators_line_before_the_first_words_is_no_greeting() -> None:
    assert narrated(HEADER, message(0, TEXTS[0]), SYS, message(1, TEXTS[1]), message(2, TEXTS[2]))[0][2]


def test_a_comment_is_no_story_and_is_listed() -> None:
    comment = {**message(0, "fix the map"), "is_system": True, "extra": {"type": "comment"}}
    one = found(b"\n".join([*WHOLE, json.dumps(comment).encode()]))
    assert "fix the map" not in texts(one.record)
    assert "a message of the tool is no turn of the story (line 7)" in listed(one)


# -- RisuAI ----------------------------------------------------------------------------------------------------------

LORE = [
    {"key": "", "comment": "Always", "content": "The river is called Aude.", "mode": "constant", "alwaysActive": True},
    {"key": "cellar, 지하실", "comment": "Cellar", "content": "The cellar floods.", "mode": "normal"},
]
MODULES = [
    {"type": "risuModule", "module": {"name": "Ferry", "lorebook": LORE}},
    {"type": "risuModule", "name": "Ferry", "lorebook": LORE, "regex": [], "trigger": []},
    {"type": "risuModule", "name": "Ferry", "lorebook": LORE, "namespace": "ferry", "cjs": ""},
    {"name": "Ferry", "lorebook": LORE, "customModuleToggle": "a=b"},
]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_of_any_form_gives_the_same_lore(module: dict[str, Any]) -> None:
    record = found(samples.plain(module)).record
    assert isinstance(record, Lorebook) and record.name == "Ferry"
    assert [(item.content, item.constant, item.rule.keys) for item in record.items] == [
        ("The river is called Aude.", True, ()),
        ("The cellar floods.", False, ("cellar", "지하실")),
    ]


@pytest.mark.parametrize("quoted", [False, True])
def test_a_chat_as_a_page_is_read_from_what_the_page_carries(quoted: bool) -> None:
    chat = {"message": [{"role": "user", "data": "I <b>buy</b> a seat."}, {"role": "char", "data": "She nods."}]}
    text = json.dumps({**chat, "name": "Ferry", "note": "", "localLore": []})
    text = text.replace("<", "&lt;").replace('"', "&quot;") if quoted else text
    page = f'<!DOCTYPE html>\n<html><body><div class="chat">x</div><div class="idat">{text}</div></body></html>'
    one = found(page.encode(), "Ferry.html")
    assert one.kind == "risu_chat" and texts(one.record) == ("I <b>buy</b> a seat.", "She nods.")


def test_another_page_and_a_scrambled_module_say_what_to_export() -> None:
    assert "as JSON" in refused(b"<!DOCTYPE html><html><body>The ferry</body></html>")
    assert "as JSON" in refused(b"\x6f\x00\x20\x00\x00\x00" + b"scrambled words " * 2)


# -- Kobold Lite -----------------------------------------------------------------------------------------------------


def kobold(mode: int, *pieces: str, **settings: str) -> list[tuple[str, str, str]]:
    save = {
        "gamestarted": True,
        "prompt": pieces[0],
        "actions": pieces[1:],
        "savedsettings": {"opmode": mode, **settings},
    }
    one = found(samples.plain(save), "ferry.json")
    assert isinstance(one.record, Chat)
    return [(each.role, each.speaker, each.text) for each in one.record.messages]


def test_a_story_in_chat_mode_has_names_before_its_lines() -> None:
    pieces = ("\nOdile: It is late.\nIt rains.", "\nTamsin: I wait.\nOdile: Come.\nBrand: Wait!", "\nTamsin: Thanks.")
    assert kobold(3, *pieces, chatname="Tamsin", chatopponent="Odile||$||Brand") == [
        ("assistant", "Odile", "It is late.\nIt rains."),
        ("user", "Tamsin", "I wait."),
        ("assistant", "Odile", "Come."),
        ("assistant", "Brand", "Wait!"),
        ("user", "Tamsin", "Thanks."),
    ]


def test_a_story_in_adventure_mode_has_actions() -> None:
    pieces = ("You wake.\n\n> You listen\n\n", "Water drips.", "\n\n> You stand up\n\nThe lamp goes out.")
    assert kobold(2, *pieces) == [
        ("assistant", "", "You wake."),
        ("user", "", "You listen"),
        ("assistant", "", "Water drips."),
        ("user", "", "You stand up"),
        ("assistant", "", "The lamp goes out."),
    ]


def test_a_story_in_instruct_mode_has_its_own_tags() -> None:
    pieces = ("<|im_start|>user\nI light it.<|im_end|>\n<|im_start|>assistant\n", "A door.")
    tags = {"instruct_starttag": "<|im_start|>user\\n", "instruct_endtag": "<|im_end|>\\n<|im_start|>assistant\\n"}
    assert kobold(4, *pieces, **tags) == [("user", "", "I light it."), ("assistant", "", "A door.")]


def test_a_story_in_story_mode_is_pieces_of_telling() -> None:
    assert kobold(1, "Once.", " Twice.") == [("assistant", "", "Once."), ("assistant", "", "Twice.")]


# -- cards -----------------------------------------------------------------------------------------------------------


def card(**data: Any) -> dict[str, Any]:
    whole = {"name": "Odile", "description": "Keeps the ferry inn.", "first_mes": "Welcome?!", "extensions": {}}
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": {**whole, **data}}


CHUNK = base64.b64encode(samples.plain(card(description="Keeps the inn. ??>>~~")))
PICTURES = {
    "keyword in capitals": ({"Chara": CHUNK}, ""),
    "V3 in capitals": ({"CCV3": CHUNK}, ""),
    "without padding": ({"chara": CHUNK.rstrip(b"=")}, ""),
    "base64 for URLs": ({"chara": CHUNK.replace(b"+", b"-").replace(b"/", b"_")}, ""),
    "a zero byte behind it": ({"chara": CHUNK + b"\0"}, ""),
    "in lines": ({"chara": b"\n".join(CHUNK[at : at + 76] for at in range(0, len(CHUNK), 76))}, ""),
    "a broken V3 beside a good V2": ({"ccv3": b"undefined", "chara": CHUNK}, "ccv3: the picture's chunk ccv3"),
    "a broken V2 beside a good V3": ({"chara": b"undefined", "ccv3": CHUNK}, ""),
    "V3 is no JSON": ({"ccv3": base64.b64encode(b"{"), "chara": CHUNK}, "ccv3: this is no JSON"),
    "V3 is a list": (
        {"ccv3": base64.b64encode(b"[]"), "chara": CHUNK},
        "chunk ccv3 is no JSON object",
    ),
}


@pytest.mark.parametrize("what", PICTURES)
def test_a_picture_that_frontends_take_is_taken(what: str) -> None:
    chunks, told = PICTURES[what]
    one = found(samples.png(chunks), "odile.png")
    assert isinstance(one.record, Card) and one.record.description == "Keeps the inn. ??>>~~"
    assert told in listed(one)


def test_two_cards_in_a_picture_are_told() -> None:
    first = samples.png({"chara": base64.b64encode(samples.plain(card(name="Old")))})
    second = samples.png({"Chara": base64.b64encode(samples.plain(card(name="New")))})
    end = first.index(b"IEND") - 4
    one = found(first[:end] + second[second.index(b"tEXt") - 4 :])
    assert one.title == "New" and "the picture has several such texts" in listed(one)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"RIFF\x10\0\0\0WEBPVP8 ", "WebP"),
        (b"GIF89a....", "GIF"),
        (b"\0\0\0\x1cftypavif....", "AVIF"),
        (b"%PDF-1.7", "PDF"),
    ],
)
def test_another_format_behind_the_name_is_named(raw: bytes, name: str) -> None:
    assert name in refused(raw, "odile.png")


def test_a_book_beside_data_is_the_cards() -> None:
    book = {"entries": [{"keys": ["cellar"], "content": "It floods.", "enabled": True, "extensions": {}}]}
    one = found(samples.plain({**card(), "character_book": book}))
    assert isinstance(one.record, Card) and one.record.book is not None
    assert [item.content for item in one.record.book.items] == ["It floods."]
    assert "character_book: it stands beside data" in listed(one)


def test_other_fields_beside_data_are_listed_unless_they_are_copies() -> None:
    plain = {
        **card(scenario="A ferry"),
        "description": "Keeps the ferry inn.",
        "scenario": "A mill",
        "lorebook": {"a": 1},
    }
    one = found(samples.plain({**plain, "world_scenario": "", "example_dialogue": "Hm."}))
    told = listed(one)
    assert "scenario: it stands beside data, which has another" in told and "lorebook: SAGA does not know" in told
    assert "example_dialogue: it stands beside data" in told
    assert isinstance(one.record, Card)
    assert (one.record.scenario, one.record.mes_example) == ("A ferry", "Hm.")


@pytest.mark.parametrize(
    ("keys", "read"),
    [
        ("cellar, vault", ("cellar", "vault")),
        ("cellar", ("cellar",)),
        ("/cel+ar, x/i", ("/cel+ar, x/i",)),
        (["a, b"], ("a, b",)),
    ],
)
def test_keys_as_one_text_are_split_unless_they_are_a_pattern(keys: Any, read: tuple[str, ...]) -> None:
    entry = {"keys": keys, "content": "It floods.", "enabled": None, "insertion_order": "10", "extensions": None}
    record = found(samples.plain(card(character_book={"name": None, "entries": {"0": entry, "1": None}}))).record
    assert isinstance(record, Card) and record.book is not None
    (item,) = record.book.items
    assert (item.rule.keys, item.rule.order, item.rule.enabled) == (read, 10, True)


def test_a_card_without_a_name_has_the_files_and_says_so() -> None:
    one = found(samples.plain(card(name="")), "The ferry.json")
    assert one.title == "The ferry" and "name: the card has none" in listed(one)


def test_every_text_of_a_card_is_in_it_or_listed() -> None:
    """The law of this page, for fields that nobody foresaw."""
    one = found(samples.plain({**card(mood="glad", tags="inn, ferry"), "colour": "red"}))
    assert isinstance(one.record, Card)
    assert one.record.tags == ("inn, ferry",)
    assert {"mood", "colour"} <= {loss.field for loss in one.losses}


# -- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("می\u200cنا", "مینا"), ("\u200fנועה\u200e", "נועה"), ("Mara❤\ufe0f", "Mara"), ("✨Luna✨", "Luna"),
        ("🌙 Mara", "Mara"), ("ＫＡＩ♪", "KAI"), ("Ma\u00adra", "Mara"), ("Zoe\u0301", "Zoé"), ("🦊", "🦊\ufe0f"),
        ("👩🏽\u200d🚀", "👩🏽🚀"),
    ],
)  # fmt: skip
def test_a_name_is_one_name_however_it_is_decorated(one: str, other: str) -> None:
    assert fold_name(one) == fold_name(other)


@pytest.mark.parametrize(("one", "other"), [("🦊", "🐻"), ("Mara", "Maro"), ("™", "℠"), ("", "🦊")])
def test_other_names_stay_others(one: str, other: str) -> None:
    assert fold_name(one) != fold_name(other)


def test_every_importer_is_there() -> None:
    assert importers().failed == {} and "risu_chat" in importers().kinds
