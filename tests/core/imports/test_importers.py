"""Importers are plugins: the surest one reads a file, and one that fails leaves the others working."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from saga_core import Saga
from saga_core.imports import (
    Chat,
    ChatMessage,
    Fit,
    ForeignFile,
    Importers,
    Record,
    Unreadable,
    importer,
    read_file,
)
from saga_core.maintenance import ImportOptions
from tests.core.imports import samples

MESSAGES = (ChatMessage(role="user", text="Hello?"), ChatMessage(role="assistant", text="Who is there?"))


@frozen
class Made:
    """An importer that is as sure as a test says, and reads a chat of its name or raises."""

    name: str = "made"
    fit: Fit = Fit.LIKELY
    wrong: BaseException | None = None
    unfit: BaseException | None = None
    messages: tuple[ChatMessage, ...] = MESSAGES

    @property
    def kinds(self) -> dict[str, str]:
        return {self.name: f"a chat of {self.name}"}

    def fits(self, file: ForeignFile) -> Fit:
        if self.unfit is not None:
            raise self.unfit
        return self.fit

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        if self.wrong is not None:
            raise self.wrong
        return [(self.name, Chat.of(self.name, self.messages))]


def read(*made: Made, raw: bytes = b'{"a": 1}') -> tuple[list[str], list[str]]:
    found = read_file("x", raw, Importers({each.name: each for each in made}, {}))
    return [each.kind for each in found.found], [each.why for each in found.refused]


def test_the_surest_reads() -> None:
    assert read(Made("a", Fit.LOOSE), Made("b", Fit.SHAPED), Made("c", Fit.LIKELY)) == (["b"], [])
    assert read(Made("b"), Made("a")) == (["b"], []), "of two that are equally sure, the first by name"


def test_nobody_knows_it() -> None:
    assert read(Made(fit=Fit.NONE))[1] == ["this is JSON with a: no card, lorebook or chat that SAGA knows"]
    refusing = Made("a", unfit=Unreadable("this is a preset"))
    assert read(refusing) == ([], ["this is a preset"])
    assert read(refusing, Made("b", Fit.LOOSE)) == (["b"], []), "another one can read it"


@pytest.mark.parametrize("where", ["wrong", "unfit"])
def test_one_that_fails_is_named_and_logged(where: str, caplog: pytest.LogCaptureFixture) -> None:
    secret = RuntimeError("what went wrong")
    broken = Made("broken", wrong=secret if where == "wrong" else None, unfit=secret if where == "unfit" else None)
    ((), (why,)) = read(broken)  # type: ignore[misc]
    assert why == "the importer broken failed at it (RuntimeError: what went wrong); the log has more"
    assert "what went wrong" in caplog.text


@pytest.mark.parametrize("broken", [Made("broken", wrong=SystemExit(3)), Made("broken", unfit=SystemExit(3))])
def test_one_that_exits_is_named_and_ends_nothing(broken: Made) -> None:
    ((), (why,)) = read(broken)  # type: ignore[misc]
    assert why == "the importer broken failed at it (SystemExit: 3); the log has more"


def test_a_text_that_cannot_be_stored_is_refused_by_its_field() -> None:
    said = ChatMessage(role="user", text="Hi \ud800.", speaker="A")
    ((), (why,)) = read(Made("odd", messages=(said,)))  # type: ignore[misc]
    assert why.startswith("the importer odd failed at it: read gave Chat, messages 1: ChatMessage(text='Hi \\ud800.')")
    assert why.endswith("give a text of at most 12,000,000 characters that UTF-8 can store")


def test_a_text_longer_than_a_world_is_refused_by_its_field() -> None:
    said = ChatMessage(role="user", text="x" * 12_000_001)
    ((), (why,)) = read(Made("odd", messages=(said,)))  # type: ignore[misc]
    assert why.endswith("give a text of at most 12,000,000 characters that UTF-8 can store") and len(why) < 400


@pytest.mark.parametrize("where", ["fits", "read"])
def test_one_that_does_not_end_is_named_and_ends_no_other(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()
    monkeypatch.setattr(importer, "SECONDS", 1.0)

    class Endless(Made):
        def fits(self, file: ForeignFile) -> Fit:
            return Fit.LOOSE if where == "read" or goes_on.wait(30) else Fit.NONE

        def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
            goes_on.wait(30)
            return ()

    try:
        name = f"endless-{where}"
        ((), (why,)) = read(Endless(name))  # type: ignore[misc]
        assert why.startswith(f"the importer {name} failed at it (TimeoutError: {where} of the importer {name} did")
        assert read(Endless(name), Made("b")) == (["b"], [])
    finally:
        goes_on.set()


def test_one_that_fails_at_looking_leaves_the_file_to_others() -> None:
    assert read(Made("a", unfit=RuntimeError("x")), Made("b", Fit.LOOSE)) == (["b"], [])


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open({"storage": {"profile": "memory"}}) as opened:
        yield opened


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Beside SAGA's own importers, one that cannot be imported, and one that is none."""
    real = importer.entry_points
    more = [
        EntryPoint("absent", "nowhere.to.be.found:IMPORTER", importer.GROUP),
        EntryPoint("none", "json:dumps", importer.GROUP),
    ]
    monkeypatch.setattr(importer, "entry_points", lambda group: [*real(group=group), *more])
    importer._importers.cache_clear()
    yield
    importer._importers.cache_clear()


async def test_one_that_cannot_be_loaded_is_told_and_the_others_work(
    installed: None, saga: Saga, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "saga.importers"):
        taken = await saga.maintenance.import_files([("chat.jsonl", samples.st_chat())], ImportOptions())
    assert [each.state for each in taken.things] == ["new"]
    assert "the importer absent (nowhere.to.be.found:IMPORTER) cannot be loaded: ModuleNotFoundError" in caplog.text
    assert "Traceback" not in caplog.text
    told = saga.counters.degraded["importers"]
    assert (
        "absent cannot be loaded: ModuleNotFoundError" in told
        and "dumps at " in told
        and "is no Importer; give an instance" in told
    )
    (refused,) = read_file("x", b'{"a": 1}').refused
    assert refused.why.endswith("(importers that could not be loaded: absent, none)")


async def test_a_file_may_be_given_by_its_path_as_a_text(saga: Saga, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(samples.st_chat())
    taken = await saga.maintenance.import_files([("chat.jsonl", str(file))], ImportOptions())
    assert [each.state for each in taken.things] == ["new"]


def test_every_kind_has_its_words() -> None:
    kinds = importer.importers().kinds
    assert kinds["saga_session"] and all(words.startswith(("a ", "personas")) for words in kinds.values())
    assert importer.importers().failed == {}


@pytest.mark.parametrize(
    "number",
    [10**400, -(10**400), 10**25, 1e308, float("inf"), float("nan"), "9" * 400],
    ids=["long", "negative", "whole", "float", "infinite", "none", "text"],
)
def test_a_number_too_large_for_a_time_fails_no_file(number: Any) -> None:
    """Neither of a message nor of the whole chat. A file may hold any number."""
    header = {**samples.HEADER, "create_date": number}
    rows = [samples.message("Ysolde", text) for text in ("One.", "Two.")]
    rows[0]["send_date"] = number
    (found,) = read_file("x.jsonl", samples.jsonl(header, *rows)).found
    assert isinstance(found.record, Chat)
