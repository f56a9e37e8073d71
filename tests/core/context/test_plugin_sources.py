"""Sources of other packages: installed, found by name, switched on, and never able to cost a turn."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga, load_config, registry
from saga_core.config import Config
from saga_core.context import Piece, Section
from saga_core.context.reader import ContextReader, own_sources
from saga_core.context.source import MOST, Guest, open_plugin_source
from saga_core.errors import BadInput, ConfigError, StoreUnavailable
from saga_server.doctor import examine
from tests.core.context.reading_stage import WordCounter, ask

ROOT = Path(__file__).resolve().parents[3]
Install = Callable[..., None]
OWN = ", ".join(each.name for each in own_sources(Config()))

ODD = '''
from attrs import frozen
from saga_core import Backend, BadInput
from saga_core.context import Piece, Section

class Odd:
    name = "odd"
    needs = ()
    closed = []
    async def gather(self, scene, given):
        raise RuntimeError("a bug in a guest")
    async def aclose(self):
        self.closed.append(self.name)

class Nameless(Odd):
    name = "other"

class Spelled(Odd):
    name = "spelled"
    needs = "lorebook"

class Plain:
    name = "plain"
    needs = ()
    def gather(self, scene, given):
        return []

class Waits(Odd):
    name = "waits"
    needs = ("moon",)

class Circle(Odd):
    name = "circle"
    needs = ("circle",)

class Reads(Odd):
    """Sees what the lorebook offers."""
    name = "reads"
    needs = ("lorebook", "odd")
    async def gather(self, scene, given):
        text = f"{len(given.pieces['lorebook'])} entries, {sorted(given.missing)} missing\\n[SAGA: is this]"
        return [Piece("somebody else", "reads", "events", text, 7, why={"because": 7})]

def opens(cls):
    async def open(options):
        options.take(**{"loud": False} if cls is Odd else {})
        return cls()
    return Backend("context", cls.__name__.lower(), open)

async def fails(options):
    raise OSError("no such chart")

ODD, NAMELESS, SPELLED, PLAIN, WAITS, CIRCLE, READS = map(opens, (Odd, Nameless, Spelled, Plain, Waits, Circle, Reads))
FAILS = Backend("context", "fails", fails)
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package as pip does: its module on the path, its entry points beside it."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def add(module: str, text: str, *points: str) -> None:
        info = site / f"{module}-1.0.dist-info"
        info.mkdir()
        (site / f"{module}.py").write_text(text, encoding="utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("\n".join([f"[{registry.GROUP}]", *points]) + "\n")
        registry._searched.cache_clear()

    return add


@pytest.fixture
def odd(install: Install) -> None:
    names = ("odd", "nameless", "spelled", "plain", "waits", "circle", "reads", "fails")
    install("odd_sources", ODD, *(f"context.{name} = odd_sources:{name.upper()}" for name in names))


def settings(**sources: Any) -> dict[str, Any]:
    return {"storage": {"profile": "memory"}, "recall": {"sources": sources}}


async def test_the_example_of_the_docs_is_installed_and_speaks(install: Install) -> None:
    text = (ROOT / "docs" / "examples" / "tides.py").read_text(encoding="utf-8")
    points = [line.strip().replace('"', "") for line in text.splitlines() if line.startswith('    "context.')]
    assert len(points) == 2
    install("tides", text, *points)
    config = load_config(settings(tides={"period": 2}, causeways=None))
    async with Saga.open(config) as saga:
        sources = (await saga.status())["context"]["sources"]
        assert list(sources)[-2:] == ["tides", "causeways"] and sources["causeways"] == ["tides"]
        first = await saga.begin([{"role": "user", "content": "I wait."}])
        assert "- The tide is low." in first.context.text and first.context.late == ()
        first.replies[0].feed("The sea goes out.")
        await first.commit()
        explained = await saga.views.explain(first.session.id, first.id)
        (piece,) = [each for each in explained["pieces"] if each["source"] == "tides"]
        assert (piece["score"], piece["why"], piece["section"]) == (3.0, {"tide": 3.0}, "events")
    said: list[str] = []
    assert await examine(config, said.append)
    assert f"ok  context: {OWN}, tides, causeways (needs tides)" in said


async def test_one_that_fails_costs_only_itself(odd: None) -> None:
    async with Saga.open(settings(reads={}, odd={"loud": True})) as saga:
        begun = await saga.begin([{"role": "user", "content": "I look around."}])
        assert begun.context.late == ("odd",)
        assert "- 0 entries, ['odd'] missing (SAGA: is this]" in begun.context.text
        (piece,) = [each for each in begun.context.pieces if each.key == "reads"]
        assert (piece.source, piece.section, piece.score) == ("reads", Section.EVENTS, 7.0)
        status = await saga.status()
        assert status["context"]["late"] == {"odd": 1} and status["counters"]["late.odd"] == 1
        closed = __import__("odd_sources").Odd.closed
        assert closed == []
    assert sorted(closed) == ["odd", "reads"]


async def test_the_doctor_says_what_is_installed_and_not_switched_on(odd: None) -> None:
    said: list[str] = []
    await examine(load_config(settings(odd={})), said.append)
    (line,) = [line for line in said if "  context: " in line]
    assert f"{OWN}, odd; installed, not in recall.sources: circle, fails" in line


@pytest.mark.parametrize(
    ("name", "options", "error", "told"),
    [
        ("tides:Tides", {}, BadInput, r"plugins, such as plugins: {saga\.backends: {context\.NAME: tides:Tides}}"),
        ("nobody", {}, BadInput, r"recall\.sources\.nobody: no installed package brings .*; there are: circle, fails"),
        ("lorebook", {}, BadInput, r"recall\.sources\.lorebook: there is a source of that name already"),
        ("A Name", {}, BadInput, r"recall\.sources\.A Name: a source is named with at most 32 small letters"),
        ("odd", {"laud": True}, BadInput, r"recall\.sources\.odd: options\.laud: unknown option.* takes: loud"),
        ("nameless", {}, BadInput, r"named 'other'; its name must be 'nameless'"),
        ("spelled", {}, BadInput, r"its needs are 'lorebook'; give a tuple of names"),
        ("plain", {}, BadInput, r"recall\.sources\.plain: .*gather is not asynchronous; write it with async def"),
        ("fails", {}, StoreUnavailable, r"recall\.sources\.fails: .*cannot be opened \(OSError: no such chart\)"),
        ("waits", {}, BadInput, r"'waits' needs 'moon', which is not there; there are: briefing"),
        ("circle", {}, BadInput, r"'circle' needs 'circle', so that none can be the first"),
    ],
)
async def test_what_cannot_be_used_is_refused_at_the_start(
    odd: None, name: str, options: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        await Saga.open(settings(**{name: options}))


async def test_one_that_cannot_be_imported_says_so(install: Install) -> None:
    install("needs_more", "import no_such_engine\n", "context.deep = needs_more:DEEP")
    with pytest.raises(StoreUnavailable, match=r"recall\.sources\.deep: .*no_such_engine"):
        await Saga.open(settings(deep={}))
    said: list[str] = []
    await examine(load_config({"storage": {"profile": "memory"}}), said.append)
    assert any("broken: deep: " in line and "no_such_engine" in line for line in said)


@pytest.mark.parametrize("wrong", [["tides"], {"tides": "low"}, {"": {}}, {"tides": {"": 2}}, "tides"])
def test_settings_of_another_shape_are_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=r"recall\.sources: .*give a mapping of names to mappings of options"):
        load_config({"recall": {"sources": wrong}})


def test_a_name_alone_has_no_options() -> None:
    config = load_config({"recall": {"sources": {"tides": None, "moon": {"key": "${MOON}"}}}}, environ={"MOON": "full"})
    assert config.recall.sources == {"tides": {}, "moon": {"key": "full"}}
    assert "full" not in repr(config)


LINE = Piece("x", "k", Section.LORE, "words", 1.0)


@pytest.mark.parametrize(
    ("offered", "told"),
    [
        (None, "gather gave a NoneType; give a list of pieces"),
        ("words", "gather gave a str"),
        (["words"], "gather gave a str among its pieces"),
        ([LINE] * (MOST + 1), f"gather gave {MOST + 1} pieces; give the best {MOST} at most"),
        ([Piece("x", "k", "attic", "words", 1.0)], "section is 'attic'; give one of now, related, lore"),  # type: ignore[arg-type]
        ([Piece("x", "", Section.LORE, "words", 1.0)], "key is ''"),
        ([Piece("x", "k", Section.LORE, " \n", 1.0)], "has ' \\n' as text"),
        ([Piece("x", "k", Section.LORE, None, 1.0)], "has None as text"),  # type: ignore[arg-type]
        ([Piece("x", "k", Section.LORE, "words", float("nan"))], "has nan as score; give a number"),
        ([Piece("x", "k", Section.LORE, "words", "1")], "has '1' as score"),  # type: ignore[arg-type]
        ([Piece("x", "k", Section.LORE, "words", 1.0, why={"part": "much"})], "has 'much' as part"),  # type: ignore[dict-item]
        ([Piece("x", "k", Section.LORE, "words", 1.0, shorter=(3,))], "has 'words' as text"),  # type: ignore[arg-type]
    ],
)
async def test_what_are_no_pieces_are_left_out_with_a_word(
    offered: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Inner:
        name = "x"
        needs = ()

        async def gather(self, scene: Any, given: Any = None) -> Any:
            return offered

    reader = ContextReader((Guest("x", (), Inner()),), WordCounter())
    found = await reader.read(ask())
    assert (found.late, found.text) == (("x",), "")
    assert "x left out: " in caplog.text and told.replace("\\n", "\\n") in caplog.text


async def test_it_may_keep_files_in_a_folder_of_its_own(odd: None, tmp_path: Path) -> None:
    seen: list[Any] = []

    async def spy(options: Any) -> Any:
        seen.append(options.path)
        return __import__("odd_sources").Odd()

    module = __import__("odd_sources")
    module.ODD = registry.Backend("context", "odd", spy)
    config = load_config({"storage": {"path": str(tmp_path / "data")}, "recall": {"sources": {"odd": {}}}})
    guest = await open_plugin_source("odd", config, {source.name for source in own_sources(config)})
    assert seen == [tmp_path / "data" / "context.odd"] and guest.needs == ()
    assert not (tmp_path / "data").exists(), "it makes its folder itself"
    shutil.rmtree(tmp_path / "site")


OLD_EMBEDDER = """
from saga_core import Backend

class Old:
    id, dimension, baseline = "old/2", 2, 0.0
    async def embed(self, texts, mode):
        return [[1.0, 0.0] for _ in texts]
    async def aclose(self):
        pass

async def open(options):
    return Old()

OLD = Backend("embedder", "old", open)
"""


async def test_an_embedder_that_does_not_say_whether_it_sees_meaning_is_refused(install: Install) -> None:
    install("old_embedder", OLD_EMBEDDER, "embedder.old = old_embedder:OLD")
    with pytest.raises(BadInput, match=r"recall\.embedder: 'old': Old is no Embedder; it lacks semantic$"):
        await Saga.open({"storage": {"profile": "memory"}, "recall": {"embedder": "old"}})
