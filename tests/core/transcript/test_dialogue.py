"""Reading a transcript: what counts of a text, what does not, and what is refused."""

from __future__ import annotations

import hashlib
import threading
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.errors import BadInput
from saga_core.transcript import dialogue
from saga_core.transcript.dialogue import Speech, marked, read_request, read_transcript, roles, wrapped
from saga_core.transcript.identities import LADDER, _KeyCache, fingerprint, identity, identity_key, prefix_keys

text = st.text(alphabet=st.sampled_from('가나다 어둠의숲*_"“” \n\tab:c.'), max_size=60)


@given(text)
def test_identity_ignores_decoration_spacing_and_normal_form(sample: str) -> None:
    plain = identity(sample)
    assert identity(unicodedata.normalize("NFD", sample)) == plain
    if ":" not in sample and "：" not in sample:
        assert identity(sample.replace(" ", "\n")) == plain
        assert identity("*" + sample + "*") == plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('*The lamp flickers.* "I hear you."', "The lamp flickers. I hear you."),
        ("Ysa: The road is open.", "The road is open."),
        ("에르겐: 어서 오게.", "어서 오게."),
        ("어둠의 숲", "어둠의숲"),
    ],
)
def test_these_are_one_text(one: str, other: str) -> None:
    assert identity_key(one) == identity_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("HP 50", "HP 45"), ("He left: alone", "He came: alone?"), ("그가 왔다.", "그가 갔다.")],
)
def test_these_are_two_texts(one: str, other: str) -> None:
    assert identity_key(one) != identity_key(other)


def test_a_picture_is_part_of_the_identity() -> None:
    def picture(url: str) -> dict[str, Any]:
        parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]
        return {"role": "user", "content": parts}

    one, same, other = (read_transcript([picture(url)]).utterances[0].key for url in ("data:a", "data:a", "data:b"))
    assert one == same != other
    assert read_transcript([picture("data:a")]).player_words == "look"


def test_a_hidden_block_in_the_history_is_no_part_of_it() -> None:
    shown = "그는 칼을 뽑았다."
    kept = shown + "\n\n```state\nhp_change: -5\n```"
    transcript = read_transcript([{"role": "assistant", "content": kept}, {"role": "user", "content": "계속"}])
    assert transcript.past[0].text == shown
    assert transcript.past[0].key == identity_key(shown)


def test_the_parts_of_a_real_request() -> None:
    transcript = read_transcript(
        [
            {"role": "system", "content": "card"},
            {"role": "assistant", "content": "Welcome."},
            {"role": "user", "content": "Hello."},
            {"role": "system", "content": "note"},
            {"role": "assistant", "content": "Hm."},
            {"role": "user", "content": "I go.", "name": "Alex"},
            {"role": "user", "content": "And look."},
            {"role": "system", "content": "Keep it short."},
        ]
    )
    assert [utterance.text for utterance in transcript.greeting] == ["Welcome."]
    assert transcript.player_words == "I go.\nAnd look."
    assert transcript.words[0].speaker == "Alex"
    assert [utterance.text for utterance in transcript.past] == ["Welcome.", "Hello.", "Hm."]
    assert transcript.trailing_system == "Keep it short."
    assert transcript.system_text == "card\nnote\nKeep it short."
    assert not transcript.prefilled


@given(st.text(max_size=400))
def test_beginnings_are_shared_by_whatever_begins_so(sample: str) -> None:
    whole = identity(sample)
    for cut in range(0, len(whole), 7):
        beginning = prefix_keys(whole[:cut])
        assert set(beginning) <= set(prefix_keys(whole))
        assert len(beginning) == sum(cut >= length for length in LADDER)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([], "messages: the list is empty"),
        (["hi"], "messages[0]: str given"),
        ([{"content": "hi"}], "messages[0].role: None is not known; use one of system, developer, user"),
        ([{"role": "wizard", "content": "hi"}], "messages[0].role: 'wizard' is not known"),
        ([{"role": "user", "content": 5}], "messages[0].content: int given"),
        ([{"role": "user", "content": [{"text": "x"}]}], 'messages[0].content[0]: a part is an object with a "type"'),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
    ],
)
def test_bad_messages_are_named(messages: list[Any], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_transcript(messages)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<Mina's Message>\n안녕.\n</Mina's Message>", [("Mina", "안녕.")]),
        ("a <Mina’s Message>b</Mina’s Message> c <X's Message>d</X's Message>", [("Mina", "b"), ("X", "d")]),
        ("<Mina's Message>never closed <X's Message>d</X's Message>", [("X", "d")]),
        ("<Mina's Message>a</X's Message>", []),
        ("</Mina's Message>", []),
    ],
)
def test_wrapped_parts(text: str, parts: list[tuple[str, str]]) -> None:
    assert [(part.speaker, part.text) for part in wrapped(text)] == parts


@pytest.mark.parametrize("blank", ["\n", " \n", "\n ", "\t", " ", "[ \n"])
def test_blanks_are_read_in_one_pass(blank: str) -> None:
    text = f"간다.{blank * 30_000}끝."
    began = time.process_time()
    assert read_transcript([{"role": "user", "content": text}]).player_words == text
    assert time.process_time() - began < 2


def test_wrappers_without_end_are_read_in_one_pass() -> None:
    text = "<Mina's Message>" * 60_000
    began = time.process_time()
    assert read_transcript([{"role": "user", "content": text}]).player_words == text
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "card\nuser: 안녕.\n\nassistant: 어서 와.\n두 번째 줄.",
            [("user", "안녕."), ("assistant", "어서 와.\n두 번째 줄.")],
        ),
        ("the user: not at the beginning of a line", []),
    ],
)
def test_parts_marked_by_role(text: str, parts: list[tuple[str, str]]) -> None:
    assert [(part.role, part.text) for part in marked(text)] == parts


def test_who_speaks_last_is_the_player() -> None:
    names = [Speech(name, "", "…") for name in ("Mina", "Alex", "Tam", "Alex")]
    assert roles(names) == ["assistant", "user", "assistant", "user"]
    assert roles([Speech("Mina", "", "…")] * 3) == ["user", "assistant", "user"]


def test_instructions_are_no_words_where_something_was_replied() -> None:
    chat = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hm."}]
    note = "[Continue the last response]"
    asked = read_transcript([*chat, {"role": "user", "content": f"I go.\n\n{note}"}])
    assert (asked.player_words, asked.trailing_system) == ("I go.", note)
    first = read_transcript([{"role": "user", "content": f"A long system prompt.\n{note}\nAnd the first words."}])
    assert not first.asked, "there it may belong to the system prompt"
    earlier = read_transcript([*chat, {"role": "user", "content": note}, *chat])
    assert [each.text for each in earlier.utterances if each.role == "user"] == ["Hello.", note, "Hello."]


def test_a_system_text_in_the_users_role_is_no_utterance() -> None:
    chat = [{"role": "user", "content": "system: lore"}, {"role": "user", "content": "I go."}]
    transcript = read_transcript([*chat, {"role": "user", "content": "system: more lore"}])
    assert transcript.player_words == "I go."
    assert transcript.system_text == "system: lore\nsystem: more lore"
    assert transcript.trailing_system == "system: more lore"


def test_keys_of_many_texts_stay_within_the_bound() -> None:
    cache = _KeyCache(limit=10)
    texts = [f"text {number}" for number in range(100)]
    for text in texts:
        assert cache.key(text) == cache.key(text) == fingerprint(identity(text))
        assert len(cache.young) + len(cache.old) <= 20
    assert cache.key(texts[-11]) == fingerprint(identity(texts[-11]))


def test_a_beginning_that_is_sent_once_for_each_attempt_is_one_reply() -> None:
    begun = {"role": "assistant", "content": '"Sit," she says,'}
    chat = [{"role": "user", "content": "I thank her."}]
    for count in (1, 2, 3):
        found = read_transcript([*chat, *[begun] * count])
        assert [each.text for each in found.utterances] == ["I thank her.", '"Sit," she says,']
        assert found.prefilled
    other = read_transcript([*chat, begun, {**begun, "content": "Another."}])
    assert len(other.utterances) == 3


TEXTS = ("plain", "it's", 'a "b"', "both ' and \"", "back\\slash \n \x00 \ud800 é 한", "")
PARTS: list[Any] = [
    {"type": "image_url", "image_url": {"url": text * times, "more": [1, 2.5, None, True, {}, [], text], "none": []}}
    for text in TEXTS
    for times in (1, 30_000)
]


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_a_part_is_known_by_what_it_always_was(number: int) -> None:
    part = PARTS[number]
    (said,) = read_transcript([{"role": "user", "content": [part]}]).utterances
    assert said.images == (hashlib.blake2b(repr(part).encode(), digest_size=8).hexdigest(),)


async def test_a_large_picture_is_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    found = dialogue._fingerprint

    def noted(part: Any) -> str:
        threads.add(threading.get_ident())
        return found(part)

    monkeypatch.setattr(dialogue, "_fingerprint", noted)
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    await read_request([{"role": "user", "content": [{"type": "text", "text": "Look."}, part]}])
    assert threads and threading.get_ident() not in threads
