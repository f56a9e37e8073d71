"""A curator with its memory on a Letta server. There is one agent per session, which edits its own memory blocks.

The journal remains the source of truth. Before a review, the agent knows nothing of earlier reviews except its blocks.
SAGA writes these as they are on the branch under review, so they contain nothing from other branches. The agent makes
proposals through the tools of ``blocks``, which run here. Proposals are validated and journaled as for every curator.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from saga_backends.curator.letta_server import AgentReply, LettaServer, connect
from saga_backends.curator.lifecycle import CuratorLifecycle
from saga_backends.curator.model_options import take_options
from saga_core.capabilities import Capability
from saga_core.curation import MOST_CALLS, Desk, ToolCall, agent_prompt, agent_retry, read_calls, tool_definitions
from saga_core.errors import BadInput, StoreUnavailable, UpstreamError
from saga_core.model_calls import ModelCallFailed, PaidFor, Unusable
from saga_core.registry import Backend, OpenOptions, remedy
from saga_core.stores import CurationView, Health
from saga_core.values import Proposal

_HERE = "http://127.0.0.1:8283"
_CHECK = 5.0
_UNUSABLE = 2
_MANY = (False, f"not done: only the first {MOST_CALLS} calls of a step are")


class LettaCurator(CuratorLifecycle):
    """Makes at most ``steps`` calls to the agent per review, each within the server's ``timeout``."""

    def __init__(
        self,
        server: LettaServer,
        blocks: tuple[str, ...],
        steps: int,
        count: Callable[[str], int],
        before_call: Callable[[], Awaitable[None]],
        report: Callable[[str, int], None],
        paid: PaidFor,
    ) -> None:
        super().__init__("letta", frozenset({Capability.REMEMBERS}))
        self._server = server
        self._blocks = blocks
        self._steps = steps
        self._count = count
        self._before_call = before_call
        self._report = report
        self._paid = paid
        self._tools = tool_definitions()
        self._agents = asyncio.Lock()

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """Return the proposals of all steps. If a step fails, the proposals of earlier steps are kept.

        If there are none, raises ``ModelCallFailed`` or ``UpstreamError``, because the server is unreachable or too
        slow, or because its agent says nothing usable.
        """
        self._alive()
        if not view.turns:
            return ()
        desk = Desk(view, self._blocks)
        system, question = agent_prompt(view, self._count)
        await self._before_call()
        async with self._agents:
            agent = await self._server.prepare(view.session, system, desk.blocks)
        given = dict(desk.blocks)
        try:
            await self._work(agent, desk, question)
            await self._remember(view.session, agent, desk, given)
        except (UpstreamError, ModelCallFailed):
            if not desk.result():
                raise
            self._report("curation.cut", 1)
        return desk.result()

    async def _work(self, agent: str, desk: Desk, question: str) -> None:
        reply = await self._counted(desk.view, self._server.say(agent, question, self._tools, self._steps))
        taken, unusable = False, 0
        for step in range(self._steps):
            if reply.calls:
                taken = True
                returns = self._returns(desk, reply)
                if desk.finished:
                    return
                following = self._server.answer(agent, returns, self._tools, self._steps)
            else:
                try:
                    calls = read_calls(reply.text, ())
                except Unusable as problem:
                    if taken:
                        return  # the agent has used the tools, and ends with a text
                    unusable += 1
                    if unusable >= _UNUSABLE:
                        raise ModelCallFailed(f"the Letta agent calls no tool: {problem}") from None
                    said = agent_retry(desk.view, str(problem))
                else:
                    said = "\n".join(desk.take(call) for call in calls[:MOST_CALLS])
                    if desk.finished:
                        return
                following = self._server.say(agent, said, self._tools, self._steps)
            if step + 1 == self._steps:
                following.close()
                break
            await self._before_call()
            reply = await self._counted(desk.view, following)
        self._report("curation.endless", 1)

    async def _counted(self, view: CurationView, call: Awaitable[AgentReply]) -> AgentReply:
        self._report("curation.calls", 1)
        reply = await call
        self._report("curation.steps", 1)
        if reply.bill is not None:
            self._report("curation.tokens.input", reply.bill.usage.input)
            self._report("curation.tokens.output", reply.bill.usage.output)
            await self._paid(reply.bill, view.session, view.state.turn)
        return reply

    @staticmethod
    def _returns(desk: Desk, reply: AgentReply) -> dict[str, tuple[bool, str]]:
        """Return the result of each call. Every call must be answered, or the agent waits forever."""
        returns: dict[str, tuple[bool, str]] = {}
        for at, (id_, tool, arguments) in enumerate(reply.calls):
            (call,) = read_calls("", [{"function": {"name": tool, "arguments": arguments}}])
            if at >= MOST_CALLS:
                returns[id_] = _MANY
                continue
            words = desk.take(call)
            returns[id_] = (": error: " not in words, words)
        return returns

    async def _remember(self, session: str, agent: str, desk: Desk, given: dict[str, str]) -> None:
        """Take over what the agent wrote to its blocks with the server's own tools, then write all blocks back."""
        for label, text in (await self._server.read(agent)).items():
            if label in given and text != given[label] and desk.blocks[label] == given[label]:
                desk.take(ToolCall("memory_replace", {"block": label, "text": text}))
        await self._server.write(session, agent, desk.blocks)

    async def forget(self, session: str) -> None:
        """Remove the session's agent and its blocks. Raises ``UpstreamError``, ``ModelCallFailed``."""
        self._alive()
        async with self._agents:
            await self._server.remove(session)

    async def check(self, *, thorough: bool = False) -> Health:
        """Check that the server is reachable, and report its version."""
        self._alive()
        try:
            version = await self._server.version(min(_CHECK, self._server.timeout))
        except (UpstreamError, ModelCallFailed) as error:
            return Health(False, str(error))
        return Health(True, f"Letta {version} at {self._server.url}, agents think with {self._server.model}")

    async def aclose(self) -> None:
        """Close the connections. Further calls have no effect."""
        if not self._closed:
            await super().aclose()
            await self._server.aclose()


async def _open(options: OpenOptions) -> LettaCurator:
    found = take_options(options, base_url=_HERE, api_key=None, embedding=None)
    for name in ("api_key", "embedding"):
        if found[name] is not None and not (isinstance(found[name], str) and found[name]):
            raise BadInput(f"options.{name}: give a text, or leave it out")
    if not found["model"]:
        raise BadInput("options.model: missing; give the model's handle on the Letta server, as openai/gpt-5-mini")
    if not 0 < found["timeout"] <= 3_600:
        raise BadInput(f"options.timeout: {found['timeout']} is not allowed; give seconds, at most 3600")
    url = _address(found["base_url"])
    try:
        server = await connect(url, found["api_key"], found["model"], found["embedding"], float(found["timeout"]))
    except ImportError as error:
        raise StoreUnavailable(f"letta-client is not installed ({error}); {remedy('letta')}") from error
    names = ("blocks", "steps", "count", "before_call", "report", "paid")
    return LettaCurator(server, *(found[name] for name in names))


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not url.isprintable() or " " in url:
        shown = "(hidden)" if "@" in url else repr(url)
        raise BadInput(f"options.base_url: {shown} is no address; give one such as {_HERE}")
    if "@" in parts.netloc:
        raise BadInput("options.base_url: it contains a password; give that as options.api_key")
    return url.rstrip("/").removesuffix("/v1")


BACKEND = Backend(
    "curator", "letta", _open, "an agent of a Letta server that remembers its reviews in its memory blocks", "letta"
)
