"""References in settings: variables, their defaults, and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saga_core.config.load import UnreadableFile, Unset, expand, expand_all, refers, required, scalar

ENVIRON = {"KEY": "sk-1", "EMPTY": "", "HOME_2": "/data"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("${KEY}", "sk-1"),
        ("a ${KEY} b ${HOME_2}", "a sk-1 b /data"),
        ("${NONE:-8765}", "8765"),
        ("${NONE:-}", ""),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY}", ""),
        ("$${KEY}", "${KEY}"),
        ("$KEY ${1KEY} $", "$KEY ${1KEY} $"),
        ("값은 ${KEY}이다", "값은 sk-1이다"),
    ],
)
def test_references_are_replaced(text: str, found: str) -> None:
    assert expand(text, ENVIRON) == found


def test_a_variable_without_value_and_default_is_named() -> None:
    with pytest.raises(Unset) as unset:
        expand("x ${NO_KEY}", ENVIRON)
    assert unset.value.name == "NO_KEY"


def test_a_files_text_counts_without_its_last_line_end(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes("비밀 \r\n\n".encode())
    assert expand(f"Bearer ${{file:{file}}}", {}) == "Bearer 비밀 "


@pytest.mark.parametrize(
    ("content", "why"), [(None, "cannot be read"), (b"\xff\xfe", "is not UTF-8"), (b"x" * 65_537, "larger than 65536")]
)
def test_why_a_file_cannot_be_used_is_told_and_never_what_is_in_it(
    tmp_path: Path, content: bytes | None, why: str
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UnreadableFile, match=why) as error:
        expand(f"${{file:{file}}}", {})
    assert "xxxx" not in str(error.value)
    with pytest.raises(UnreadableFile, match="no whole path"):
        expand("${file:key}", {})


def test_what_is_referred_to_without_a_default_is_required() -> None:
    assert required("${A} ${B:-x} $${C} ${file:/run/key} ${A}") == ["A", "file:/run/key", "A"]
    assert refers("x ${A}") and refers("$${A}") and not refers("$A {A}") and not refers("${")


def test_lists_and_mappings_are_expanded_whole_and_keys_are_not() -> None:
    tree = {"${KEY}": ["${KEY}", 5, {"deep": ("${NONE:-x}",)}], "flag": True, "none": None}
    assert expand_all(tree, ENVIRON) == {"${KEY}": ["sk-1", 5, {"deep": ["x"]}], "flag": True, "none": None}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8765", 8765),
        ("-5", -5),
        ("+5", 5),
        ("1.5", 1.5),
        ("2.", 2.0),
        ("1.0e3", 1_000.0),
        ("True", True),
        ("false", False),
        ("NULL", None),
    ],
)
def test_numbers_and_truth_are_what_they_spell(text: str, value: Any) -> None:
    found = scalar(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", ["", "1e3", "5 ", "0x10", "yes", "1_000", "٣", "５", "5\n", "1.5\n", "nan"])
def test_other_texts_stay_texts(text: str) -> None:
    assert scalar(text) == text
