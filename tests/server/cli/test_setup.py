"""``saga setup``: questions on a terminal and through a pipe, what is written, and what is left alone."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner, Result

from saga_core.config import Config, load_config
from saga_core.errors import BadInput
from saga_server.cli.saga_command import main
from saga_server.providers import Narrators
from saga_server.setup.choices import FRONTENDS, PROVIDERS
from saga_server.setup.settings_file import Answers, keep_key, settings_text
from saga_server.setup.wording import WORDINGS

KEY = "sk-geheim-geheim-1"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith(("SAGA_", "LC_", "LANG")):
            monkeypatch.delenv(name)


def setup(*arguments: str, said: str = "") -> Result:
    return CliRunner().invoke(main, ["setup", "--no-doctor", *arguments], input=said)


def mode(file: Path) -> int:
    return file.stat().st_mode & 0o777


class TestQuestions:
    def test_enter_takes_what_is_proposed(self, tmp_path: Path) -> None:
        result = setup(said="\n" * 7)
        assert result.exit_code == 0, result.output
        config = load_config(tmp_path / "saga.yaml", environ={})
        assert config.providers["openai"].base_url == "http://127.0.0.1:5001/v1"
        assert (config.providers["openai"].slots, config.models.narration) == (1, None)
        assert config.session.default_world is None
        assert "Custom Endpoint: http://127.0.0.1:8765/v1" in result.output
        assert "3/6  The key: this provider needs none." in result.output

    def test_every_known_language_is_offered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One that the questions have no word for, by its English name."""
        wordings = {**WORDINGS, "en": evolve(WORDINGS["en"], languages={"en": "English"})}
        monkeypatch.setattr("saga_server.cli.setup.WORDINGS", wordings)
        result = setup("--talk", "en", said="\n" * 7)
        assert all(name in result.output for name in ("English", "Korean", "Japanese", "Chinese"))

    def test_numbers_and_names_and_wrong_ones(self, tmp_path: Path) -> None:
        result = setup("--talk", "ko", said="9\nrisuai-web\n6\n gpt-5.6-sol \n" + KEY + "\nko\n2\n3\n")
        assert result.exit_code == 0, result.output
        assert "1부터 5까지의 번호를 입력하세요" in result.output and "RisuAI: 설정 > 챗봇" in result.output
        config = load_config(tmp_path / "saga.yaml", environ={})
        assert config.models.narration == "openai/gpt-5.6-sol"
        assert config.providers["openai"].api_key == KEY
        assert config.server.origins == ("https://risuai.xyz",)
        assert config.session.default_world == "ersia"
        assert load_config(tmp_path / "saga.yaml").profile == "romance"

    def test_a_key_is_in_a_file_of_its_own_and_shown_nowhere(self, tmp_path: Path) -> None:
        result = setup(said=f"\nanthropic\n\n{KEY}\n\n\n\n")
        assert result.exit_code == 0, result.output
        kept = tmp_path / "saga.anthropic.key"
        assert kept.read_text() == KEY + "\n" and str(kept) in result.output
        assert (mode(kept), mode(tmp_path / "saga.yaml")) == (0o600, 0o600)
        assert KEY not in (tmp_path / "saga.yaml").read_text()
        narrators = Narrators.from_config(load_config(tmp_path / "saga.yaml", environ={}), {})
        assert narrators.providers["anthropic"].options["api_key"] == KEY

    def test_a_key_of_the_environment_is_not_asked_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
        result = setup(said="\n" * 7)
        assert "OPENROUTER_API_KEY is set here" in result.output
        assert list(tmp_path.glob("*.key")) == []
        config = load_config(tmp_path / "saga.yaml")
        assert Narrators.from_config(config, os.environ).providers["openrouter"].options["api_key"] == KEY

    def test_a_key_that_comes_later(self) -> None:
        result = setup(said="\nopenai\n\n\n\n\n\n")
        assert "Before `saga serve`, set OPENAI_API_KEY to the key." in result.output

    @pytest.mark.parametrize("talk", ["en", "ko"])
    def test_six_questions_are_six_also_where_no_key_is_needed(self, talk: str) -> None:
        result = setup("--talk", talk, said="\n1\n\n\n\n\n\n")
        assert result.exit_code == 0, result.output
        places = [result.output.index(f"{number}/6  ") for number in range(1, 7)]
        assert places == sorted(places)

    def test_an_address_that_is_none_is_asked_for_again(self, tmp_path: Path) -> None:
        result = setup(said="\nother\nnowhere\nhttp://10.0.0.7:5000/v1\n\n" + KEY + "\n\n\n\n")
        assert result.exit_code == 0, result.output
        config = load_config(tmp_path / "saga.yaml", environ={})
        assert (config.providers["other"].base_url, config.providers["other"].api_key) == (
            "http://10.0.0.7:5000/v1",
            KEY,
        )

    @pytest.mark.parametrize(("talk", "says"), [("en", "nowhere is no address"), ("ko", "주소가 아닙니다: nowhere")])
    def test_what_is_no_address_is_said_in_the_words_of_the_talk(self, talk: str, says: str) -> None:
        result = setup("--talk", talk, said="\n1\nnowhere\n\n\n\n\n\n")
        assert result.exit_code == 0, result.output
        assert says in result.output and "providers." not in result.output

    @pytest.mark.parametrize("typed", ["127.0.0.1:5009/v1", "http://127.0.0.1:5009/v1"])
    def test_an_address_may_leave_out_http(self, tmp_path: Path, typed: str) -> None:
        result = setup(said=f"\n1\n{typed}\n\n\n\n\n")
        assert result.exit_code == 0, result.output
        config = load_config(tmp_path / "saga.yaml", environ={})
        assert config.providers["openai"].base_url == "http://127.0.0.1:5009/v1"

    def test_an_end_in_the_middle_changes_nothing(self, tmp_path: Path) -> None:
        result = setup(said=f"\nopenai\n\n{KEY}\n")
        assert result.exit_code == 1 and "Aborted" in result.output
        assert list(tmp_path.iterdir()) == []


class TestOptions:
    def test_all_of_it_without_a_question(self, tmp_path: Path) -> None:
        told = ["--frontend", "sillytavern-text", "--provider", "llamacpp", "--world", "harrow", "--language", "en"]
        result = setup("--yes", "--file", "other/mine.yaml", "--model", "qwen3", *told)
        assert result.exit_code == 0, result.output
        config = load_config(tmp_path / "other" / "mine.yaml", environ={})
        assert (config.models.narration, config.session.default_world) == ("openai/qwen3", "harrow")
        assert "saga serve --config other" in result.output and "API URL: http://127.0.0.1:8765\n" in result.output
        assert "?" not in result.output

    def test_a_file_with_the_key(self, tmp_path: Path) -> None:
        (tmp_path / "key").write_text(KEY)
        assert setup("--yes", "--provider", "google", "--key-file", "key").exit_code == 0
        assert load_config(tmp_path / "saga.yaml", environ={}).providers["google"].api_key == KEY

    @pytest.mark.parametrize(
        ("arguments", "named"),
        [
            (["--world", "atlantis"], "atlantis: there is none of this name; give one of none, "),
            (["--provider", "other"], "--base-url: this provider's address is not known"),
            (["--base-url", "nowhere"], "base_url"),
        ],
    )
    def test_bad_ones_are_named(self, tmp_path: Path, arguments: list[str], named: str) -> None:
        result = setup("--yes", *arguments)
        assert result.exit_code == 2 and named in result.output
        assert list(tmp_path.iterdir()) == []


class TestWhatIsThere:
    def test_it_is_not_replaced_without_being_asked(self, tmp_path: Path) -> None:
        (tmp_path / "saga.yaml").write_text("server: {port: 9}\n")
        refused = setup("--yes")
        assert refused.exit_code == 2 and "--replace" in refused.output
        declined = setup(said="\n")
        assert declined.exit_code == 0 and "Nothing was changed" in declined.output
        assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("saga.yaml", "server: {port: 9}\n")]

    def test_it_is_kept_beside_the_new_one(self, tmp_path: Path) -> None:
        for number in (1, 2):
            (tmp_path / "saga.yaml").write_text(f"server: {{port: {number}}}\n")
            assert setup(said="y\n" + "\n" * 7).exit_code == 0
        assert (tmp_path / "saga.yaml.old").read_text() == "server: {port: 1}\n"
        assert (tmp_path / "saga.yaml.old2").read_text() == "server: {port: 2}\n"


class TestTheFile:
    @pytest.mark.parametrize("frontend", FRONTENDS)
    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_every_choice_is_read_back(self, frontend: str, provider: str) -> None:
        chosen = PROVIDERS[provider]
        answers = Answers(
            frontend=FRONTENDS[frontend],
            provider=chosen,
            model='a: "b" #1',
            base_url=chosen.base_url or None,
            key=None if provider != "other" else "${SAGA_PROVIDER_KEY}",
            world="여관 #2: 'x'",
            profile="romance",
        )
        config = written(settings_text(answers))
        assert config.session.default_world == "여관 #2: 'x'"
        assert config.profile == "romance"
        assert config.warnings == () or provider == "other"
        assert WORDINGS["ko"].connect.keys() == WORDINGS["en"].connect.keys() == FRONTENDS.keys()
        wanted = "offline" if provider == "offline" else f'{chosen.section}/a: "b" #1'
        assert config.models.narration == wanted

    @pytest.mark.parametrize("key", ["열쇠", "a b", "a\nb", "a\x00"])
    def test_what_is_no_key(self, tmp_path: Path, key: str) -> None:
        with pytest.raises(BadInput, match="printable ASCII"):
            keep_key(key, tmp_path / "saga.yaml", "openai")
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_cannot_be_referred_to(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="set the key in the environment"):
            keep_key(KEY, tmp_path / "a}b" / "saga.yaml", "openai")


def written(text: str) -> Config:
    Path("read.yaml").write_text(text, encoding="utf-8")
    return load_config("read.yaml", environ={})


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX'")
def test_on_a_terminal_a_key_is_not_shown(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "LANG": "ko_KR.UTF-8", "PYTHONUTF8": "1"}
    environ |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    command = [sys.executable, "-m", "saga_server", "setup", "--model", "", "--no-doctor"]
    answers = ["1\n", "6\n", f"{KEY}\n", "2\n", "1\n", "1\n"]
    with subprocess.Popen(command, cwd=tmp_path, env=environ, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown, seen = "", 0
        try:
            while select.select([ours], [], [], 30)[0]:
                try:
                    shown += os.read(ours, 65_536).decode("utf-8", "ignore")
                except OSError:  # the other side is closed
                    break
                if answers and re.search(r"(?:번호 \[\d+\]|설정합니다\)): ?$", shown[seen:]):
                    seen = len(shown)
                    os.write(ours, answers.pop(0).encode())
        finally:
            process.kill()
            os.close(ours)
    assert answers == []
    assert "API 키 (화면에 표시되지 않습니다" in shown and KEY not in shown
    assert (tmp_path / "saga.openai.key").read_text() == KEY + "\n"
    assert "시작하려면: saga serve" in shown


def test_the_doctor_looks_at_it(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["setup", "--yes", "--provider", "offline"])
    assert result.exit_code == 0, result.output
    assert "all is well" in result.output
    result = CliRunner().invoke(main, ["setup", "--yes", "--replace", "--provider", "other", "--base-url",
                                       "http://127.0.0.1:9/v1", "--talk", "ko"])  # fmt: skip
    assert result.exit_code == 1
    assert "고친 뒤 다시 점검하세요: saga doctor" in result.output and "Custom Endpoint" in result.output
