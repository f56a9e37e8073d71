"""A language is a folder: with it alone, a world in that language is told in it. The one here is made up."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import saga_core.language.en as english

GRAMMAR = """
from attrs import evolve
from saga_core.language.en.grammar import GRAMMAR

def _terms(run):
    return (run.removesuffix("n"),)

GRAMMAR = evolve(GRAMMAR, letters="a-zȝ", run="[a-z]*ȝ[a-zȝ]*", terms=_terms, function=frozenset())
"""
PAST = """
[past]
asking = '\\b(?:gestern|damals)\\b'
turn = "Turn"
dated = '(?P<rest>\\d{1,2} [A-Z][a-z]+) (?P<year>\\d{1,9})'
"""
PLAY = """
import asyncio, sys
from pathlib import Path
import saga_core.language
saga_core.language.__path__.append(sys.argv[1])
from saga_core import Saga
from saga_core.language import DEFAULT, detect, every, known, language_of, languages_in, terms
from saga_core.recall import looks_back

worlds = Path(sys.argv[2])

async def play():
    async with Saga.open({"storage": {"profile": "memory"}, "session": {"default_world": "hain"}}) as saga:
        saga.worlds.roots = (worlds, *saga.worlds.roots)
        chat = [{"role": "system", "content": "Du erzählst."}, {"role": "user", "content": "Ich gehe in den Wald."}]
        turn = await saga.begin(chat)
        turn.replies[0].feed("Es ist still.\\n```state\\nlocation: Wald\\n```")
        await turn.commit()
        said = [{"role": "assistant", "content": "Es ist still."}, {"role": "user", "content": "Ich gehe weiter."}]
        turn = await saga.begin([*chat, *said])
        assert turn.context.text.startswith("[SAGA: was jetzt wahr ist]"), turn.context.text
        sent = "".join(each["content"] for each in turn.plan.to_openai())
        assert "[SAGA: what is true now]" not in sent
"""


def played(tmp_path: Path, tag: str, test: str) -> None:
    """Run ``test`` in a process of its own in which the language exists: what is known of languages is kept."""
    folder, like = tmp_path / "languages" / tag, Path(english.__path__[0])
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "grammar.py").write_text(GRAMMAR, encoding="utf-8")
    words, texts = ((like / name).read_text(encoding="utf-8") for name in ("words.toml", "texts.toml"))
    words = re.sub(r"^\[past\]\n.*?(?=^\[(?!past))", lambda _: PAST.lstrip(), words, flags=re.M | re.S)
    (folder / "words.toml").write_text(words, encoding="utf-8")
    (folder / "texts.toml").write_text(texts.replace("what is true now", "was jetzt wahr ist"), encoding="utf-8")
    world = tmp_path / "worlds" / "hain"
    world.mkdir(parents=True)
    told = f"---\ntitle: Der Hain\nlanguage: {tag}\n---\nEin Dorf im Wald.\n"
    (world / "WORLD.md").write_text(told, encoding="utf-8")
    command = [sys.executable, "-X", "utf8", "-c", PLAY + test, str(folder.parent), str(world.parent)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_world_that_states_it_is_played_in_it(tmp_path: Path) -> None:
    played(tmp_path, "qaa", "asyncio.run(play())")


def test_latin_letters_mean_it_only_where_it_is_stated(tmp_path: Path) -> None:
    test = """
assert [detect("Ich gehe.", tag) for tag in ("qaa", "en", "ko")] == ["qaa", "en", "en"]
assert [detect("Ich gehe über die Brücke.", tag) for tag in ("qaa", "en", "ko")] == ["qaa", "en", "en"]
assert [detect("숲으로 간다.", "qaa"), detect("…", "qaa"), detect("12", "qaa")] == ["ko", "qaa", "qaa"]
"""
    played(tmp_path, "qaa", test)


@pytest.mark.parametrize("tag", ["art", "qaa"])
def test_its_words_are_read_whatever_its_tag(tmp_path: Path, tag: str) -> None:
    """Tags before and after that of English."""
    test = f"""
assert terms("Brȝcken") == terms("Brȝcke") == ["brȝcke"]
assert terms("The keys") == ["the", "key"] and terms("naïve") == ["naïve"]
assert looks_back("Sie war gestern hier.") and not looks_back("Sie ist hier.")
assert {{"en", {tag!r}}} <= {{each.tag for each in languages_in("Hier.")}}
"""
    played(tmp_path, tag, test)
