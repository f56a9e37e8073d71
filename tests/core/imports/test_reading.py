"""Every kind is found by its content; what is kept is there, and what is not is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.imports import Card, Chat, Found, Lorebook, read_file
from tests.core.imports import samples


def one(raw: bytes, name: str = "x.bin") -> Found:
    reading = read_file(name, raw)
    assert not reading.refused, reading.refused
    (found,) = reading.found
    return found


def refused(raw: bytes) -> str:
    reading = read_file("x.bin", raw)
    assert not reading.found
    (only,) = reading.refused
    return only.why


def losses(found: Found) -> dict[str, str]:
    return {loss.field: loss.verdict for loss in found.losses}


@pytest.mark.parametrize("name", samples.ALL)
def test_a_kind_is_found_by_its_content(name: str) -> None:
    raw, kinds = samples.ALL[name]
    reading = read_file("something.txt", raw)
    assert not reading.refused
    assert {found.kind for found in reading.found} == kinds


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_an_encoding_is_found_out(encoding: str) -> None:
    card = one(json.dumps(samples.card_v2(name="이솔데"), ensure_ascii=False).encode(encoding)).record
    assert isinstance(card, Card) and card.name == "이솔데"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp949", "이솔데는 소금 문을 지킨다"),
        ("cp932", "イゾルデはしおのもんをまもる"),
        ("cp1252", "Ysolde garde la porte salée"),
    ],
)
def test_an_encoding_of_a_country_is_found_out_and_told(encoding: str, text: str) -> None:
    found = one(json.dumps({"name": "Y", "description": text}, ensure_ascii=False).encode(encoding))
    assert isinstance(found.record, Card) and found.record.description == text
    assert [loss.why for loss in found.losses if loss.field == "encoding"] == [f"read as {encoding}"]


def test_a_card_keeps_what_it_says() -> None:
    card = one(samples.card_png(samples.card_v3())).record
    assert isinstance(card, Card)
    data = samples.card_v3()["data"]
    texts = "name nickname description personality scenario first_mes mes_example system_prompt creator_notes creator"
    for name in (*texts.split(), "post_history_instructions", "character_version"):
        assert getattr(card, name) == data[name], name
    assert card.alternate_greetings == tuple(data["alternate_greetings"])
    assert (card.world, card.depth_prompt, card.tags) == ("Eldoria", "Remember the fog.", ("fantasy",))
    assert card.book is not None and [item.title for item in card.book.items] == ["Salt gate", ""]


def test_v3_counts_where_a_picture_has_both() -> None:
    import base64

    both = {
        "chara": base64.b64encode(samples.plain(samples.card_v2(name="Old"))),
        "ccv3": base64.b64encode(samples.plain(samples.card_v3(name="New"))),
    }
    assert one(samples.png(both)).title == "New"


def test_world_info_keeps_its_rules() -> None:
    found = one(samples.plain(samples.world_info()))
    assert isinstance(found.record, Lorebook)
    item, old = found.record.items
    rule = item.rule
    assert rule.keys == ("brass key", "/arch(ive|way)/i") and rule.second_keys == ("flood",)
    assert (rule.logic, rule.order, rule.position, rule.depth, rule.role) == ("and_all", 80, "at_depth", 2, "user")
    assert (rule.probability, rule.sticky, rule.cooldown, rule.delay) == (60, 4, 8, 2)
    assert (rule.groups, rule.group_weight, rule.group_override) == (("keys", "metal"), 30, True)
    assert (rule.no_recursion_into, rule.no_recursion_from, rule.recursion_level) == (True, True, 2)
    assert (rule.scan_depth, rule.case_sensitive, rule.whole_words) == (6, True, True)
    assert (rule.only_characters, rule.triggers, rule.ignore_budget) == (("Ysolde",), ("normal", "swipe"), True)
    assert not old.rule.special and old.title == "Eldoria"
    told = losses(found)
    assert told["position"] == "mapped" and told["automationId"] == told["matchScenario"] == "dropped"
    assert "key" not in told and "probability" not in told


def test_a_book_of_a_card_keeps_its_rules_and_decorators() -> None:
    found = one(samples.plain(samples.character_book()))
    assert isinstance(found.record, Lorebook)
    rule = found.record.items[0].rule
    assert found.record.items[0].content == "The gate is shut."
    assert (rule.logic, rule.probability, rule.depth, rule.priority, rule.order) == ("not_any", 40, 5, 3, 7)
    assert (rule.whole_words, rule.case_sensitive, rule.recursion_level) == (False, True, 1)
    assert found.record.items[1].rule.scan_depth == 4 and found.record.items[1].rule.no_recursion_into
    assert losses(found)["@@depth"] == "mapped"


def test_a_decorator_that_nobody_knows_falls_back() -> None:
    content = "@@bogus 1\n@@@nothing\n@@@scan_depth 7\n@@@scan_depth 9\nText."
    entry = {"keys": ["a"], "content": content, "extensions": {}, "enabled": True, "insertion_order": 1}
    found = one(samples.plain({"entries": [entry]}))
    assert isinstance(found.record, Lorebook)
    (item,) = found.record.items
    assert (item.content, item.rule.scan_depth) == ("Text.", 7)
    assert {name for name in losses(found) if name.startswith("@@")} == {"@@bogus", "@@nothing"}


def test_risu_lore() -> None:
    found = one(samples.plain(samples.RISU_LORE))
    assert isinstance(found.record, Lorebook)
    mill, dam = found.record.items
    assert mill.rule.keys == ("mill", "weir") and mill.rule.second_keys == ("night",)
    assert mill.rule.additional_keys == ("loft",)
    assert (mill.rule.probability, mill.rule.case_sensitive, mill.content) == (50, True, "The wheel stopped.")
    assert dam.constant and dam.rule.keys == ("/d[ae]m/i",)


def test_every_unknown_field_is_told() -> None:
    entry = {**samples.OLD_ENTRY, "colour": "red"}
    card = samples.card_v2(shoe_size=42)
    assert losses(one(samples.plain({"entries": {"0": entry}})))["colour"] == "dropped"
    assert losses(one(samples.plain(card)))["shoe_size"] == "dropped"
    row = samples.message("A", "Hello there.", hat="top")
    assert losses(one(samples.jsonl(samples.HEADER, row)))["hat"] == "dropped"


def said(found: Found) -> list[tuple[str, str]]:
    assert isinstance(found.record, Chat)
    return [(each.role, each.text) for each in found.record.messages]


def test_a_chat_of_sillytavern() -> None:
    found = one(samples.st_chat())
    chat = found.record
    assert isinstance(chat, Chat)
    assert (chat.user, chat.character, len(chat.messages)) == ("Alex", "Ysolde", 7)
    assert chat.messages[2].swipes == ("Something else altogether happens in turn 1; nobody took this reply, a swipe.",)
    assert chat.messages[1].at == 1748966700.0
    assert losses(found)["extra.reasoning"] == "dropped" and losses(found)["swipes"] == "mapped"


def test_hidden_messages_happened_and_those_of_the_tool_did_not() -> None:
    found = one(samples.jsonl(
        samples.HEADER,
        samples.message("Ysolde", "Hello, traveller."),
        samples.message("Alex", "Hidden words.", user=True, is_system=True),
        samples.message("System", "A narrator.", is_system=True, extra={"type": "narrator"}),
        samples.message("Ysolde", "Hidden reply.", is_system=True),
    ))  # fmt: skip
    assert said(found) == [
        ("assistant", "Hello, traveller."),
        ("user", "Hidden words."),
        ("narrator", "A narrator."),
        ("assistant", "Hidden reply."),
    ]
    assert isinstance(found.record, Chat) and [each.hidden for each in found.record.messages] == [
        False,
        True,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("date", "at"),
    [
        ("2024-06-03T16:05:00.000Z", 1717430700.0),
        ("June 3, 2024 4:05pm", 1717430700.0),
        ("2024-06-03@16h05m00s", 1717430700.0),
        ("2024-6-3 @16h 5m 0s 0ms", 1717430700.0),
        (1717430700000, 1717430700.0),
        ("1717430700", 1717430700.0),
        ("yesterday", 0.0),
        ("2024-06-99@16h05m00s", 0.0),
        (float("1e300"), 0.0),
    ],
)
def test_dates(date: Any, at: float) -> None:
    found = one(samples.jsonl({"chat_metadata": {}}, samples.message("A", "Hello.", send_date=date)))
    assert isinstance(found.record, Chat) and found.record.messages[0].at == at


def test_a_chat_that_is_cut_off_is_read_up_to_there() -> None:
    found = one(samples.st_chat()[:-20])
    assert len(said(found)) == 6
    assert ("line", "dropped") in losses(found).items()


def test_other_chats() -> None:
    assert said(one(samples.plain(samples.OOBA_NEW))) == [
        ("assistant", "Hello & welcome."),
        ("user", "Hi <there>."),
        ("assistant", "Sit down, traveller."),
    ]
    assert said(one(samples.plain(samples.OOBA_OLD))) == [("user", "Hi & bye."), ("assistant", 'Sit down "here".')]
    assert said(one(samples.plain(samples.KOBOLD))) == [
        ("assistant", "Once."),
        ("user", "I look."),
        ("assistant", "A tower stands there."),
        ("user", "I climb."),
        ("assistant", "It is high."),
    ]
    assert said(one(samples.plain(samples.AGNAI_CHAT)))[1] == ("user", "Hello.")
    assert said(one(samples.plain(samples.OPENAI))) == [
        ("assistant", "Hello."),
        ("user", "Hi."),
        ("assistant", "Sit down."),
    ]
    assert [len(found.record.messages) for found in read_file("x", samples.plain(samples.CAI)).found] == [3, 2]  # type: ignore[union-attr]
    risu = one(samples.plain(samples.RISU_CHAT)).record
    assert isinstance(risu, Chat) and risu.name == "Mill night"
    assert [each.hidden for each in risu.messages] == [False, False, True, True]
    assert risu.messages[1].swipes == ("The mill is lit, and nobody is in.",)


def test_assets_have_plain_names() -> None:
    card = one(samples.charx()).record
    assert isinstance(card, Card)
    assert {asset.name for asset in card.assets} == {"icon.png", "evil.png"}


def test_a_zip_of_many_is_read_file_by_file() -> None:
    raw = samples.zipped({
        "data/user/characters/y.png": samples.card_png(samples.card_v2()),
        "data/user/worlds/Eldoria.json": samples.plain(samples.world_info()),
        "data/user/chats/Ysolde/one.jsonl": samples.st_chat(),
        "data/user/notes.txt": b"hello",
        "__MACOSX/x": b"",
        "inner.charx": samples.charx(),
    })  # fmt: skip
    reading = read_file("all.zip", raw)
    assert [found.kind for found in reading.found] == ["card", "world_info", "sillytavern_chat", "card"]
    assert [each.file for each in reading.refused] == ["all.zip/data/user/notes.txt"]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"Once upon a time.", "no card, lorebook or chat"),
        (b'{"temperature": 1}', "preset"),
        (b'{"a": 1}', "no card, lorebook or chat that SAGA knows"),
        (b'{"name": "x", "desc', "cut off"),
        (b"[1, 2]", "no list of messages"),
        (b"rcc||abc", "encrypted"),
        (samples.png({"chara": b"rcc||abc"}), "encrypted"),
        (samples.png({"chara": b"cmNjfHxhYmM="}), "encrypted"),
        (b"\x6f\x00\x10\x00\x00\x00abcdefgh", "module"),
        (b"\x89PNG\r\n\x1a\n", "without a card"),
        (samples.png({}), "without a card"),
        (samples.png({"chara": b"!!!"}), "no base64"),
        (b"\xff\xd8\xff\xe0" + b"\0" * 50, "without a card"),
        (b"PK\x03\x04" + b"\0" * 50, "cannot be read"),
        (samples.charx()[:300], "cannot be read"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"name":' + b'{"a":' * 300 + b"1" + b"}" * 301, "nested deeper"),
        (b"RIFF....WEBP", "holds no card"),
        (b"\x80\x81\x82\xff" * 50, "no text"),
    ],
)
def test_what_is_refused_says_what_it_looks_like(raw: bytes, says: str) -> None:
    assert says in refused(raw)


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def spoiled(draw: st.DrawFn) -> Any:
    """A sample of a kind, some of whose values are anything."""
    sample = json.loads(json.dumps(draw(st.sampled_from([
        samples.card_v2(), samples.card_v3(), samples.world_info(), samples.character_book(), samples.RISU_LORE,
        samples.NOVELAI, samples.AGNAI_BOOK, samples.RISU_CHAT, samples.RISU_ALL, samples.OOBA_NEW, samples.KOBOLD,
        samples.CAI, samples.AGNAI_CHAT, samples.OPENAI, samples.message("A", "b", swipes=["c"], swipe_id=0),
    ]))))  # fmt: skip
    for _ in range(draw(st.integers(1, 4))):
        at = sample
        while isinstance(at, dict | list) and at:
            key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
            if not isinstance(at[key], dict | list) or not at[key] or draw(st.integers(0, 3)) == 0:
                at[key] = draw(VALUE)
                break
            at = at[key]
    return sample


@given(spoiled())
def test_whatever_stands_in_a_field_nothing_breaks(sample: Any) -> None:
    """A file is read or refused with words; nothing else comes out."""
    reading = read_file("x.json", json.dumps(sample).encode("utf-8", "surrogatepass"))
    assert reading.found or reading.refused
    for found in reading.found:
        repr(found.record).encode()


@given(st.data())
def test_a_file_that_is_cut_or_changed_is_read_or_refused(data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from([each for each, _ in samples.ALL.values()])))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    for _ in range(data.draw(st.integers(0, 3))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    reading = read_file("x", bytes(raw))
    assert reading.found or reading.refused


@pytest.mark.parametrize(
    ("text", "taken", "others"),
    [("b, edited", 1, ("a", "c")), ("b", 7, ("a", "c")), ("b", None, ("a", "c")), ("d", -1, ("a", "b", "c"))],
)
def test_no_swipe_is_lost_whichever_was_taken(text: str, taken: int | None, others: tuple[str, ...]) -> None:
    which = {} if taken is None else {"swipe_id": taken}
    said = [samples.message("Alex", "On.", user=True), samples.message("Y", text, swipes=["a", "b", "c"], **which)]
    chat = one(samples.jsonl({"chat_metadata": {}}, *said)).record
    assert isinstance(chat, Chat)
    assert (chat.messages[-1].text, chat.messages[-1].swipes) == (text, others)


def test_words_that_nobody_replied_to_are_told() -> None:
    said = [samples.message("Y", "Well?"), samples.message("Alex", "I wait.", user=True)]
    for rows, told in ((said, ["last words"]), (said[:1], []), ([*said, said[0]], [])):
        found = one(samples.jsonl({"chat_metadata": {}}, *rows))
        assert [loss.field for loss in found.losses if loss.field == "last words"] == told
