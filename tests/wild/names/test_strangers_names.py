"""Spellings of names as players write them."""

from __future__ import annotations

from typing import Any

from saga_core.language import clean_name, fold_name
from tests.wild.strangers import strangers


@strangers("names")
def test_one_person_has_one_spelling(row: dict[str, Any]) -> None:
    assert (fold_name(clean_name(row["one"])) == fold_name(clean_name(row["other"]))) is row["same"]
