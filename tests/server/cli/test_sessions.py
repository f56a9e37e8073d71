"""``saga sessions``, ``saga timelines`` and ``saga compare`` on a data directory, in this process."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from click.testing import CliRunner, Result

from saga_core import Saga
from saga_core.journal.journal import Journal
from saga_core.language import known
from saga_server.cli.saga_command import main
from tests.core.frontend import Frontend
from tests.core.sessions.shared import shared_config

WEEK = 7 * 86_400.0


@define
class Earlier:
    """The machine's clock, eight days ago."""

    def now(self) -> float:
        return time.time() - WEEK - 86_400

    def monotonic(self) -> float:
        return time.perf_counter()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory; logging is afterwards as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("SAGA_"):
            monkeypatch.delenv(name)
    yield tmp_path
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def played(here: Path) -> dict[str, str]:
    """Two sessions in ``자료``: an adventure of two timelines, and a beginning that was left. Names to ids."""

    async def play() -> dict[str, str]:
        config = {"storage": {"path": str(here / "자료")}, "session": {"default_world": "ersia"}}
        async with Saga.open(config, clock=Earlier()) as saga:
            chat = Frontend(saga, session="나의 모험")
            first = await chat.say("간다.", "길이 열린다. 바람이 분다.")
            await saga.timelines.fork("나의 모험", None, "끝")
            second = await chat.say("더 간다.", "길이 끝난다. 바다가 보인다.", hp_change=-10)
            left = await Frontend(saga, greeting="비가 온다.").say("본다.", "창밖이 흐리다. 조용하다.")
            await saga.drain(10)
        return {
            "session": first.session.id, "left": left.session.id, "first": first.id, "second": second.id
        }  # fmt: skip

    return asyncio.run(play())


def saga(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def printed(*arguments: str) -> Any:
    result = saga(*arguments)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


class TestSessions:
    def test_a_table(self, played: dict[str, str]) -> None:
        result = saga("sessions", "--data", "자료")
        assert result.exit_code == 0, result.stderr
        head, one, two = result.stdout.splitlines()
        columns = "ID NAME TITLE WORLD TURNS DEPTH UPDATED COST NARRATION EXTRACTION CURATION SAVED"
        assert head.split() == columns.split()
        when = r"\d{4}-\d\d-\d\d \d\d:\d\d"
        assert re.fullmatch(
            rf"{played['session']}  나의 모험  에르시아 · 아리아  ersia  2      2      {when}(  -\s*){{5}}", one
        )
        assert re.fullmatch(rf"{played['left']}  -          에르시아 · 아리아  ersia  1      1      .*  fleeting", two)

    def test_json(self, played: dict[str, str]) -> None:
        one, two = printed("sessions", "--data", "자료", "--json")["sessions"]
        assert (one["id"], one["label"], one["fleeting"]) == (played["session"], "나의 모험", False)
        assert (two["id"], two["turns"], two["fleeting"]) == (played["left"], 1, True)

    def test_by_a_settings_file(self, here: Path, played: dict[str, str]) -> None:
        (here / "saga.yaml").write_text("storage: {path: 자료}\nsession: {collect_after_days: 0}\n", encoding="utf-8")
        found = printed("sessions", "--json")["sessions"]
        assert [each["fleeting"] for each in found] == [False, False]

    def test_nothing_is_done_to_the_data(self, here: Path, played: dict[str, str]) -> None:
        async def owed(add: bool) -> list[Any]:
            config = {"storage": {"path": str(here / "자료")}}
            async with Saga.open(config, resume=False) as opened:
                journal: Journal = opened.parts.journal
                if add:
                    await journal.add_jobs(played["session"], [played["first"]])
                return await journal.jobs()

        before = asyncio.run(owed(True))
        for _ in range(2):
            assert len(printed("sessions", "--data", "자료", "--json")["sessions"]) == 2, "none is collected"
        assert asyncio.run(owed(False)) == before != []


class TestTimelines:
    def test_a_table(self, played: dict[str, str]) -> None:
        result = saga("timelines", "나의 모험", "--data", "자료")
        assert result.exit_code == 0, result.stderr
        head, one = result.stdout.splitlines()
        assert head.split() == ["NAME", "HEAD", "DEPTH", "FORKED", "AT", "UPDATED"]
        assert one.split()[:5] == ["*", "끝", played["second"], "2", played["first"]]

    def test_json(self, played: dict[str, str]) -> None:
        (row,) = printed("timelines", played["session"], "--data", "자료", "--json")["timelines"]
        assert (row["name"], row["head"], row["fork"], row["active"]) == ("끝", played["second"], played["first"], True)


class TestCompare:
    def test_words(self, played: dict[str, str]) -> None:
        result = saga("compare", "나의 모험", "끝", played["first"], "--data", "자료")
        assert result.exit_code == 0, result.stderr
        assert result.stdout.splitlines() == [
            f"parted at turn 1 ({played['first']})",
            f"끝: turn 2 ({played['second']}), 1 since then",
            f"1번째 턴: turn 1 ({played['first']}), 0 since then",
            "HP: 끝에서는 90, 1번째 턴에서는 100",
        ]
        english = saga("compare", "나의 모험", "끝", played["first"], "--data", "자료", "--language", "en")
        assert english.stdout.splitlines()[-1] == "HP: 90 in 끝, 100 in turn 1"
        same = saga("compare", "나의 모험", "끝", "끝", "--data", "자료")
        assert same.stdout.splitlines()[-1] == "nothing differs"

    def test_json(self, played: dict[str, str]) -> None:
        found = printed("compare", "나의 모험", "끝", played["first"], "--data", "자료", "--json", "--language", "en")
        assert found["differences"] == [{"kind": "hp", "subject": "아리아", "one": 90, "other": 100}]
        assert found["words"] == ["HP: 90 in 끝, 100 in turn 1"]


class TestRefusals:
    def test_while_a_server_runs_on_the_data(self, here: Path, played: dict[str, str]) -> None:
        with asyncio.Runner() as runner:

            async def opened() -> Saga:
                return await Saga.open({"storage": {"path": str(here / "자료")}})

            server = runner.run(opened())
            try:
                result = saga("sessions", "--data", "자료")
            finally:
                runner.run(server.aclose())
        assert result.exit_code == 1
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert line.startswith("saga: ")
        assert "state.db" in line
        assert "open" in line
        assert saga("sessions", "--data", "자료").exit_code == 0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("timelines", "누구"), "saga: there is no session '누구'"),
            (("compare", "나의 모험", "끝", "없음"), "has no turn and no timeline '없음'"),
            (
                ("compare", "나의 모험", "끝", "main"),
                "; its timelines are 끝; give a turn's number or id for",
            ),
            (("compare", "나의 모험", "끝"), "Missing argument 'OTHER'"),
            (("compare", "나의 모험", "끝", "끝", "--language", "xx"), f"'xx' is not known; use {', '.join(known())}"),
        ],
    )
    def test_what_is_not_there(self, played: dict[str, str], arguments: tuple[str, ...], message: str) -> None:
        result = saga(*arguments, "--data", "자료")
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr
        assert "Traceback" not in result.stderr

    def test_no_data_directory_is_made(self, here: Path) -> None:
        result = saga("sessions", "--data", "nowhere")
        assert result.exit_code == 2
        assert f"storage.path: there is nothing at {here / 'nowhere'}; name the data directory" in result.stderr
        assert list(here.iterdir()) == []


class TestExplain:
    def test_why_a_text_was_told_or_not(self, played: dict[str, str]) -> None:
        whole = printed("explain", "나의 모험", "끝", "--data", "자료", "--json")
        piece = max(whole["pieces"], key=lambda each: len(each["text"]))
        result = saga("explain", "나의 모험", "끝", "--data", "자료", "--text", piece["text"])
        assert result.exit_code == 0, result.stderr
        head, anew, shown, says, first, reason, *_ = result.stdout.splitlines()
        assert anew.endswith("It may differ from what was told then.")
        assert shown == "What the chat itself showed: the whole story."
        assert says == "Before each text stands how many of the words it has."
        assert head == f"turn 2 ({played['second']}), read anew"
        assert first.strip().startswith("100%")
        assert reason.strip().startswith("told · score")
        nothing = saga("explain", "나의 모험", "--data", "자료", "--text", "우주선이 달에 내려앉았다")
        assert "Nothing that SAGA keeps of this story has these words" in nothing.stdout
        found = printed("explain", "나의 모험", "끝", "--data", "자료", "--text", piece["text"], "--json")
        assert found["found"][0]["reason"] == "told"

    def test_one_question_at_a_time(self, played: dict[str, str]) -> None:
        result = saga("explain", "나의 모험", "--data", "자료", "--text", "달", "--skipped")
        assert result.exit_code == 2
        assert "give one of them" in result.stderr

    def test_words(self, played: dict[str, str]) -> None:
        result = saga("explain", "나의 모험", played["second"], "--data", "자료", "--skipped")
        assert result.exit_code == 0, result.stderr
        head, *rest = result.stdout.splitlines()
        assert re.fullmatch(rf"turn 2 \({played['second']}\): \d+ tokens, read anew", head)
        assert any("·" in line for line in rest)
        assert any(line.startswith("no room for ") for line in rest)

    def test_json(self, played: dict[str, str]) -> None:
        found = printed("explain", "나의 모험", "끝", "--data", "자료", "--json")
        assert (found["turn"], found["anew"]) == (played["second"], True)
        assert found["pieces"]
        assert found["text"]


class TestContinue:
    def test_it_says_the_marker_and_the_header(self, played: dict[str, str]) -> None:
        result = saga("continue", "나의 모험", "--data", "자료")
        assert result.exit_code == 0, result.output
        assert f"  [[saga:continue={played['session']}]]\n" in result.output
        found = printed("continue", played["session"], "1", "--data", "자료", "--json")
        assert (found["turn"], found["header"]) == (1, f"{played['session']}@{played['first']}")
        assert found["marker"] == f"[[saga:continue={found['header']}]]"

    def test_an_unknown_story_or_turn_is_an_error(self, played: dict[str, str]) -> None:
        for arguments in (["nothing"], [played["session"], "99"]):
            assert saga("continue", *arguments, "--data", "자료").exit_code != 0


def test_a_session_shares_its_world_and_leaves_it(here: Path) -> None:
    shared_config(here)
    (here / "saga.yaml").write_text("storage: {path: data}\nsession: {default_world: low-weir}\n", encoding="utf-8")

    async def play() -> str:
        async with Saga.open(here / "saga.yaml") as saga:
            return (await saga.sessions.create(label="weir")).id

    session = asyncio.run(play())
    run = CliRunner().invoke
    joined = run(main, ["share", "weir", "friday", "--config", "saga.yaml"])
    assert joined.exit_code == 0 and f"{session} shares the world low-weir:friday" in joined.output, joined.output
    assert "world" in run(main, ["sessions", "--config", "saga.yaml"]).output.splitlines()[-1].split()
    left = run(main, ["share", "weir", "--leave", "--config", "saga.yaml", "--json"])
    assert (json.loads(left.output)["kind"], json.loads(left.output)["share"]) == ("personal", "")
