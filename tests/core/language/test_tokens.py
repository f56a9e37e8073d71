"""What is kept of texts that were divided into terms: enough for the next turn, and never without limit."""

from __future__ import annotations

import pytest

from saga_core.language import normal_forms, terms
from saga_core.language import tokens as module


def test_long_texts_without_a_space_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = module._Terms()
    monkeypatch.setattr(module, "_terms_in", kept.__getitem__)
    long, short = "x" * (module._KEPT + 1), "x" * module._KEPT
    assert terms(f"{long} Mill-mill {short} {long}") == [long, "mill", "mill", short, long]
    assert kept.keys() == {"mill-mill", short}


def test_no_more_texts_are_kept_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = module._Terms()
    monkeypatch.setattr(module, "_terms_in", kept.__getitem__)
    monkeypatch.setattr(module, "_PARTS", 3)
    assert terms("mill crow bell road rain mill") == ["mill", "crow", "bell", "road", "rain", "mill"]
    assert list(kept) == ["road", "rain", "mill"]


def test_no_long_text_of_a_report_is_kept() -> None:
    kept = normal_forms._squashed.cache_info().currsize
    long = "Tansy's Window! " * 1_000
    assert normal_forms.squash(long) == "tansyswindow" * 1_000
    assert normal_forms._squashed.cache_info().currsize == kept
