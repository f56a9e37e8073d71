"""Every language fills every record, and nothing above its room names one."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from saga_core.language import DEFAULT, Language, Table, detect, every, known, language_of, nfc
from saga_core.language.language import TEXTS, WORDS, language_of_files
from saga_core.recall.episodes import STAMP, year_of
from saga_core.state_block import BlockStatus, instruction, read_reply
from saga_core.state_block.fields import FIELDS, RECORD_KEYS_OF, WHO, WHOM

ROOT = Path(__file__).parents[3]
TAGS = pytest.mark.parametrize("language", every(), ids=lambda each: each.tag)
ASIDE = (
    "saga_backends/chat/offline.py",  # quotation marks of all languages
    "saga_backends/embedder/",  # vectors of what they made so far must not change
    "saga_core/imports/texts.py",  # which letters texts in each encoding have
    "saga_backends/graph/kuzu_grammar.py",  # what an engine makes of every script
    "saga_server/demo/",
    "saga_server/doctor/examination.py",  # two sentences for the embedder
    "saga_server/spoken.py",  # what systems call languages
)
"""What is written in a language by its nature: stories, and measurements on them."""


def test_a_language_is_a_folder() -> None:
    folders = {path.parent.name for path in (ROOT / "saga_core/language").glob("*/__init__.py")}
    assert set(known()) == folders
    assert language_of("ko-KR") is language_of("ko") is language_of("ko_kr")
    assert language_of("xx") is language_of(DEFAULT) and language_of("zh-Hant-TW").tag == "zh"


@TAGS
def test_it_fills_every_table(language: Language) -> None:
    english = language_of(DEFAULT)
    assert {type(getattr(language, name)) for name in (*WORDS, *TEXTS)} == {*WORDS.values(), *TEXTS.values()}
    assert set(language.texts.pages) == set(english.texts.pages)
    assert set(language.texts.comparison.labels) == set(english.texts.comparison.labels)
    assert set(language.texts.episode) == set(english.texts.episode)
    assert set(language.questions.strategies) == set(english.questions.strategies)
    assert set(language.labels.edges) == set(english.labels.edges)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            {"titels": "Dr"},
            "words.toml: [names] has a row 'titels', which is none of its rows: player, common,",
        ),
        ({"titles": ["Dr"]}, "words.toml: [names]: titles is ['Dr'], where str belongs"),
        ({"titles": True}, "words.toml: [names]: titles is True, where str belongs"),
    ],
)
def test_a_wrong_row_is_refused(rows: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        WORDS["names"](rows, "words.toml: [names]")


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "[past]\nномер = 1\n")
    with pytest.raises(
        ValueError, match=r"en/words\.toml: Invalid .*at line 2.*; keys in other than Latin letters stand"
    ):
        _ = Language("en").past


def test_a_missing_text_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("[request] lacks the row 'lead'; copy it from the file of another")):
        TEXTS["request"]({}, "[request]")


def test_tables_are_read_only() -> None:
    names = language_of(DEFAULT).names
    with pytest.raises(AttributeError, match="read-only"):
        names.titles = frozenset()
    assert names.with_rows(titles=frozenset()).titles == frozenset() != names.titles


@TAGS
def test_what_is_filled_in_is_there(language: Language) -> None:
    labels, texts, asked = language.labels, language.texts, language.questions
    assert "{name}" in labels.since_turn and "{depth}" in labels.since_turn and "{depth}" in labels.turn
    assert "{names}" in labels.secret and "{names}" in labels.not_there and "{text}" in labels.formerly
    assert "{old}" in labels.renamed and "{name}" in labels.renamed and "{count}" in labels.more
    assert "{depth}" in texts.turn and "{left}" in texts.turns_left
    assert "{reason}" in asked.extraction.again and "{reason}" in asked.curation.again
    assert "{limit}" in asked.learning.frame and "{reason}" in asked.learning.again
    found = texts.findings
    assert "A" in found.dead_act(name="A", turn=3) and "3" in found.dead_act(name="A", turn=3)
    assert "9" in found.forgotten_event(name="A", deadline=9)
    told = found.sudden_turn(one="A", other="B", old="x", old_strength=2, new="y", new_strength=-3)
    assert all(part in told for part in ("A", "B", "x", "+2", "y", "-3"))
    assert labels.opening.strip("[]").removeprefix("SAGA: ") in texts.rules


def _sentences(table: object, name: str = "") -> dict[str, str]:
    """The texts of a table that contain several words, by the path of their row."""
    if isinstance(table, str):
        return {name: table} if len(re.findall(r"[^\W\d_]+", re.sub(r"\{.*?\}", "", table))) > 3 else {}
    within = table.items() if isinstance(table, Mapping) else table if isinstance(table, Table) else ()
    return {path: text for key, value in within for path, text in _sentences(value, f"{name}.{key}").items()}


@pytest.mark.parametrize("language", [each for each in every() if each.tag != DEFAULT], ids=lambda each: each.tag)
@pytest.mark.parametrize("part", ["questions", "texts", "labels", "request"])
def test_its_texts_are_translated(language: Language, part: str) -> None:
    english, found = _sentences(getattr(language_of(DEFAULT), part)), _sentences(getattr(language, part))
    assert [name for name, text in found.items() if english.get(name) == text] == [], "these texts are in English"


@TAGS
def test_its_block_is_asked_for_and_read(language: Language) -> None:
    """The form copied unfilled says nothing, and each name of a field is read as that field."""
    form = instruction(language.tag)
    assert form.endswith("```") and read_reply(form).fields.location is None
    names = {field.name for field in FIELDS}
    assert set(language.block.fields) <= names and set(language.block.templates) <= names
    assert set(language.block.keys) <= {key for keys in RECORD_KEYS_OF.values() for key in keys} | {WHO, WHOM}
    for opener in language.block.openers:
        assert read_reply(f"…\n```{opener}\nlocation: X\n```").fields.location == "X"
    for alias in language.block.fields.get("location", "").split():
        reading = read_reply(f"…\n```state\n{alias}: X\n```")
        assert (reading.status, reading.fields.location) == (BlockStatus.OK, "X"), alias
    for word in language.values.nothing:
        assert read_reply(f"…\n```state\nmood: {word}\n```").fields.mood is None, word


@TAGS
def test_the_facts_of_its_turns_are_read_again(language: Language) -> None:
    """The turn number and the day of an episode are told apart from what happened, however the language writes them."""
    facts = f"{language.texts.episode['turn']} 12 | {language.texts.episode['place']}: X"
    stamp = STAMP.match(facts)
    assert stamp is not None and facts[stamp.end() :].endswith(": X"), "PAST.turn"
    year, rest = year_of(language.texts.day(date(2026, 3, 14)))
    assert year == "2026" and "14" in rest, "PAST.dated"


def test_nothing_above_names_a_language() -> None:
    """No Hangul, no kana and no tag of a language in the code, but for stories and measurements."""
    found, tags = [], set(known()) - {DEFAULT}
    for package in ("saga_core", "saga_backends", "saga_server"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if name.startswith(("saga_core/language/", *ASIDE)):
                continue
            code = path.read_text(encoding="utf-8")
            if not re.search(r"[가-힣ぁ-ヺ]|\\[uNx]", code) and not any(f'"{tag}"' in code for tag in tags):
                continue
            tree = ast.parse(code)
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                text = node.value if isinstance(node, ast.Constant) and id(node) not in docs else ""
                if isinstance(text, str) and (re.search("[가-힣ぁ-ヺ]", text) or text in tags):
                    found.append(f"{name}:{getattr(node, 'lineno', 0)}: {text[:40]!r}")
    assert found == []


@pytest.mark.parametrize(
    ("text", "default", "tag"),
    [
        ("나는 숲으로 간다.", "en", "ko"),
        ("I walk into the wood.", "ko", "en"),
        ("森へ歩いていく。", "en", "ja"),
        ("アリア!", "zh", "ja"),
        ("ｱﾘｱ", "en", "ja"),
        ("我走进森林。", "en", "zh"),
        ("我走進森林。", "ko", "zh"),
        ("王国", "ja", "ja"),
        ("王国", "ko", "zh"),
        ("这家店叫の小屋，我很喜欢它的招牌和味道。", "en", "zh"),
        ("…", "ja", "ja"),
        ("…", "ko", "ko"),
        ("12", "zh", "zh"),
        ("I said 'ありがとう' to the old woman who keeps the inn.", "ko", "en"),
        ("나는 東京에 간다", "en", "ko"),
    ],
)
def test_detection(text: str, default: str, tag: str) -> None:
    assert detect(nfc(text), default) == tag


def test_the_files_of_a_world() -> None:
    assert language_of_files("## Mara\n- location: inn\nCalled 마라 by some.") == "ko"
    assert language_of_files("## 阿莉亚\n- location: 广场\n她是药师。") == "zh"
    assert language_of_files("## Mara\n- location: inn\nShe carries a 刀.") == "en"
