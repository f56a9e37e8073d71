"""``saga explain``: the words for what was told and what was not."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from saga_core.views.search import Reason
from saga_server.cli.explain import _KINDS, _REASONS, lines, of_text
from saga_server.web.serving import ROOT

ROW = {"kind": "event", "near": "The regatta", "share": 1.0, "words": [], "score": None, "line": None}
FOUND: dict[str, Any] = {"turn": "t1", "depth": 46, "anew": False, "shown_from": None, "pages": ""}


def test_every_answer_has_words_in_the_command_and_in_all_languages_of_the_pages() -> None:
    words = (ROOT / "words" / "why.js").read_text(encoding="utf-8")
    assert list(_REASONS) == list(get_args(Reason))
    for name in (*(f"reason_{each}" for each in _REASONS), *(f"kind_{each}" for each in _KINDS), "mayDiffer", "waits"):
        assert len(re.findall(rf"[ ,{{]{name}: ", words)) == 4, name


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"reason": "not_due", "waits": {"time": "Wednesday, 12:00"}}, "; it waits for the time Wednesday, 12:00"),
        ({"reason": "not_due", "waits": {"turn": 60, "place": None, "who": None}}, "; it waits for turn 60"),
        (
            {"reason": "not_due", "waits": {"turn": None, "place": "학선암", "who": "Isolde"}},
            "; it waits for the player to be at 학선암 and for Isolde to be there",
        ),
        ({"reason": "not_due", "waits": {"turn": None, "place": None, "who": None}}, "its time has not come"),
        ({"reason": "over", "until": 40, "happened": None}, ", and its time was over at turn 40"),
        ({"reason": "over", "until": None, "happened": 38}, ", and it happened at turn 38"),
        ({"reason": "over", "until": None, "happened": None}, ", and it is so no longer"),
        ({"reason": "faded", "mentioned": 33}, "this entry was mentioned too long ago, last at turn 33"),
        ({"reason": "hidden"}, "this entry waits until it is mentioned, and nobody has mentioned it so far"),
    ],
)
def test_an_answer_says_what_it_waits_for_and_since_when_it_is_over(more: dict[str, Any], said: str) -> None:
    *_, reason = of_text({**FOUND, "found": [{**ROW, **more}]})
    assert reason.endswith(said)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (1, "What the chat itself showed: the whole story."),
        (43, "What the chat itself showed: the story from turn 43 on."),
        (46, "What the chat itself showed: no turn before this one."),
    ],
)
def test_the_turn_is_named_by_its_number_and_what_the_chat_showed_is_said(first: int, said: str) -> None:
    head, shown, *_ = of_text({**FOUND, "shown_from": first, "found": []})
    assert (head, shown) == ("turn 46 (t1)", said)
    _, anew, *_ = of_text({**FOUND, "anew": True, "found": []})
    assert anew.endswith("It may differ from what was told then.")


def test_a_remark_is_shown_with_its_turn() -> None:
    _, _, text, _ = of_text({**FOUND, "found": [{**ROW, "kind": "note", "turn": 5, "reason": "no_signal"}]})
    assert text == "100%  a remark (turn 5): The regatta"


def test_the_summary_in_front_is_printed() -> None:
    context = {**FOUND, "tokens": 7, "said": "", "time": None, "late": [], "pieces": [], "skipped": []}
    printed = lines({**context, "pages": "## Then\n- It rained"}, skipped=False)
    assert printed[-3:] == ["The summary at the beginning of the prompt:", "    ## Then", "    - It rained"]
