"""docs/architecture.md: the numbers, names and tables in it are those of the code."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable

from saga_core import Saga, background
from saga_core.config import Config
from saga_core.context.reader import PATIENCE, own_sources
from saga_core.context.sources import Memories
from saga_core.extraction import question
from saga_core.jobs import extraction, remote_state
from saga_core.jobs.views import ViewsJob
from saga_core.journal import keys
from saga_core.messages import Origin
from saga_core.model import world_state
from saga_core.model.entities import Entity, Kind, Placement
from saga_core.model.tree import ReportStatus
from saga_core.model.world_state import WorldState
from saga_core.projection.lines import render_kv
from saga_core.recall import episodes, graph_walk
from saga_core.sessions import live_sessions
from saga_core.transcript import INHERIT, matching
from saga_core.transcript import identities as identity
from saga_core.views import projector
from saga_server.hosting import layout
from tests.docs.pages import ROOT, page

ARCHITECTURE = page("docs/architecture.md")
PROSE = " ".join(ARCHITECTURE.prose.split())


def column(head: str) -> list[list[str]]:
    """The rows of the table whose first head cell is ``head``."""
    rows = ARCHITECTURE.rows
    start = next(at for at, row in enumerate(rows) if row[0] == head)
    found = []
    for row in rows[start + 2 :]:
        if len(row) != len(rows[start]):
            break
        if set("".join(row)) <= set("-: "):
            return found[:-1]  # the row before was the head of the next table
        found.append(row)
    return found


def test_the_journals_table_has_every_key() -> None:
    made = {
        _first(function)
        for module in (keys, layout)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_") and _makes_key(function)
    } | {keys.FORMAT_KEY[0]}
    table = ARCHITECTURE.text.partition("## The journal")[2].partition("## ")[0]
    listed = {cell.partition(",")[0] for cell in re.findall(r"`([a-z]+, [^`]*)`", table)}
    assert listed == made


def _makes_key(function: Callable[..., object]) -> bool:
    return function.__name__ == "<lambda>" or inspect.signature(function).return_annotation == "Key"


def _first(function: object) -> str:
    assert callable(function)
    count = len(inspect.signature(function).parameters)
    found: str = function(*"1234"[:count])[0]
    return found


def test_the_numbers_are_those_of_the_code() -> None:
    config = Config()
    assert ", ".join(map(str, identity.LADDER[:-1])) + f" or {identity.LADDER[-1]} characters" in PROSE
    assert f"A reply of {matching.SHORT} characters or more" in PROSE
    assert f"at least {INHERIT:.0%} alike".replace("%", " %") in PROSE
    assert f"The sessions used last, {live_sessions.LiveSessions.__attrs_attrs__.limit.default} of them" in PROSE
    assert f"its last {live_sessions._STATES} turns" in PROSE
    assert f"at most {projector._NEAR} turns away" in PROSE
    assert f"(`session.live_timelines`, {config.session.live_timelines})" in PROSE
    assert f"Every {config.session.checkpoint_every}nd turn (`session.checkpoint_every`)" in PROSE
    assert f"`prompt_caching.repin_every` ({config.prompt_caching.repin_every})" in PROSE
    assert f"a week (`session.collect_after_days`, {config.session.collect_after_days})" in PROSE
    most = (world_state.MAX_HAPPENINGS, world_state.MAX_NOTES, world_state.MAX_PROBLEMS)
    assert "the latest {} events, {} notes and {} problems".format(*most) in PROSE
    assert f"the format's version, {keys.FORMAT}, or {keys.NEWEST} while" in PROSE
    assert (ViewsJob.retry.first, ViewsJob.retry.longest) == (0.5, 60.0), "half a second, a minute"
    assert PATIENCE == 0.8, "four fifths"
    assert f"At most {question.LIMIT:,} tokens" in PROSE
    assert f"{extraction.TRIES} times for a turn" in PROSE
    assert f"{background.NARRATION_PATIENCE:g} seconds after those that ran at first" in PROSE
    assert (extraction.AT_ONCE, extraction.NEAR) == (2, 1), "two at once in all, the turn behind it"
    assert episodes.REACH == 2, "two turns to each side"
    assert (len(Kind) + 1, len(graph_walk._WEIGHTS)) == (5, 10), "five node labels, lore among them; ten edge types"


def test_the_sources_are_those_of_the_reader() -> None:
    names = [source.name for source in own_sources(Config())]
    assert [row[0] for row in column("source")] == [*names, Memories().name], "the last one where a strategy is on"


async def test_the_jobs_are_those_of_the_engine_in_their_order_with_their_pauses() -> None:
    told = {"ForgettingJob": f"{remote_state.AGAIN:g} s", "ReviewsJob": "by turns: see [Curation](#curation)"}
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        pauses = {type(job).__name__: job.retry for job in saga.parts.supervisor.jobs}
    timed = [(job, told.get(job, f"{retry.first:g} to {retry.longest:g} s")) for job, retry in pauses.items()]
    assert [(row[0].strip("`"), row[2]) for row in column("job")] == timed


def test_the_origins_are_those_of_a_block_in_their_order() -> None:
    assert [row[0] for row in column("origin")] == [origin.value for origin in Origin]


def test_the_floors_are_those_of_the_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (found["layers"] for found in contracts if found.get("containers") == ["saga_core"])
    (block,) = [block for block in ARCHITECTURE.blocks if block.text.startswith(f"{len(layers)}  saga\n")]
    shown = [set(re.findall(r"[a-z_]+", line.partition(", and ")[0])) for line in block.text.splitlines()]
    told = [set(re.split(r" \| ", layer)) - {"lazy_face", "moved"} for layer in layers]
    assert shown == told


def test_the_floors_of_the_server_are_those_of_the_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (found["layers"] for found in contracts if found.get("containers") == ["saga_server"])
    told = PROSE.partition("**Floors in the server.**")[2].partition("From the top: ")[2].partition(". ")[0]
    assert [" | ".join(re.findall(r"`(\w+)`", floor)) for floor in told.split("; ")] == layers[:-1]


def test_the_statuses_are_those_of_a_delta() -> None:
    assert {row[0].strip("`") for row in column("status")} == set(ReportStatus)


def test_the_key_value_view_is_that_of_the_code() -> None:
    place = Entity("l1", Kind.LOCATION, "숲")
    player = Entity("c1", Kind.CHARACTER, "아리아", (), {"hp": 1, "max_hp": 2, "mood": "calm"})
    state = WorldState(player="c1", entities={"c1": player, "l1": place}, whereabouts={"c1": Placement("l1")})
    (row,) = [row for row in column("projection") if row[0].startswith("key-value")]
    assert set(re.findall(r"`(\w+)`", row[0])) == set(render_kv(state))


def test_the_rooms_are_there() -> None:
    (block,) = [block for block in ARCHITECTURE.blocks if "saga_core/" in block.text]
    parent = ""
    named = set()
    for line in block.text.splitlines():
        path = line.split()[0]
        parent = path if not line.startswith(" ") else parent
        found = parent + path if line.startswith(" ") else path
        named.add(found.rstrip("/"))
        assert (ROOT / found).exists(), found
    for package in ("saga_core", "saga_server"):
        rooms = {path.name for path in (ROOT / package).iterdir() if path.is_dir() and not path.name.startswith("_")}
        assert rooms <= {name.partition("/")[2] for name in named if name.startswith(package)}


def test_no_page_promises_what_is_to_come() -> None:
    from tests.docs.pages import pages

    for found in pages():
        assert (
            re.search(r"\b(roadmap|coming soon|planned|TODO|will be supported|로드맵|예정)\b", found.prose) is None
        ), found
