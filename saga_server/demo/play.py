"""Plays an adventure through the real proxy, and checks the results."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
from attrs import define, field

from saga_server.demo.adventure import Adventure, AdventureStep
from saga_server.demo.differences import changes, inventory, unmet, unsaid
from saga_server.demo.frontend import Admin, DemoMessage, Frontend, ServerReply
from saga_server.demo.screen import Screen
from saga_server.demo.server_process import ServerProcess

_QUOTE = re.compile(r'"([^"]+)"')
_DRAIN_SECONDS = "30"


@define
class Totals:
    """The totals of a played adventure."""

    swipes: int = 0
    branches: int = 0
    kills: int = 0
    tokens: int = 0
    reads: list[float] = field(factory=list)
    told: list[str] = field(factory=list)
    """The ids of all turns whose reply reached the frontend."""
    lost: list[str] = field(factory=list)
    """The ids among ``told`` that SAGA does not have at the end."""


@define
class DemoPlay:
    """One adventure on one server."""

    adventure: Adventure
    server: ServerProcess
    screen: Screen
    frontend: Frontend
    admin: Admin
    kept: bool = False
    """Whether the data is kept afterwards."""
    totals: Totals = field(factory=Totals)
    problems: list[str] = field(factory=list)
    _session: str = ""
    _main: list[DemoMessage] | None = None
    """The main path, while the story is on a branch."""
    _depths: dict[int, int] = field(factory=dict)
    """How many turns were on the screen after each step."""
    _replies: dict[int, str] = field(factory=dict)
    _context: dict[str, Any] | None = None
    """What SAGA put into the last prompt."""

    async def run(self) -> bool:
        """Play all steps. Returns whether everything was as expected."""
        await self._stores()
        for step in self.adventure.steps:
            found = await self._turn(step)
            self.screen.verdict(found)
            self.problems += [f"step {step.number}: {problem}" for problem in found]
        await self._end()
        return not self.problems

    async def _stores(self) -> None:
        """Show the stores in use. The demo fails if a requested engine is missing."""
        status = await self.admin.ask("GET", "status")
        found = ", ".join(
            f"{kind} {each['backend']} {each['version']}".strip() for kind, each in status["stores"].items()
        )
        self.screen.say(f"{self.screen.words['stores']}: {found}")
        self.problems += [f"{name}: {reason}" for name, reason in status["degraded"].items()]

    async def _turn(self, step: AdventureStep) -> list[str]:
        path = self.frontend.path
        if step.action == "branch":
            assert step.at is not None
            self._main = list(path)
            self.frontend.path = path = path[: self._depths[step.at]]
        elif step.action == "return":
            assert self._main is not None
            self.frontend.path, self._main = self._main, None
            path = self.frontend.path
        if step.action == "swipe":
            old = path[-1]
            self.screen.ask(step, len(path), old.words)
            answer = await self.frontend.swipe(stream=step.stream)
            found = await self._judge_swipe(old, answer)
        else:
            self.screen.ask(step, len(path) + 1, step.words)
            answer = await self.frontend.send(step.words, stream=step.stream)
            found = []
        self._note(step, answer)
        self.screen.reply(answer)
        if step.action == "kill":
            found = await self._kill()
        return found + await self._judge(step, answer)

    def _note(self, step: AdventureStep, answer: ServerReply) -> None:
        self._session = answer.session
        self._depths[step.number] = len(self.frontend.path)
        self._replies[step.number] = answer.said.reply
        self.totals.told.append(answer.said.turn)
        self.totals.reads.append(answer.context_ms)
        self.totals.swipes += step.action == "swipe"
        self.totals.branches += step.action == "branch"
        self.totals.kills += step.action == "kill"

    async def _judge(self, step: AdventureStep, answer: ServerReply) -> list[str]:
        before, after = await self._state(answer.parent), await self._state(answer.said.turn)
        self._context = None
        if step.action != "kill":  # the restarted server no longer has the context
            self._context = await self._context_of(answer)
            self.totals.tokens += self._context["tokens"]
            self.screen.context(self._context, answer, recall=step.expected.repeats is not None)
        self.screen.changes(changes(before, after, self.screen.words))
        quotes = _QUOTE.findall(self._replies.get(step.expected.repeats or 0, ""))
        quoted = quotes[-1] if quotes else ""
        found = unmet(step.expected, after) + unsaid(step.expected, answer.said.reply, quoted=quoted)
        if step.expected.repeats and not quoted:
            found.append(f"step {step.expected.repeats} held nothing to repeat")
        if "```" in answer.said.reply:
            found.append("reply: a state block reached the player")
        if self._main is None and self.adventure.nowhere in inventory(after):
            found.append(f"{self.adventure.nowhere} of the branch is on the main path")
        return found

    async def _judge_swipe(self, old: DemoMessage, answer: ServerReply) -> list[str]:
        """Check that both replies are different outcomes of one turn, and that both got the same context."""
        first, second = await self._state(old.turn), await self._state(answer.said.turn)
        found = []
        if first["hp"] == second["hp"] or first["turn"] != second["turn"]:
            found.append("the two replies of the swipe are not two outcomes of the same turn")
        context = await self._context_of(answer)
        before = self._context
        whole = before is not None and not before["late"] and not context["late"]
        if before is not None and whole and context["text"] != before["text"]:
            found.append("the swipe was told something else than the first reply")
        return found

    async def _kill(self) -> list[str]:
        """Kill the server before its background work is done, restart it, and check that no turn is missing."""
        await self.server.kill()
        await self.server.start()
        missing = await self._missing()
        if not missing:
            self.screen.say(f"{self.screen.words['survived']}: {self.server.base}/v1")
        return [f"turn {turn} is lost" for turn in missing]

    async def _missing(self) -> list[str]:
        tree = await self.admin.ask("GET", f"sessions/{self._session}/tree")
        known = {node["id"] for node in tree["nodes"]}
        return [turn for turn in self.totals.told if turn not in known]

    async def _state(self, turn: str) -> dict[str, Any]:
        found: dict[str, Any] = await self.admin.ask("GET", f"sessions/{self._session}/state", turn=turn)
        return found

    async def _context_of(self, answer: ServerReply) -> dict[str, Any]:
        found: dict[str, Any] = await self.admin.ask("GET", f"sessions/{answer.session}/context", turn=answer.said.turn)
        return found

    async def _end(self) -> None:
        screen, words = self.screen, self.screen.words
        drained = await self.admin.ask("POST", "drain", timeout=_DRAIN_SECONDS)
        if not drained["settled"]:
            self.problems.append(f"background work is not done: {drained['waiting']}")
        state = await self.admin.ask("GET", f"sessions/{self._session}/state")
        screen.headline(words["final"])
        screen.final(state)
        self.problems += [f"{words['final']}: {problem}" for problem in unmet(self.adventure.final, state)]
        self.problems += [f"{words['final']}: {each['text']}" for each in state["problems"]]
        if state["turn_id"] != self.frontend.path[-1].turn:
            self.problems.append("the active head is not the last turn played")
        graph = await self.admin.ask("GET", f"sessions/{self._session}/graph")
        screen.headline(words["graph"])
        screen.graph(graph["words"], self.adventure.player, state["npcs_met"])
        screen.headline(words["pages"])
        await self._pages(state["turn_id"])
        self.totals.lost = await self._missing()
        self.problems += [f"turn {turn} is lost" for turn in self.totals.lost]
        screen.headline(words["totals"])
        self._totals()
        for problem in self.problems:
            screen.say(f"{words['failure']}: {problem}", "bold red", "  ✗ ")
        if not self.problems:
            screen.say(words["success"], "bold green", "  ✓ ")

    async def _pages(self, head: str) -> None:
        cache = await self.admin.ask("GET", f"sessions/{self._session}/cache")
        if not cache["written"] or cache["turn_id"] != head:
            self.problems.append(f"the pages show turn {cache['turn_id']}, not {head}")
        if cache["folder"]:
            self.screen.say(f"{cache['folder']}{'' if self.kept else self.screen.words['removed']}", "")
            missing = [name for name in cache["files"] if not (Path(cache["folder"]) / name).is_file()]
            self.problems += [f"there is no {name} in {cache['folder']}" for name in missing]
        self.screen.say(str(cache["files"].get("state.md", "")).split("---", 2)[-1].strip())

    def _totals(self) -> None:
        words, totals = self.screen.words, self.totals
        self.screen.totals(
            (
                (words["turns"], len(self.frontend.path)),
                (words["swipes"], totals.swipes),
                (words["branches"], totals.branches),
                (words["kills"], totals.kills),
                (words["context"], totals.tokens),
                (words["median"], f"{median(totals.reads):.1f} ms"),
                (words["lost"], len(totals.lost)),
            )
        )


async def play(adventure: Adventure, server: ServerProcess, screen: Screen, *, kept: bool = False) -> bool:
    """Start the server, play, and always stop the server. Returns whether everything was as expected."""
    screen.headline(f"SAGA · {adventure.title}")
    screen.say(f"{screen.words['starting']} ({server.profile}) …")
    try:
        await server.start()
        screen.say(f"{screen.words['ready']}: {server.base}/v1")
        screen.console.print()
        screen.say(adventure.greeting, "")
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as http:
            frontend, admin = Frontend(adventure, http, f"{server.base}/v1"), Admin(http, server.base)
            return await DemoPlay(adventure, server, screen, frontend, admin, kept).run()
    finally:
        await server.stop()
