"""``saga backup``, ``restore``, ``export``, ``import``, ``forget``: alone, and beside a server that has the data."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from saga_backends.state_kv.sqlite import SqliteState
from saga_core import Backend, OpenOptions, Saga, registry
from saga_core.config import load_config
from saga_server.cli.saga_command import main
from saga_server.process.running_server import READY_AT
from tests.core.frontend import Frontend
from tests.core.jobs.test_remote_state import Keeper
from tests.core.maintenance.test_forget import traces

SAGA = [sys.executable, "-m", "saga_server"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with ``data``; logging is afterwards as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.chdir(tmp_path)
    play("나의 모험", "간다.", "길이 열린다. 바람이 분다.")
    yield tmp_path
    root.handlers[:] = handlers
    root.setLevel(level)


def play(*turns: str) -> None:
    """Label, words and reply of each."""

    async def played() -> None:
        async with Saga.open({"storage": {"path": "data"}}) as saga:
            for label, words, reply in zip(*[iter(turns)] * 3, strict=True):
                await Frontend(saga, session=label).say(words, reply, hp_change=-10)
            await saga.drain(10)

    asyncio.run(played())


def saga(*arguments: str, data: str = "data") -> Result:
    return CliRunner().invoke(main, [*arguments, "--data", data])


def well(*arguments: str, data: str = "data") -> str:
    result = saga(*arguments, data=data)
    assert result.exit_code == 0, result.stderr or result.stdout
    return result.stdout


def listed(data: str = "data") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(well("sessions", "--json", data=data))["sessions"]
    return found


class TestBackup:
    def test_there_and_back(self, here: Path) -> None:
        told = well("backup", "kept.db")
        assert told.splitlines()[0] == str(here / "kept.db")
        assert told.splitlines()[1].startswith("1 session, 1 turn, ")
        before = listed()
        play("또 하나", "쉰다.", "밤이 온다. 별이 뜬다.")
        assert saga("restore", "kept.db").exit_code == 2, "data is there"
        assert len(listed()) == 2
        told = well("restore", "kept.db", "--force")
        assert "what was there is now in" in told and "1 session: restored, and equal to the journal" in told
        assert listed() == before
        (aside,) = (here / "data").glob("replaced-*")
        assert {"state.db", "vectors.db", "pages"} <= {path.name for path in aside.iterdir()}
        assert well("verify").endswith("equal to the journal\n")

    def test_into_an_empty_place(self, here: Path) -> None:
        lost = saga("backup", "folder/")
        assert lost.exit_code == 2 and f"{here / 'folder'}: there is no such folder; make it" in lost.stderr
        assert not (here / "folder").exists()
        (here / "folder").mkdir()
        well("backup", "folder/")
        (file,) = (here / "folder").iterdir()
        assert file.name.startswith("saga-20") and file.suffix == ".db"
        assert "equal to the journal" in well("restore", str(file), data="elsewhere")
        assert listed("elsewhere") == listed()
        assert not list((here / "elsewhere").glob("replaced-*"))

    def test_what_is_refused(self, here: Path) -> None:
        well("backup", "kept.db")
        again = saga("backup", "kept.db")
        assert again.exit_code == 2 and "exists already" in again.stderr
        missing = saga("restore", "nothing.db", data="elsewhere")
        assert missing.exit_code == 2 and "there is no such file" in missing.stderr
        assert "there is nothing at" in saga("backup", data="nowhere").stderr
        long = saga("backup", "x" * 248 + ".db")
        assert long.exit_code == 1 and "x.db: cannot be written (" in long.stderr, "the target is at fault"

    def test_of_a_damaged_journal(self, here: Path) -> None:
        file = here / "data" / "state.db"
        raw = bytearray(file.read_bytes())
        raw[8_192:] = bytes(len(raw) - 8_192)
        file.write_bytes(raw)
        refused = saga("backup", "kept.db")
        assert refused.exit_code == 1
        assert f"saga: {file}: is damaged, and no backup was made of it" in refused.stderr, "and no other file is named"
        assert not list(here.glob("kept.db*"))

    @pytest.mark.parametrize("harm", ["cut", "bit", "row", "other", "newer"])
    def test_a_backup_that_is_not_whole(self, here: Path, harm: str) -> None:
        well("backup", "kept.db")
        file = here / "kept.db"
        raw = bytearray(file.read_bytes())
        if harm == "cut":
            file.write_bytes(raw[: len(raw) // 2])
        elif harm == "bit":
            at = raw.index("바람이 분다".encode())
            raw[at : at + 3] = "비".encode()
            file.write_bytes(raw)
        elif harm == "other":
            file.write_bytes(b"no database at all " * 300)
        else:
            with sqlite3.connect(file) as database:
                row = "INSERT INTO entries VALUES (x'00', x'00')"
                database.execute(row if harm == "row" else "PRAGMA user_version=99")
            database.close()
        before = listed()
        result = saga("restore", "kept.db", "--force")
        assert result.exit_code == 1, result.stdout
        assert listed() == before, "nothing was changed"
        assert not list((here / "data").glob("replaced-*"))

    def test_what_was_put_aside_comes_back_with_what_was_played_since(self, here: Path) -> None:
        well("backup", "kept.db")
        well("restore", "kept.db", "--force")
        play("또 하나", "쉰다.", "밤이 온다. 별이 뜬다.")
        (first,) = (here / "data").glob("replaced-*")
        shutil.rmtree(first)
        well("restore", "kept.db", "--force")
        (aside,) = (here / "data").glob("replaced-*")
        assert "2 sessions: restored, and equal" in well("restore", str(aside / "state.db"), "--force")

    def test_an_older_state_file_will_do(self, here: Path) -> None:
        shutil.copyfile(here / "data" / "state.db", here / "old.db")
        told = well("restore", "old.db", data="elsewhere")
        assert "equal to the journal" in told
        assert "old.db: readable, 1 session" in told and "!!  old.db: has no digest" in told
        well("backup", "kept.db")
        sealed = well("restore", "kept.db", data="third")
        assert "kept.db: whole, 1 session" in sealed and "no digest" not in sealed


PAGE = 4_096


class TestDamaged:
    """What can be read of a damaged journal is saved, and nothing in it leads into a hole."""

    @pytest.fixture
    def file(self, here: Path) -> Path:
        """A journal with two sessions of twelve turns in all, and a swipe."""
        turns = []
        for number in range(5):
            turns += ["나의 모험", f"{number}. 숲으로 간다.", f"{number}번째 길이 열린다. 바람이 분다. " * 20]
            turns += ["Another", f"{number}. I go on.", f"Door {number} is open. It smells of rope. " * 20]
        play(*turns)
        well("backup", "kept.db")
        return here / "kept.db"

    def test_one_that_is_whole(self, file: Path) -> None:
        told = well("restore", "kept.db", "--damaged", data="elsewhere")
        assert "; 0 places could not be read" in told and "restored, and equal to the journal" in told
        assert listed("elsewhere") == listed()

    @pytest.mark.parametrize("harm", [bytes(PAGE), pytest.param(b"\xa5" * PAGE, marks=pytest.mark.deep)])
    def test_wherever_a_page_is_torn(self, file: Path, harm: bytes) -> None:
        raw, most = file.read_bytes(), sum(session["turns"] for session in listed())
        kept = []
        for at in range(2 * PAGE, len(raw), 6 * PAGE):
            file.write_bytes(raw[:at] + harm + raw[at + PAGE :])
            data = f"after-{at}"
            told = well("restore", "kept.db", "--damaged", data=data)
            assert "restored, and equal to the journal" in told
            kept.append(sum(session["turns"] for session in listed(data)))
            assert kept[-1] == most or "could not be" in told, "what is lost is said"
        assert max(kept) == most
        assert sum(kept) > 0.5 * most * len(kept)

    def test_in_the_place_of_the_journal_itself(self, here: Path, file: Path) -> None:
        state = here / "data" / "state.db"
        before = listed()
        raw = bytearray(state.read_bytes())
        raw[-PAGE:] = bytes(PAGE)
        state.write_bytes(raw)
        well("restore", str(state), "--damaged", "--force")
        (aside,) = (here / "data").glob("replaced-*")
        assert (aside / "state.db").read_bytes() == raw, "what was there is kept"
        assert {each["label"] for each in listed()} <= {each["label"] for each in before}
        play("나의 모험", "계속 간다.", "길이 이어진다. 해가 진다.")
        assert well("verify").endswith("equal to the journal\n")

    def test_one_of_which_nothing_is_left(self, here: Path, file: Path) -> None:
        file.write_bytes(file.read_bytes()[:PAGE] + bytes(40 * PAGE))
        refused = saga("restore", "kept.db", "--damaged", data="elsewhere")
        assert refused.exit_code == 1 and "kept.db: " in refused.stderr
        assert not list((here / "elsewhere").glob("state.db*"))
        missing = saga("restore", "nothing.db", "--damaged", data="elsewhere")
        assert missing.exit_code == 2 and "there is no such file" in missing.stderr


class TestTransfer:
    def test_there_and_back(self, here: Path) -> None:
        well("export", "나의 모험", "my.jsonl")
        assert saga("export", "나의 모험", "my.jsonl").exit_code == 2
        first = json.loads((here / "my.jsonl").read_text(encoding="utf-8").splitlines()[0])
        assert (first["saga"], first["version"]) == ("session", 1)
        (session,) = listed()
        told = well("import", "my.jsonl", data="elsewhere")
        assert told == f"{session['id']}  나의 모험  1 turn\n"
        assert listed("elsewhere") == [session]
        well("import", "my.jsonl")
        assert [each["label"] for each in listed()] == ["나의 모험", "나의 모험 (2)"]
        assert well("verify").endswith("2 sessions: equal to the journal\n")

    def test_an_edited_file(self, here: Path) -> None:
        well("export", "나의 모험", "my.jsonl")
        file = here / "my.jsonl"
        file.write_text(file.read_text(encoding="utf-8").replace("바람이", "비가"), encoding="utf-8")
        refused = saga("import", "my.jsonl")
        assert refused.exit_code == 2 and "was changed" in refused.stderr and "--edited" in refused.stderr
        well("import", "my.jsonl", "--edited")

    def test_to_the_terminal(self, here: Path) -> None:
        assert well("export", "나의 모험", "-").splitlines()[-1].startswith('{"end"')


class TestForget:
    def test_a_session(self, here: Path) -> None:
        play("비밀", "속삭인다.", "자색고래가 듣는다. 아무도 모른다.")
        well("backup", "old.db")
        (_, doomed) = listed()
        asked = CliRunner().invoke(main, ["forget", "비밀", "--data", "data"], input="n\n")
        assert asked.exit_code == 1 and len(listed()) == 2
        told = well("forget", "비밀", "--yes")
        assert told.splitlines() == [f"forgotten: {doomed['id']}", f"still in the backup  {here / 'old.db'}"]
        assert traces(here / "data", "자색고래", doomed["id"]) == []
        (here / "old.db").write_bytes(b"torn")
        assert "it cannot be read here" in well("forget", "나의 모험", "--yes")

    @pytest.mark.parametrize("blank", ["", "  "])
    def test_a_name_that_came_out_empty_does_not_forget_the_session(self, here: Path, blank: str) -> None:
        (kept,) = listed()
        for words in (["나의 모험", "--name", blank], [blank], ["--owner", blank]):
            refused = saga("forget", *words, "--yes")
            assert refused.exit_code == 2
            assert "is blank; without it more would be forgotten; give a text" in refused.stderr
        assert listed() == [kept]

    def test_the_same_again_finishes_what_failed(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        play("비밀", "속삭인다.", "자색고래가 듣는다. 아무도 모른다.")

        async def full(_store: SqliteState) -> None:
            raise OSError("no space")

        with monkeypatch.context() as patched:
            patched.setattr(SqliteState, "compact", full)
            failed = saga("forget", "비밀", "--yes")
        assert failed.exit_code == 1
        assert "state.db: sqlite could not rewrite its files (OSError: no space); forget the same" in failed.stderr
        assert (here / "data" / "forgotten.json").exists()
        assert well("forget", "비밀", "--yes") == "forgotten: what an earlier try had left\n"
        assert traces(here / "data", "자색고래") == []
        assert "there is no session" in saga("forget", "비밀", "--yes").stderr

    def test_what_a_curator_still_holds_is_named(self, here: Path) -> None:
        """In a restored backup that leaves the session out, too."""
        play("비밀", "속삭인다.", "자색고래가 듣는다. 아무도 모른다.")
        well("backup", "old.db")
        (_, doomed) = listed()
        (here / "saga.yaml").write_text("curator: {backend: mine}\n", encoding="utf-8")
        keeper = Keeper(ConnectionError("server away"))

        async def opened(_options: OpenOptions) -> Keeper:
            return keeper

        registry.register("curator.mine", Backend("curator", "mine", opened))
        try:
            left = f"may still be in      keeper (curator.backend): it could not forget session {doomed['id']} "
            for asked in (["forget", "비밀", "--yes"], ["forget", "비밀", "--yes"], ["restore", "old.db", "--force"]):
                failed = saga(*asked)
                assert failed.exit_code == 1, failed.stdout
                assert failed.stderr.startswith(f"{left}(ConnectionError: server away); forget the same again"), asked
            keeper.broken = None
            assert well("forget", "비밀", "--yes") == "forgotten: what an earlier try had left\n"
            assert "there is no session" in saga("forget", "비밀", "--yes").stderr
        finally:
            registry.unregister("curator.mine")

    def test_an_older_backup_does_not_bring_it_back(self, here: Path) -> None:
        play("비밀", "속삭인다.", "자색고래가 듣는다. 아무도 모른다.")
        well("backup", "old.db")
        (kept, doomed) = listed()
        well("forget", "비밀", "--yes")
        well("backup", "newer.db")
        told = well("restore", "old.db", "--force")
        assert "1 session left out: forgotten after this backup was made" in told
        assert [each["id"] for each in listed()] == [kept["id"]]
        assert traces(here / "data", "자색고래", doomed["id"]) == []
        assert "left out" not in well("restore", "newer.db", "--force")
        assert "left out" not in well("restore", "old.db", "--force", "--with-forgotten")
        assert {each["id"] for each in listed()} == {kept["id"], doomed["id"]}
        told = well("forget", "비밀", "--yes")
        assert len([line for line in told.splitlines() if line.startswith("still in the backup")]) == 1

    def test_nor_a_name(self, here: Path) -> None:
        play("비밀", "속삭인다.", "자색고래가 듣는다. 아무도 모른다.")
        well("backup", "old.db")
        well("forget", "비밀", "--name", "자색고래", "--yes")
        before = listed()
        refused = saga("restore", "old.db", "--force")
        assert refused.exit_code == 2 and "--with-forgotten" in refused.stderr
        assert listed() == before and traces(here / "data", "자색고래") == []
        well("restore", "old.db", "--force", "--with-forgotten")
        assert "places of" in well("forget", "비밀", "--name", "자색고래", "--yes")

    def test_what_was_put_aside_is_told(self, here: Path) -> None:
        play("비밀", "속삭인다.", "자색고래가 듣는다. 아무도 모른다.")
        well("backup", "old.db")
        well("restore", "old.db", "--force")
        (here / "data" / "state.db.damaged-1").write_bytes(b"torn")
        (here / "old.db").unlink()
        told = well("forget", "비밀", "--yes")
        (aside,) = (here / "data").glob("replaced-*")
        assert f"still in the backup  {aside}\n" in told, "its pages tell of the session, too"
        assert "state.db.damaged-1  (it cannot be read here)" in told

    def test_a_list_that_cannot_be_read(self, here: Path) -> None:
        well("backup", "old.db")
        (here / "data" / "forgotten.json").write_text("{")
        refused = saga("restore", "old.db", "--force")
        assert refused.exit_code == 1 and "forgotten.json: cannot be read" in refused.stderr
        assert len(listed()) == 1

    def test_a_name(self, here: Path) -> None:
        play("비밀", "속삭인다.", "자색고래가 듣는다. 아무도 모른다.")
        assert "places of" in well("forget", "비밀", "--name", "자색고래", "--yes")
        assert traces(here / "data", "자색고래") == []
        assert len(listed()) == 2

    def test_a_backup_for_another_engine_is_told_the_way(self, here: Path) -> None:
        well("backup", "old.db")
        (here / "saga.yaml").write_text("storage: {path: data, state: memory}", encoding="utf-8")
        refused = saga("restore", "old.db", "--config", "saga.yaml")
        assert "restore a backup into a folder with state: sqlite, then saga move --to state=memory" in refused.stderr

    def test_one_thing_at_a_time(self, here: Path) -> None:
        for wrong in ([], ["나의 모험", "--owner", "k"], ["--name", "x", "--owner", "k"]):
            assert saga("forget", *wrong, "--yes").exit_code == 2
        assert saga("forget", "--owner", "k", "--yes").exit_code == 2


@pytest.fixture
def served(here: Path) -> Iterator[None]:
    """``saga serve`` on the data, with a key."""
    (here / "saga.yaml").write_text("storage: {path: data}\nserver: {api_keys: [first]}\n", encoding="utf-8")
    with subprocess.Popen(
        [*SAGA, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert any(line.startswith(READY_AT) for line in process.stdout)
            yield
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.mark.usefixtures("served")
@pytest.mark.deep
def test_beside_a_server(here: Path) -> None:
    def beside(*arguments: str, code: int = 0) -> str:
        done = subprocess.run([*SAGA, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout if not code else done.stderr

    assert "1 session, 1 turn," in beside("backup", "kept.db")
    assert "is open in process" in beside("restore", "kept.db", "--force", code=1)
    beside("export", "나의 모험", "my.jsonl")
    assert "나의 모험 (2)  1 turn\n" in beside("import", "my.jsonl")
    assert "forgotten: s" in beside("forget", "나의 모험 (2)", "--yes")
    assert "still in the backup" in beside("forget", "나의 모험", "--yes")
    assert traces(here / "data", "바람이 분다") == []
    assert "equal to the journal" in beside("verify")


def test_a_backup_of_a_journal_that_lies_outside_a_data_directory_that_is_not_there(tmp_path: Path) -> None:
    state, data = tmp_path / "elsewhere" / "state.db", tmp_path / "data"
    file = tmp_path / "saga.yaml"
    file.write_text(f"storage: {{path: {data}, state: {{backend: sqlite, path: {state}}}}}\n")

    async def play() -> None:
        async with Saga.open(load_config(file)) as saga:
            await saga.sessions.create(label="here")

    asyncio.run(play())
    shutil.rmtree(data, ignore_errors=True)
    result = CliRunner().invoke(main, ["backup", "--config", str(file), str(tmp_path / "copy.db")])
    assert result.exit_code == 0, result.output
    assert "1 session" in result.output and (tmp_path / "copy.db").is_file()
