"""A folder that somebody wrote who knew the formats alone: all of it is taken in, and every place in it is found."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from saga_core import Saga
from saga_core.maintenance import ImportOptions
from tests.core.imports.strangers_folder import LANGUAGES, Folder


async def every_place_is_found(folder: Folder) -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        taken = await saga.maintenance.import_files(list(folder.files.items()), ImportOptions())
        assert taken.refused == ()
        kinds = [thing.kind for thing in taken.things]
        chats = sum(path.endswith(".jsonl") for path in folder.files)
        assert (kinds.count("card"), kinds.count("world_info"), kinds.count("group")) == (4, 4, 2)
        assert (kinds.count("personas"), kinds.count("sillytavern_chat")) == (4, chats)
        sessions = {PurePosixPath(thing.file).stem: thing.session for thing in taken.things if thing.session}
        # Of each character its chat with the branches and the chat from the other greeting; and the groups.
        assert len(set(sessions.values())) == 2 * len(LANGUAGES) + 2
        worlds = {thing.file: thing.world for thing in taken.things if thing.kind == "sillytavern_chat"}
        for language in LANGUAGES.values():
            own = {world for file, world in worlds.items() if f"/chats/{language['char']}/" in f"/{file}"}
            assert own == {language["char"]}, "a chat is played in the world of its character's card"
        labels = {thing.label for thing in taken.things if "group chats" in thing.file}
        assert {label.partition(" - ")[0] for label in labels} == {"The three en", "The three ko"}
        for place in folder.places:
            session = sessions[place.file]
            assert session is not None
            before = len((await saga.parts.live.get(session)).tree.nodes)
            history = [{"role": role, "content": text} for role, text in place.history]
            said = [{"role": "system", "content": "Go on."}, *history, {"role": "user", "content": place.next}]
            pending = await saga.begin(said)
            live = await saga.parts.live.get(session)
            assert pending.session.id == session, place
            assert len(live.tree.nodes) == before, f"nothing of it is new: {place}"
            assert pending.parent.reply.endswith(place.history[-1][1].partition(": ")[2] or place.history[-1][1])
            path = [turn.reply for turn in await saga.parts.journal.turns(session, _ids(live, pending.parent.id))]
            rest = iter(path)
            for role, text in place.history[3 if place.what.startswith("group") else 1 :]:
                assert role == "user" or any(reply.endswith(text) for reply in rest), (
                    "the whole path is that of the chat"
                )


def _ids(live: object, end: str) -> list[str]:
    return [node.id for node in live.tree.path(end)]  # type: ignore[attr-defined]


async def test_every_place_in_a_strangers_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await every_place_is_found(Folder(24))


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(8))
async def test_every_place_in_a_strangers_long_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.chdir(tmp_path)
    await every_place_is_found(Folder(140, seed))
