"""Normal forms take time in proportion to a text, whatever marks stand on a letter, and nobody goes round them."""

from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.language import nfc, normalized, pieces
from saga_core.language.normal_forms import _long_run
from saga_core.transcript import read_transcript

ROOT = Path(__file__).resolve().parents[3]
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = (
    "\u0301\u0316",
    "\u0316\u0301",
    "\u05b0\u0591\u0316",
    "\u0f73",
    "\u0f81\u0f75",
    "\u3099\u0316",
    "\U0001d165\u0316",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("marks", MARKS, ids=ascii)
def test_many_marks_on_a_letter_take_no_time(marks: str, form: str) -> None:
    text = "a" + marks * 15_000
    began = time.thread_time()
    found = normalized(form, text)  # type: ignore[arg-type]
    assert time.thread_time() - began < 0.15
    assert unicodedata.is_normalized(form, found)  # type: ignore[arg-type]
    assert found.replace("\u034f", "") != text or unicodedata.is_normalized(form, text)  # type: ignore[arg-type]


def test_a_request_full_of_marks_takes_no_time() -> None:
    marked = "I go. " + "a" + "\u0301\u0316" * 20_000
    began = time.thread_time()
    read = read_transcript([{"role": "assistant", "content": marked}, {"role": "user", "content": marked}])
    assert read.utterances[-1].key
    assert time.thread_time() - began < 0.5


@given(
    st.text(st.sampled_from(" aé가각ᄀ\u1161\u11a8漢か\u3099ｶﾞ\u0301\u0316\u0bc6\u0bbe") | st.characters(), max_size=80),
    st.integers(1, 9),
)
def test_what_is_normal_in_pieces_is_normal_in_one(text: str, size: int) -> None:
    parts = list(pieces(text, size))
    assert "".join(parts) == text
    for form in FORMS:
        whole = unicodedata.normalize(form, text)  # type: ignore[arg-type]
        assert "".join(unicodedata.normalize(form, part) for part in parts) == whole  # type: ignore[arg-type]


def test_a_book_comes_in_pieces() -> None:
    for letter in "a가漢か":
        assert max(map(len, pieces(letter * 1_000, 10))) == 10


@given(st.text(st.sampled_from("aé가각ｶﾞ\u0301\u0316\u0323\u0f73\u1100\u1161") | st.characters(), max_size=300))
def test_what_is_usual_is_as_unicode_has_it(text: str) -> None:
    for form in FORMS:
        if _long_run().search(text) is None:
            assert normalized(form, text * 3) == unicodedata.normalize(form, text * 3)  # type: ignore[arg-type]


def test_a_text_in_a_normal_form_stays_as_it_is() -> None:
    once = nfc("a" + "\u0301\u0316" * 2_000)
    assert nfc(once) == once


def test_every_character_that_is_made_of_marks_is_counted() -> None:
    mark = _long_run()
    missing = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.combining(unicodedata.normalize("NFKD", chr(code))[0]) and not mark.match(chr(code) * 31)
    ]
    assert missing == []


def test_nobody_else_asks_python_for_a_normal_form() -> None:
    allowed = {
        "saga_core/language/normal_forms.py",
        "saga_core/language/ja/grammar.py",  # letters of half width alone
        "saga_core/state_block/fences.py",  # words of its own
        "saga_backends/md_cache/files.py",  # names of files
    }
    found = {
        path.relative_to(ROOT).as_posix()
        for package in ("saga_core", "saga_backends", "saga_server")
        for path in (ROOT / package).rglob("*.py")
        if "unicodedata.normalize(" in path.read_text("utf-8")
    }
    assert found == allowed
