"""A chapter that a model tells anew in a style: what it may say, what is put back, and what is refused."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from saga_core import Saga
from saga_core.errors import BadInput, NotSupported, UpstreamError
from saga_core.language import language_of
from saga_core.model import MAX_STORY_CHARS
from saga_core.state_block import StatusChange
from tests.core.extraction.scripted import Scripted
from tests.core.frontend import Frontend

CONFIG = {"storage": {"profile": "memory"}, "extraction": {"automatic": "never"}}


@pytest_asyncio.fixture
async def told() -> AsyncIterator[tuple[Saga, Scripted]]:
    model = Scripted()
    async with Saga.open(CONFIG, extractor=model) as saga:
        chat = Frontend(saga, session="one", system="A bare card.")
        await chat.say("I go in.", 'Mina nods. "The mill burned down in May."', npc_met=("Mina",))
        await chat.say(
            "And then?", "The wolf dies.", npc_met=("the wolf",), status_changes=(StatusChange("the wolf", "dead"),)
        )
        await chat.say("I wait.", "It rains.", notes="Mina promised to come back")
        yield saga, model


async def test_a_style_is_asked_for_and_the_text_comes_back_as_one_paragraph(told: tuple[Saga, Scripted]) -> None:
    saga, model = told
    model.script.append("The wolf died.\n\nMina promised to come back.")
    text = await saga.background.chapters.rewrite("one", 1, 3, "rich")
    assert text == "The wolf died. Mina promised to come back."
    question = model.told()
    assert language_of("en").questions.chapter.styles["rich"] in question
    assert "| The wolf dies." in question and "| > And then?" in question
    assert (await saga.memory.curated("one"))["story"] == [], "a person keeps it or does not"


async def test_what_the_model_forgot_is_put_back_and_what_nobody_said_is_no_quotation(
    told: tuple[Saga, Scripted],
) -> None:
    saga, model = told
    model.script.append("“The mill burned down in May,” said Mina. “All is lost,” she cried.")
    text = await saga.background.chapters.rewrite("one", 1, 3, "quotes")
    assert text.startswith("“The mill burned down in May,” said Mina. All is lost, she cried.")
    assert "wolf died" in text and "promised" in text


@pytest.mark.parametrize(
    ("answer", "back"),
    [
        ("Dez came in.", ["Silas died", "bad knee", "burnt wrist", "promised"]),
        ("Hana let him look at her. Dez thought of Silas.", ["Silas died", "bad knee", "burnt wrist", "promised"]),
        ("Dez, with his bad knee, saw that Hana had burnt her wrist.", ["Silas died", "promised"]),
        ("Silas died. Hana thought of coming home to Dez.", ["bad knee", "burnt wrist", "promised"]),
        ("Hana promised to come home before dark; Silas was killed.", ["bad knee", "burnt wrist"]),
    ],
)
async def test_what_is_put_back_is_the_fact_that_is_not_told(answer: str, back: list[str]) -> None:
    model = Scripted()
    async with Saga.open(CONFIG, extractor=model) as saga:
        chat = Frontend(saga, session="one", system="A bare card.")
        wounds = (StatusChange("Dez", "bad knee"), StatusChange("Hana", "burnt wrist"))
        await chat.say("I look.", "They limp.", npc_met=("Dez", "Hana", "Silas"), status_changes=wounds)
        await chat.say("And then?", "He sinks.", status_changes=(StatusChange("Silas", "dead"),))
        await chat.say("I wait.", "She nods.", notes="Hana promised to come home before dark")
        model.script.append(answer)
        text = await saga.background.chapters.rewrite("one", 1, 3, "terse")
    added = text.removeprefix(answer)
    assert [each for each in ("Silas died", "bad knee", "burnt wrist", "promised") if each in added] == back


async def test_a_long_story_and_an_endless_answer_take_no_long_time(told: tuple[Saga, Scripted]) -> None:
    saga, model = told
    chat = Frontend(saga, session="long", system="A bare card.")
    for number in range(4):
        await chat.say(f"I go on, {number}.", "".join(f'"Word {at} of {number}." ' for at in range(15_000)))
    model.script.append("".join(f'"Nobody said {at}." ' for at in range(50_000)))
    began = time.process_time()
    text = await saga.background.chapters.rewrite("long", 1, 4, "quotes")
    assert time.process_time() - began < 2.5
    assert len(text) <= MAX_STORY_CHARS and '"' not in text


@pytest.mark.parametrize(
    ("first", "last", "style", "named"),
    [(0, 2, "rich", "first, last"), (2, 1, "rich", "first, last"), (1, 4, "rich", "first, last"), (1, 2, "x", "style")],
)
async def test_turns_and_styles_that_do_not_exist_are_refused(
    told: tuple[Saga, Scripted], first: int, last: int, style: str, named: str
) -> None:
    saga, model = told
    with pytest.raises(BadInput, match=named):
        await saga.background.chapters.rewrite("one", first, last, style)
    assert model.asked == []


async def test_a_model_without_a_text_and_a_story_without_a_model_are_told(told: tuple[Saga, Scripted]) -> None:
    saga, model = told
    model.script.append("  ")
    with pytest.raises(UpstreamError, match="without a text"):
        await saga.background.chapters.rewrite("one", 1, 2, "terse")
    async with Saga.open(CONFIG) as bare:
        await Frontend(bare, session="one", system="A bare card.").say("I go in.", "It rains.")
        with pytest.raises(NotSupported, match=r"models\.extraction"):
            await bare.background.chapters.rewrite("one", 1, 1, "terse")
