"""Export and import: what comes back is what went out, ids and all, or everything but the ids."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from saga_core import Saga
from saga_core.errors import BadInput, NewerSchema, NotFound
from saga_core.maintenance.importing import ImportOptions
from saga_core.maintenance.transfer import read_file
from saga_core.model.tree import Session
from tests.core.frontend import MEMORY, Frontend, memory_config

WORDS = st.sampled_from(
    ("숲으로 간다.", "크룩에게 묻는다. “누구냐?”", "I look around.", "나는 *천천히* 걷는다.", "Wait,\nwhat is that?")
)
REPLIES = st.sampled_from(
    (
        "길이 열린다. 바람이 분다.",
        "고블린왕 크룩이 웃는다. “어서 와라, 아리아.”",
        "The old mill is dark. It smells of rope.",
        "아무 일도 없다.\n\n그저 조용하다. 한참이나.",
    )
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("say", "say", "swipe", "back", "fork", "amend")),
        WORDS,
        REPLIES,
        st.sampled_from(({}, {"hp_change": -10}, {"location": "어둠의 숲"}, {"mood": "tense"}, {"notes": "rope"})),
    ),
    min_size=1,
    max_size=8,
)


async def play(saga: Saga, steps: list[tuple[str, str, str, dict[str, Any]]]) -> Session:
    """A session with swipes, branches, named timelines and corrections."""
    chat = Frontend(saga, session="나의 모험", owner="k1")
    turn = await chat.say("시작한다.", "여기서 시작된다. 아침이다.")
    for number, (step, words, reply, fields) in enumerate(steps):
        told = f"{reply} {number}"
        if step == "swipe":
            await chat.swipe(told, **fields)
        elif step == "back" and len(chat.history) > 2:
            del chat.history[-2:]
        elif step == "fork":
            await saga.timelines.fork(turn.session.id, None, f"갈래 {number}")
        elif step == "amend":
            await saga.memory.correct(turn.session.id, "note", {"text": f"비가 온다 {number}"})
        else:
            await chat.say(f"{number}. {words}", told, **fields)
    await saga.drain(20)
    return await saga.sessions.get(turn.session.id)


async def exported(saga: Saga, session: str) -> bytes:
    return b"".join([line async for line in saga.maintenance.export_session(session)])


def without_time(raw: bytes) -> list[Any]:
    """The lines, without when it was exported and the digest of that."""
    lines = [json.loads(line) for line in raw.splitlines()]
    del lines[0]["exported"], lines[-1]["sha256"]
    return lines


async def known(saga: Saga, session: str) -> dict[str, Any]:
    """What is known at every turn, by its place in the order of turns."""
    tree = await saga.parts.journal.tree(session)
    found: dict[str, Any] = {}
    order = sorted(tree.nodes)
    for number, turn in enumerate(order):
        told = json.dumps(await saga.describe(session, turn), ensure_ascii=False)
        for other, each in enumerate(order):
            told = told.replace(each, f"turn {other}")
        found[str(number)] = {key: value for key, value in json.loads(told).items() if key != "session"}
    return found


@settings(max_examples=settings().max_examples // 8, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(STEPS)
async def test_round_trip(steps: list[tuple[str, str, str, dict[str, Any]]]) -> None:
    async with Saga.open(memory_config()) as one, Saga.open(memory_config()) as other:
        session = await play(one, steps)
        raw = await exported(one, session.id)
        assert await other.maintenance.import_session(read_file(raw)) == session
        await other.drain(20)
        assert without_time(await exported(other, session.id)) == without_time(raw)
        assert await known(other, session.id) == await known(one, session.id)
        assert (await other.maintenance.verify()).findings == ()
        again = await other.maintenance.import_session(read_file(raw))
        await other.drain(20)
        assert again.id != session.id and (again.label, again.owner) == ("나의 모험 (2)", "k1")
        assert await known(other, again.id) == await known(one, session.id)
        assert (await other.maintenance.verify()).findings == ()
        ids = set(re.findall(r"\b[ts]0[0-9a-z]{19}\b", raw.decode()))
        left = set(re.findall(r"\b[ts]0[0-9a-z]{19}\b", (await exported(other, again.id)).decode()))
        assert ids.isdisjoint(left), "no id of the original is left in the second"
        assert len(await other.sessions.list()) == 2


async def test_an_imported_chat_is_found_by_its_history() -> None:
    async with Saga.open(memory_config()) as one, Saga.open(memory_config()) as other:
        chat = Frontend(one)
        turn = await chat.say("숲으로 간다.", "길이 열린다. 바람이 분다.", hp_change=-10)
        await other.maintenance.import_session(read_file(await exported(one, turn.session.id)))
        chat.saga = other
        begun = await chat.begin("더 간다.")
        assert (begun.session.id, begun.parent.id) == (turn.session.id, turn.id)


async def test_a_copy_of_a_story_without_a_name_has_one_and_the_import_says_that_it_is_a_copy() -> None:
    async with Saga.open(memory_config()) as saga:
        turn = await Frontend(saga).say("시작한다.", "여기서 시작된다. 아침이다.")
        raw = b"".join([part async for part in saga.maintenance.export_session(turn.session.id)])
        title = (await saga.sessions.get(turn.session.id)).title
        for number in (2, 3):
            for dry_run in (True, False):
                found = await saga.maintenance.import_files([("x.jsonl", raw)], ImportOptions(dry_run=dry_run))
                (thing,) = found.things
                assert "the story is here already" in thing.losses[0].why
                assert thing.title == (title if dry_run else f"{title} ({number})")


async def test_what_a_file_remembers_is_told_in_its_own_session_alone() -> None:
    config = {**MEMORY, "memory_strategies": {"preferences": {}}}
    async with Saga.open(config) as saga:
        session = await play(saga, [])
        for space in ("/preferences/{actor}", "/mine/{actor}/{session}"):
            await saga.memory.correct(session.id, "remember", {"text": f"PLANT {space[1:5]}", "namespace": space})
        raw = await exported(saga, session.id)
    async with Saga.open(config) as saga:
        how = ImportOptions(owner="k2", owner_named=True)
        (thing,) = (await saga.maintenance.import_files([("x.jsonl", raw)], how)).things
        assert [(each.field, each.verdict, each.count) for each in thing.losses] == [("namespace", "mapped", 1)]
        other = Frontend(saga, session="other", owner="k2")
        turn = await other.say("I wait.", "Nothing comes.")
        await saga.drain(10)
        assert (await saga.memory.records(turn.session.id))["memories"] == []
        assert thing.session is not None
        own = (await saga.memory.records(thing.session))["memories"]
        assert {each["text"] for each in own} == {"PLANT pref", "PLANT mine"}
        assert all(each["told"] and each["namespace"].endswith(thing.session) for each in own)


async def test_a_session_with_the_longest_id_is_whole() -> None:
    """Its replies are found by entries that hold the id: they lead to a session, and nothing takes them away."""
    longest = "s" + "7" * 63
    async with Saga.open(memory_config()) as one, Saga.open(memory_config()) as other:
        turn = await Frontend(one).say("숲으로 간다.", "길이 열린다. 바람이 분다.", hp_change=-10)
        raw = (await exported(one, turn.session.id)).replace(turn.session.id.encode(), longest.encode())
        session = await other.maintenance.import_session(read_file(raw, edited=True))
        await other.drain(20)
        assert session.id == longest
        assert (await other.maintenance.verify()).findings == ()


class TestRefused:
    @pytest.fixture
    async def raw(self) -> bytes:
        async with Saga.open(memory_config()) as saga:
            session = await play(saga, [("say", "간다.", "길이 열린다.", {})])
            return await exported(saga, session.id)

    async def test_no_such_session(self) -> None:
        async with Saga.open(memory_config()) as saga:
            with pytest.raises(NotFound):
                await exported(saga, "nobody")

    @pytest.mark.parametrize("keep", [0, 1, 40, 2_000])
    def test_cut_off(self, raw: bytes, keep: int) -> None:
        with pytest.raises(BadInput, match=r"line|not what was exported"):
            read_file(raw[:keep])

    def test_without_its_last_line(self, raw: bytes) -> None:
        with pytest.raises(BadInput, match="cut off"):
            read_file(b"\n".join(raw.splitlines()[:-1]) + b"\n")

    def test_changed_without_a_word(self, raw: bytes) -> None:
        changed = raw.replace("길이 열린다".encode(), "길이 닫힌다".encode())
        with pytest.raises(BadInput, match="was changed"):
            read_file(changed)
        assert "길이 닫힌다" in read_file(changed, edited=True).turns[-1][0].reply

    @pytest.mark.parametrize(
        ("was", "is_now", "told"),
        [
            (b'"version":1', b'"version":2', "newer than this SAGA"),
            (b'"journal":1', b'"journal":99', "newer than this SAGA"),
        ],
    )
    def test_newer(self, raw: bytes, was: bytes, is_now: bytes, told: str) -> None:
        with pytest.raises(NewerSchema, match=told):
            read_file(raw.replace(was, is_now, 1), edited=True)

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (lambda lines: [lines[0], *lines[2:]], "the file has no session"),
            (lambda lines: [*lines[:2], *lines[3:]], "the file has no world"),
            (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], "line 4: .*comes before its parent"),
            (lambda lines: [*lines[:4], lines[3], *lines[4:]], "line 5: .*there twice"),
            (lambda lines: [*lines[:-2], lines[-1]], "head: '.*' is no turn in the file"),
            (lambda lines: [*lines[:3], '{"moon": 1}', *lines[3:]], "line 4: .*moon.* is nothing"),
            (lambda lines: [*lines[:3], '{"beside": ["state", "t1"]}', *lines[3:]], "line 4: beside: 'state'"),
            (lambda lines: [*lines[:3], '{"timeline": {"name": 3}}', *lines[3:]], "line 4: is no timeline"),
            (lambda lines: [*lines[:3], "not json", *lines[3:]], "line 4: is no JSON"),
            (lambda lines: [*lines[:3], "[1]", *lines[3:]], "line 4: is no JSON object"),
        ],
    )
    def test_what_does_not_fit_together(self, raw: bytes, change: Any, told: str) -> None:
        lines = [line for line in raw.decode().splitlines() if not line.startswith('{"opening"')]
        with pytest.raises(BadInput, match=told):
            read_file("\n".join(change(lines)).encode() + b"\n", edited=True)
