"""The audit compares what follows from turns with them, and mends what can be made anew."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core import codec
from saga_core.journal import Journal, keys
from saga_core.maintenance.verify import JournalAudit, mend
from saga_core.model import Delta, ReportStatus, Source, Tree, TurnKind, WorldState
from saga_core.model.deltas import HpChanged
from saga_core.sessions import LiveSession, amend
from saga_core.stores import Batch, Key
from saga_core.transcript import identity_key
from tests.core.sessions.stage import Stage, tell

LONG = "바람이 불어와 등불이 크게 흔들리고 누군가 문을 세게 두드린다."


@pytest.fixture
def stage() -> Stage:
    return Stage(checkpoint_every=2)


@pytest.fixture
async def live(stage: Stage) -> LiveSession:
    found = await stage.begin("모험", "mina")
    player = found.prepared.opening.player
    for number in range(1, 5):
        await tell(found, f"t{number}", HpChanged(player, -number), reply=f"{number}. {LONG}")
    await amend(found, found.tree.root, Delta((HpChanged(player, -7),), Source.EDIT, ReportStatus.OK), "0")
    await stage.journal.finish_jobs(found.session.id, [found.tree.root])
    await amend(found, "t1", Delta((HpChanged(player, -50),), Source.EDIT, ReportStatus.OK), "0")
    for turn in ("t2", "t4"):
        await stage.journal.put_checkpoint(found.session.id, await found.state(turn))
    await stage.journal.finish_jobs(found.session.id, ["t1", "t2", "t3", "t4"])
    return found


async def audited(stage: Stage, live: LiveSession) -> list[str]:
    session = await stage.journal.session(live.session.id)
    audit = JournalAudit(stage.journal, session)
    found = await audit.run()
    await mend(found)
    return [each.what for each in found]


async def change(stage: Stage, puts: dict[Key, bytes] | None = None, *gone: Key) -> None:
    await stage.journal.kv.commit(Batch(puts or {}, frozenset(gone)))


async def test_a_whole_session_has_no_findings(stage: Stage, live: LiveSession) -> None:
    assert await audited(stage, live) == []


async def test_entries_by_which_replies_are_found_are_written_anew(stage: Stage, live: LiveSession) -> None:
    key = identity_key(f"2. {LONG}")
    await change(stage, {keys.said("mina", "w", "t3"): b'"another"'}, keys.reply("mina", key, "t2"))
    assert await audited(stage, live) == ["2 entries by which its replies are found are gone"]
    assert await audited(stage, live) == []
    assert await stage.journal.replies("mina", key) == [(live.session.id, "t2")]


async def test_a_name_that_leads_nowhere_is_written_anew_and_one_that_leads_elsewhere_is_lost(
    stage: Stage, live: LiveSession
) -> None:
    await change(stage, None, keys.label("mina", "모험"))
    assert await audited(stage, live) == ["its name '모험' does not lead to it"]
    assert await stage.journal.labelled("mina", "모험") == live.session.id
    await change(stage, {keys.label("mina", "모험"): b'"s9"'})
    (found,) = await audited(stage, live)
    assert found.startswith("its name '모험' leads to session s9; restore a backup")


@pytest.mark.parametrize("raw", [codec.encode(WorldState(turn="t2")), b"{"])
async def test_states_that_are_not_the_fold_are_taken_away(stage: Stage, live: LiveSession, raw: bytes) -> None:
    await change(stage, {keys.checkpoint(live.session.id, "t2"): raw, keys.checkpoint(live.session.id, "t9"): raw})
    assert await audited(stage, live) == ["2 stored states are not the fold of their turns"]
    assert [key[2] for key, _ in await stage.journal.kv.scan(("state",))] == ["t4"]
    assert await audited(stage, live) == []


async def test_work_of_turns_that_are_gone_is_crossed_off(stage: Stage, live: LiveSession) -> None:
    await stage.journal.add_jobs(live.session.id, ["t3", "t9"])
    assert await audited(stage, live) == ["1 jobs are of turns that are gone"]
    assert [turn for _, turn, _ in await stage.journal.jobs()] == ["t3"]


async def test_what_the_journal_lost_is_told_with_the_remedy(stage: Stage, live: LiveSession) -> None:
    session = live.session
    for raw, what in (
        (evolve(session, head="t9"), "its head t9 is no turn of it"),
        (evolve(session, root="t9", head="t4"), "its root t9 is gone"),
    ):
        await stage.journal.put_session(raw)
        assert [found.partition(";")[0] for found in await audited(stage, live)] == [what]
    await stage.journal.put_session(session)
    await change(stage, None, keys.turn(session.id, "t4"))
    told = await audited(stage, live)
    assert any(found.startswith("1 turns are gone, only their places are left: t4; restore a backup") for found in told)


async def test_a_last_turn_without_its_place_is_told(stage: Stage, live: LiveSession) -> None:
    """One with turns below it makes the tree unreadable; nothing hangs on the last one."""
    await stage.journal.put_session(evolve(live.session, head="t3"))
    await change(stage, None, keys.node(live.session.id, "t4"), keys.checkpoint(live.session.id, "t4"))
    told = await audited(stage, live)
    assert [found.partition(";")[0] for found in told] == ["the places of 1 turns are gone: t4"]


async def test_turns_and_places_that_disagree_are_told(stage: Stage, live: LiveSession) -> None:
    session = live.session.id
    deep = evolve(live.tree.get("t4"), depth=9)
    await change(stage, {keys.node(session, "t4"): codec.encode(deep)})
    told = await audited(stage, live)
    assert any(found.startswith("the depth of 1 turns is not that of their place: t4") for found in told)
    await change(stage, {keys.node(session, "t4"): codec.encode(evolve(live.tree.get("t4"), kind=TurnKind.ADOPTED))})
    told = await audited(stage, live)
    assert any(found.startswith("1 turns do not agree with their places: t4") for found in told)


async def test_a_session_that_cannot_be_read_is_told(stage: Stage, live: LiveSession) -> None:
    await change(stage, None, *(keys.node(live.session.id, turn) for turn in live.tree.nodes))
    (found,) = await audited(stage, live)
    assert found.startswith("it cannot be read: ")


async def test_what_is_recorded_meanwhile_is_no_finding(
    stage: Stage, live: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Journal.tree

    async def later(journal: Journal, session: str) -> Tree:
        found = await tree(journal, session)
        await tell(live, "t5", reply=f"5. {LONG}")
        return found

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Journal, "tree", later)
        assert await audited(stage, live) == []
    assert [turn for _, turn, _ in await stage.journal.jobs()] == ["t5"], "its work is left to be done"
