"""What commit 18d39bea left behind: a data folder with its settings, an export of a session, and what it said of them.

``python -m tests.compat.played`` recorded it, over HTTP as a user's frontend and pages would. It is never recorded
again: it is what old data is. Only the prompt of the next turn may be accepted anew, where a change means to change
it: ``python -m tests.compat.played accept``.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, web
from attrs import define, field

from saga_core.config import load_config
from saga_server.server import Server
from tests.server.upstream import Received, Upstream, says

RECORDED = Path(__file__).parent / "recorded"
FOLDER, KNOWN, EXPORT, PROMPTS = (
    RECORDED / name for name in ("folder.tar.gz", "known.json.gz", "export.saga", "next_prompts.json")
)
OWNER = "key-of-the-owner"
ENVIRONMENT = {"COMPAT_OWNER": OWNER, "COMPAT_KEY": "key-of-the-provider"}
NEXT = {"en": "I ask Ada where the ledger is, and look at the rope.", "ko": "에르겐에게 은빛 성채의 소식을 묻는다."}

SETTINGS = """\
server:
  port: 0
  api_keys: ["${COMPAT_OWNER}"]
  audit_days: 36500
models:
  narration: up/narrator
  extraction: up/small
  curator: up/small
providers:
  up:
    base_url: ${COMPAT_UPSTREAM}
    api_key: ${COMPAT_KEY}
    dialect: any
storage:
  path: data
session:
  default_world: tidewatch
  checkpoint_every: 4
  collect_after_days: 0
curator:
  interval: 4
  backend: direct
  review: ask
memory_strategies:
  facts:
    every: 3
recall:
  deadline_ms: 60000
  extraction_wait_ms: 0
"""
WORLD = {
    "WORLD.md": """\
---
title: Tidewatch
language: en
greeting: "The lamp is out. Somebody left a wet coat on the stair."
start_events: [The lamp went out at midnight]
---

# Tidewatch

A cold story on a rock with one lighthouse. Nothing supernatural.
""",
    "CHARACTERS.md": """\
# People

## Ilse
- player: true
- hp: 90
- max_hp: 90
- location: Jetty
- aliases: the surveyor
- items: brass lantern (equipped), coin x3
- relations: Ada: correspondent +1

Knows the keeper from letters only.

## Ada
- hp: 40
- max_hp: 40
- location: Lamp room
- aliases: the keeper
- items: ledger
- relations: Wren: old friend +2

Keeps the light, and says little.

## Wren
- hp: 60
- max_hp: 60
- location: Jetty
- aliases: the pilot

Brings the boat, if the sea lets her.
""",
    "LOREBOOK.md": """\
# Places and things

## Lamp room
- type: location
- layer: A1

Glass on all sides, and the smell of oil.

## Jetty
- type: location
- layer: A2

Green planks. They are slippery.

## ledger
- type: item
- layer: A3
- tags: page, ships

Every ship of nine years, in Ada's hand. One page is missing.
""",
}


def state_block(**lines: str) -> str:
    """A report as the narrators of that commit wrote it."""
    return "\n\n```state\n" + "\n".join(f"{name}: {value}" for name, value in lines.items()) + "\n```"


ENGLISH = (
    ("I climb to the lamp room.", "Ada does not turn round. The glass is cold.",
     {"location": "Lamp room", "location_moved": "true", "npc_met": "[Ada]", "mood": "tense"}),
    ("I pick up the rope.", "It is heavier than it looks.", {"items_gained": "[rope x2]", "hp_change": "-3"}),
    ('"Who was here before me?"', "Ada closes the ledger. She says that Wren was.",
     {"relationship_changes": "[{from: Ilse, to: Ada, type: trusts, delta: -1}]", "notes": "A page is missing"}),
    ("I go down to the jetty.", "Wren is tying up the boat. The planks are slippery.",
     {"location": "Jetty", "location_moved": "true", "npc_met": "[Wren]", "npc_separated": "[Ada]", "hp_change": "-2"}),
    ("I give Wren a rope.", "She coils it without a word.",
     {"items_transferred": "[{item: rope, from: Ilse, to: Wren, quantity: 1}]", "mood": "calm"}),
    ("I wait for the tide.", "Nothing moves but the water. Wren has found a silver key.", None),
    ("I go back up with Wren.", "Ada is not there. The lamp burns again.",
     {"location": "Lamp room", "location_moved": "true", "event_trigger": "The lamp burns again", "hp_change": "4"}),
    ("I look for the missing page.", "It is under the lamp, half burnt.",
     {"items_gained": "[burnt page]", "notes": "The page names a ship: Marigold"}),
)  # fmt: skip
KOREAN = (
    ("숲으로 간다.", "바람이 분다. 길이 좁아진다.",
     {"location": "어둠의 숲", "location_moved": "true", "hp_change": "-4"}),
    ("“누구냐?”", "크룩이 나무 뒤에서 나온다. 낮게 웃는다.", {"npc_met": "[크룩]", "mood": "긴장"}),
    ("은화를 내민다.", "크룩이 은화를 받아 든다.", {"items_gained": "[낡은 지도]"}),
)  # fmt: skip


@define
class Scripted:
    """Narrates what it is given, and answers the small model's questions by what they ask for."""

    narration: str = ""
    prompts: list[dict[str, Any]] = field(factory=list)

    async def step(self, request: web.Request, received: Received) -> web.StreamResponse:
        if received.body["model"] == "narrator":
            self.prompts.append(received.body)
            return await says(self.narration)(request, received)
        return await says(self._small(received.text))(request, received)

    def _small(self, question: str) -> str:
        if "contradictions" in question:
            lore = {"entry": "Marigold", "text": "A ship that the ledger does not name.", "turns": [2]}
            return json.dumps({"story": [], "lore": [lore], "contradictions": []})
        if "records" in question:
            record = {"do": "add", "record": None, "kind": "fact", "text": "The keeper counts ships.", "turns": [1]}
            return json.dumps({"records": [record]})
        return state_block(npc_met="[Wren]", items_gained="[silver key]").strip()


@define
class Player:
    """Somebody with a key, a server, and chats."""

    http: ClientSession
    upstream: Scripted
    key: str = OWNER

    async def call(self, method: str, path: str, *, key: str = "", **given: Any) -> Any:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        async with self.http.request(method, path, headers=headers, **given) as response:
            answer = await response.read()
            assert response.status < 300, f"{method} {path}: {response.status} {answer.decode()}"
            return answer if response.content_type != "application/json" else json.loads(answer)

    async def status(self, path: str) -> int:
        async with self.http.get(path, headers={"Authorization": f"Bearer {self.key}"}) as response:
            return response.status

    async def settle(self) -> None:
        report = await self.call("POST", "/api/drain", key=OWNER)
        assert report["settled"], report

    async def say(
        self, chat: list[dict[str, str]], words: str, reply: str, fields: Mapping[str, str] | None, world: str
    ) -> tuple[str, str]:
        """One turn of a chat, which keeps it. Returns the session and the turn."""
        self.upstream.narration = reply + (state_block(**fields) if fields is not None else "")
        asked = [*chat, {"role": "user", "content": words}]
        headers = {"Authorization": f"Bearer {self.key}"}
        body = {"model": "any", "messages": asked}
        async with self.http.post(f"/w/{world}/v1/chat/completions", json=body, headers=headers) as response:
            answer = await response.json()
            assert response.status == 200, answer
            shown = answer["choices"][0]["message"]["content"]
            chat += [asked[-1], {"role": "assistant", "content": shown}]
            place = response.headers["X-SAGA-Session"], response.headers["X-SAGA-Turn"]
        await self.settle()
        return place


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Player]:
    """The server over ``folder``, as its settings say, and its owner."""
    scripted = Scripted()
    async with Upstream(otherwise=scripted.step, lenient=True, models=["narrator", "small"]) as upstream:
        environ = {**ENVIRONMENT, "COMPAT_UPSTREAM": upstream.url}
        config = load_config(folder / "saga.yaml", environ=environ)
        async with (
            Server(config, environ) as server,
            ClientSession(base_url=server.url, timeout=ClientTimeout(total=60)) as http,
        ):
            yield Player(http, scripted)


ASKED = ("", "/timelines", "/tree", "/runs", "/changes", "/memories", "/curation", "/entities", "/lines", "/lore",
         "/graph", "/bills", "/cost", "/standing", "/cache")  # fmt: skip


async def known(player: Player, session: str) -> dict[str, Any]:
    """Everything that the server says of a session: its views, and the state and the words of every turn."""
    found: dict[str, Any] = {part: await player.call("GET", f"/api/sessions/{session}{part}") for part in ASKED}
    del found["/cache"]["folder"]  # it names the place
    for part in ("nodes", "edges"):  # in no order
        found["/graph"][part].sort(key=lambda entry: json.dumps(entry, sort_keys=True))
    for timeline in found["/timelines"]["timelines"]:
        del timeline["live"]  # whether its views happen to be rendered
    turns = found["/tree"]["nodes"]
    found["turns"] = {
        turn["id"]: {
            "state": await player.call("GET", f"/api/sessions/{session}/state", params={"turn": turn["id"]}),
            "turn": await player.call("GET", f"/api/sessions/{session}/turns/{turn['id']}"),
        }
        for turn in turns
    }
    return found


def lost(before: Any, now: Any, path: str = "") -> list[str]:
    """Where ``now`` does not hold what ``before`` held. What came to it is no loss."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            loss
            for name, value in before.items()
            for loss in (lost(value, now[name], f"{path}/{name}") if name in now else [f"{path}/{name} is gone"])
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [loss for at, value in enumerate(before) for loss in lost(value, now[at], f"{path}/{at}")]
    if isinstance(before, list) and isinstance(now, list):
        kept = [value for value in before if not (path.endswith("/effect") and _stays(value))]
        return [f"{path}: {value!r} is gone" for value in kept if not any(lost(value, each) == [] for each in now)]
    return [] if before == now else [f"{path}: {before!r} before, {now!r} now"]


def _stays(line: Mapping[str, Any]) -> bool:
    """Whether a line of an effect said that somebody who left or died lost what they keep. No effect says so now."""
    return line.get("is") is None and (line.get("was") or {}).get("kind") in ("hp", "mood", "condition", "item")


def unpack(place: Path) -> dict[str, Any]:
    """Lay the recorded folder out in ``place``, and return what was known of it."""
    with tarfile.open(FOLDER) as packed:
        packed.extractall(place, filter="data")
    found: dict[str, Any] = json.loads(gzip.decompress(KNOWN.read_bytes()))
    return found


def with_a_block(folder: Path) -> None:
    """Ask the narrator for a state block, as that commit did of everybody.

    Since then a narrator on this machine, as the one here, is asked for the story alone if a model reads the replies.
    """
    with (folder / "saga.yaml").open("a", encoding="utf-8") as settings:
        settings.write("extraction:\n  reporting: block\n")


async def next_prompt(player: Player, about: Mapping[str, Any]) -> dict[str, Any]:
    """What the provider is sent for the next words of a chat. The turn is recorded, so ask last."""
    await player.say(
        list(about["chat"]), NEXT[about["language"]], "Nobody answers.", {"hp_change": "-1"}, about["world"]
    )
    return player.upstream.prompts[-1]


def lay_out(folder: Path) -> None:
    """The settings and the world, and no data."""
    (folder / "saga.yaml").write_text(SETTINGS, encoding="utf-8")
    world = folder / "worlds" / "tidewatch"
    world.mkdir(parents=True)
    for name, text in WORLD.items():
        (world / name).write_text(text, encoding="utf-8")


async def _play(folder: Path) -> dict[str, Any]:
    lay_out(folder)
    async with served(folder) as owner:
        keys = {}
        for name, body in {
            "mina": {"name": "Mina's laptop", "turns_a_minute": "600", "sessions": "5"},
            "guest": {"name": "Guest", "role": "chat"},
            "gone": {"name": "Gone"},
            "second": {"name": "Second", "role": "admin"},
        }.items():
            keys[name] = await owner.call("POST", "/api/keys", json=body)
        mina = Player(owner.http, owner.upstream, keys["mina"]["secret"])
        english = [{"role": "system", "content": "You narrate Tidewatch."},
                   {"role": "assistant", "content": "The lamp is out."}]  # fmt: skip
        for number, (words, reply, fields) in enumerate(ENGLISH):
            session, turn = await owner.say(english, words, reply, fields, "tidewatch")
            if number == 1:  # swiped away: the first reply never comes back
                del english[-2:]
                session, turn = await owner.say(
                    english, words, "It is wet.", {"items_gained": "[rope x3]", "hp_change": "-1"}, "tidewatch"
                )
            if number == 3:
                await owner.call("POST", f"/api/sessions/{session}/fork", json={"name": "the jetty", "turn": turn})
                away = [*english]
                await owner.say(away, "I push the boat off.", "The sea takes it.", {"hp_change": "-20"}, "tidewatch")
            if number == 4:
                for body in (
                    {"kind": "note", "text": "Ada lied about the page"},
                    {"kind": "hp", "hp": "77"},
                    {"kind": "relation", "from": "Wren", "to": "Ada", "type": "fears", "strength": "40"},
                    {"kind": "event", "name": "The bell rings", "text": "A ship is near.", "due": "40"},
                ):
                    await owner.call("POST", f"/api/sessions/{session}/changes", json=body)
        await _decide(owner, session)
        await owner.call("POST", f"/api/sessions/{session}", json={"label": "the lamp"})
        korean = [{"role": "system", "content": "너는 에르시아의 이야기꾼이다."}]
        for words, reply, fields in KOREAN:
            other, _ = await mina.say(korean, words, reply, fields, "ersia")
        await owner.call("DELETE", f"/api/keys/{keys['gone']['id']}")
        rotated = await owner.call("POST", f"/api/keys/{keys['second']['id']}/rotate", params={"grace": "0"})
        keys["old"], keys["second"] = keys["second"], rotated
        await owner.settle()
        return {
            "keys": {name: key["secret"] for name, key in keys.items()},
            "sessions": {
                session: {"chat": english, "language": "en", "world": "tidewatch", "key": "owner"},
                other: {"chat": korean, "language": "ko", "world": "ersia", "key": "mina"},
            },
        }


async def _decide(owner: Player, session: str) -> None:
    """A correction and its undoing, another name, and a rule for what waits."""
    await owner.call("POST", f"/api/sessions/{session}/changes", json={"kind": "mood", "mood": "wrong"})
    changes = (await owner.call("GET", f"/api/sessions/{session}/changes"))["changes"]
    await owner.call("DELETE", f"/api/sessions/{session}/changes/{changes[-1]['id']}")
    body = {"kind": "rename", "who": "burnt page", "name": "Marigold page"}
    await owner.call("POST", f"/api/sessions/{session}/changes", json=body)
    waiting, *_ = [change["id"] for change in changes if change["waiting"]]
    body = {"change": waiting, "verdict": "accept"}
    await owner.call("POST", f"/api/sessions/{session}/standing", json=body)


async def record() -> None:
    """Play, and keep the folder, the export and what is known."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found = await _play(folder)
        async with served(folder) as owner:  # what a start changes is changed
            await owner.settle()
            for session, about in found["sessions"].items():
                about["known"] = await known(owner, session)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for path in sorted(each for each in folder.rglob("*") if each.is_file()):  # noqa: ASYNC240 - nobody else runs
                tar.add(path, path.relative_to(folder).as_posix())
        FOLDER.write_bytes(packed.getvalue())
        text = json.dumps(found, ensure_ascii=False)
        KNOWN.write_bytes(gzip.compress(text.encode(), mtime=0))
        async with served(folder) as owner:
            first = next(iter(found["sessions"]))
            EXPORT.write_bytes(await owner.call("GET", f"/api/sessions/{first}/export"))


async def accept() -> None:
    """Keep the prompt of the next turn as it is now."""
    with tempfile.TemporaryDirectory() as place:
        found = unpack(Path(place))
        with_a_block(Path(place))
        prompts = {}
        async with served(Path(place)) as owner:
            for about in found["sessions"].values():
                player = Player(owner.http, owner.upstream, found["keys"].get(about["key"], OWNER))
                prompts[about["language"]] = await next_prompt(player, about)
    PROMPTS.write_text(json.dumps(prompts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["accept"]:
        asyncio.run(accept())
    elif FOLDER.exists():
        sys.exit(f"{FOLDER.name} is recorded, and stays as it is")
    else:
        asyncio.run(record())
        asyncio.run(accept())
