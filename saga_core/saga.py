"""``Saga``, the engine: ``begin`` a turn, narrate it and ``commit`` it. Its parts do everything else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field

from saga_core import registry
from saga_core.arguments import check_argument, check_awaited, checks_arguments
from saga_core.assembly import OpenArguments, Parts, assemble, assemble_ephemeral, in_memory
from saga_core.background import DrainReport
from saga_core.catalog import Memory, Sessions, Timelines
from saga_core.config import Config, load_config
from saga_core.context import ContextSource
from saga_core.counters import Counters
from saga_core.errors import BadInput, Closed, NotFound, StoreError
from saga_core.hosting import Hosting
from saga_core.jobs import Background
from saga_core.journal import OF_A_SESSION, pages
from saga_core.model import Session
from saga_core.play import PendingTurn, Play, Request
from saga_core.ports import ChatModel, Clock, Embedder, Entropy, SystemClock, SystemEntropy
from saga_core.sessions import EPHEMERAL, checked_kind
from saga_core.storage import Stores, checked_chat
from saga_core.stores import Curator, Store
from saga_core.stores.validate import check_object, check_store
from saga_core.trackers import Tracker, checked_profile
from saga_core.views import Views
from saga_core.world import WorldLibrary

if TYPE_CHECKING:
    from saga_core.maintenance import Maintenance

_KEPT, _KEPT_BYTES, _KEPT_SECONDS, _LOOK_AFTER = 64, 128 << 20, 86_400.0, 10.0
"""The most ephemeral sessions in memory, the bytes of all of them, the seconds for which one is kept unplayed, and
between two looks at that."""

Source = Config | Mapping[str, Any] | str | os.PathLike[str] | None


@checks_arguments
@define(eq=False, repr=False)
class Saga:
    """The engine over opened stores, made by ``Saga.open``.

    Its parts are properties: ``play``, ``sessions``, ``timelines``, ``views``, ``memory``, ``maintenance`` and
    ``background``. Each part receives only what it uses, never the engine itself.
    """

    _parts: Parts
    _opening: OpenArguments
    _ephemeral: Saga | None = field(default=None, init=False)
    _ephemeral_lock: asyncio.Lock = field(factory=asyncio.Lock, init=False)
    _sizes: dict[str, tuple[Session, int]] = field(factory=dict, init=False)
    """Of the ephemeral sessions: the record as of the last look, and the bytes in the journal."""
    _looked_after: float = field(default=0.0, init=False)
    """When the ephemeral sessions that are no longer played were last removed, on the monotonic clock."""
    _closed: bool = field(default=False, init=False)
    _loop: asyncio.AbstractEventLoop = field(factory=asyncio.get_running_loop, init=False)

    @staticmethod
    def open(
        config: Source = None,
        *,
        extractor: ChatModel | None = None,
        curator: ChatModel | Curator | None = None,
        automatic: ChatModel | None = None,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        resume: bool = True,
        tolerant: bool = False,
        stores: Mapping[str, Store] | None = None,
        embedder: Embedder | None = None,
        sources: Mapping[str, ContextSource] | None = None,
        hosting: Hosting | None = None,
    ) -> Opening:
        """Open the engine with ``config``: a ``Config``, a mapping, or the path of a YAML file.

        After ``saga = await Saga.open(…)``, call ``aclose`` at the end; ``async with Saga.open(…) as saga`` does that
        for you. ``extractor`` is asked in the background about turns whose changes were not reported, with the model
        name ``models.extraction``. ``curator`` reviews the story every ``curator.interval`` turns, with the model name
        ``models.curator``, or is a ``Curator`` that takes the place of the configured one. ``automatic`` is used only
        without an ``extractor``. It is asked once about each reply without a state block, right after the reply if
        ``extraction.automatic`` is ``local``.

        ``stores`` are open stores by kind (``state``, ``graph``, ``vector``, ``cache``) that are used instead of the
        configured ones, ``embedder`` likewise. ``sources`` are more sources of context, by name. The caller closes
        whatever it passes in.

        With ``resume=False``, pending work is left to the next engine, no session is collected, and nothing damaged is
        set aside. Use it to inspect data without changing it. With ``tolerant``, a damaged journal does not raise: the
        engine runs without it as far as possible and reports degraded modes. ``hosting`` admits sessions of several
        users, and decides which sessions this engine writes if the journal is shared: ``saga_server.hosting.Hosting``,
        which is also used if the journal is shared and ``hosting`` is not given.
        """
        for name, given, such in (("stores", stores, "state"), ("sources", sources, "moon")):
            check_argument(name, given or {}, Mapping, f"give a mapping, as in {name}={{{such!r}: …}}")
        chat, reviewer = _model_or_curator(curator)
        if clock is not None:
            check_object("clock", clock, Clock)
        if entropy is not None:
            check_object("entropy", entropy, Entropy)
        if hosting is not None:
            check_object("hosting", hosting, Hosting)
        for name, choice in (("resume", resume), ("tolerant", tolerant)):
            check_argument(name, choice, bool, "give True or False")
        arguments = OpenArguments(
            extractor=_checked("extractor", extractor),
            curator=chat,
            reviewer=reviewer,
            stores=stores or {},
            embedder=embedder,
            sources=sources or {},
            automatic=_checked("automatic", automatic),
            clock=clock or SystemClock(),
            entropy=entropy or SystemEntropy(),
            resume=resume,
            tolerant=tolerant,
            hosting=hosting,
        )
        return Opening(config, arguments)

    # -- the parts ---------------------------------------------------------------------------------------------

    @property
    def play(self) -> Play:
        """Begins turns."""
        return self._parts.play

    @property
    def sessions(self) -> Sessions:
        """Creates, lists, resets, deletes and collects sessions."""
        return self._parts.sessions

    @property
    def timelines(self) -> Timelines:
        """Forks, renames, compares and prunes timelines."""
        return self._parts.timelines

    @property
    def views(self) -> Views:
        """Returns states, turns, graphs and pages, and explains the context of a turn."""
        return self._parts.views

    @property
    def memory(self) -> Memory:
        """Lists what was learned, changed and reviewed. Also corrects and undoes."""
        return self._parts.memory

    @property
    def maintenance(self) -> Maintenance:
        """Verifies, repairs, rebuilds, exports, imports and forgets."""
        from saga_core.maintenance import Maintenance  # a start does not need it

        return Maintenance(self._parts.tools)

    @property
    def background(self) -> Background:
        """The background work: its status, draining and retries."""
        return self._parts.background

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._parts.settings.config

    @property
    def worlds(self) -> WorldLibrary:
        """The worlds in which sessions can begin."""
        return self._parts.worlds

    @property
    def stores(self) -> Stores:
        """The opened stores."""
        return self._parts.stores

    @property
    def counters(self) -> Counters:
        """Counters of events, and the degraded modes."""
        return self._parts.counters

    @property
    def parts(self) -> Parts:
        """All parts of the engine, for tests and tools that look inside."""
        return self._parts

    # -- operations --------------------------------------------------------------------------------------------

    async def begin(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        session: str | None = None,
        owner: str = "",
        world: str | None = None,
        choices: int = 1,
        model: str = "",
        provider: str = "",
        player: str = "",
        aside: bool = False,
        speaker: str = "",
        member: str = "",
        continued: str = "",
        window: int = 0,
        tools: bool = False,
        local: bool = False,
        completion: bool = False,
        trackers: Sequence[Tracker] = (),
        profile: str = "",
        kind: str = "",
        own_tools: Sequence[Mapping[str, Any]] = (),
    ) -> PendingTurn:
        """Read what the request needs and build its prompt. Calls no model.

        ``messages``: OpenAI messages as the client sent them. ``session``: an explicit session, by id or name. A named
        timeline may follow it (``session@timeline``); a history that matches no turn continues there. Without
        ``session``, the history selects the session among those of ``owner``. ``world``: an explicit world.
        ``choices``: how many replies will be requested. ``model`` and ``provider``: the model to be called, which
        decides the cache markers of the prompt; without a provider, the model's name decides. ``player``: the name of
        the player's character, if the client knows it better than the messages tell. ``aside``: the request is not a
        turn of the story, whatever its messages look like. ``speaker``: the character that replies, if the client says
        so outside the messages; a trailing reply is then not continued. ``member``: the member of a group who speaks,
        if the client knows it better than the messages tell; the prompt then holds what that member can know.
        ``continued``: the story that a new chat goes on with, as ``session`` or ``session@turn`` (an id, a number, or a
        timeline); a history that the session knows decides instead. ``window``: the token limit of the prompt, if
        the client knows it to be lower than the model's facts say. ``tools``: the model may call tools. ``local``:
        the model runs on a machine of the player's, where a second call costs nothing; unless ``extraction.reporting``
        says otherwise, it is then asked for the story alone, and its replies are read afterwards. ``completion``:
        the model completes a text and can call no tool, so that it is never asked to report by one. ``trackers``: what
        the story counts from this turn on, unless it does already or somebody removed it. ``profile``: what sort of
        story it is, unless that was chosen before. ``kind``: the kind of session that the request is played in,
        ``personal``, ``ephemeral``, ``world`` or ``world:NAME``. Without it, a session that is known decides, and a new
        one is personal. ``own_tools``: tools besides those of the client, as OpenAI's chat API declares them. You
        answer their calls yourself: ``PendingTurn.own_calls`` returns them, and ``PendingTurn.answer`` takes the
        answers. They are not offered for a request that is no turn of the story, or whose reply has begun already.

        Raises ``BadInput`` for malformed messages, unknown worlds and unknown kinds, and ``NotFound`` for a timeline
        that the session does not have. If the journal cannot be read, the turn is played without memory, and
        ``notices`` says so.
        Raises ``Closed`` after ``aclose``, and ``BadInput`` on another event loop than the one that opened the engine.
        """
        if self._closed:
            raise Closed("this engine is closed; open another one with Saga.open")
        if asyncio.get_running_loop() is not self._loop:
            raise BadInput("this engine was opened on another event loop; open one on each loop that uses it")
        request = Request(
            messages=messages,
            session=session,
            owner=owner,
            world=world,
            choices=choices,
            model=model,
            provider=provider,
            player=player,
            aside=aside,
            speaker=speaker,
            member=member,
            continued=continued,
            window=window,
            tools=tools,
            local=local,
            completion=completion,
            trackers=trackers,
            profile=profile,
            kind=kind,
            own_tools=own_tools,
        )
        if profile or kind:
            request = evolve(request, profile=profile and checked_profile(profile), kind=kind and checked_kind(kind))
        await self._look_after()
        if request.kind == EPHEMERAL or await self._shows_ephemeral(request):
            return await (await self._in_memory()).play.begin(evolve(request, kind=EPHEMERAL))
        return await self._parts.play.begin(request)

    # -- ephemeral sessions ------------------------------------------------------------------------------------

    @property
    def ephemeral(self) -> Saga | None:
        """The engine in memory that plays the ephemeral sessions. None if there were none since the start."""
        return self._ephemeral

    async def engine_of(self, session: str, owner: str | None = None) -> Saga:
        """Return the engine that has a session, given by id or name: this one, or that of the ephemeral sessions.

        If neither has it, this one is returned, which raises the error.
        """
        if self._ephemeral is not None:
            with suppress(NotFound):
                await self._ephemeral.sessions.get(session, owner)
                return self._ephemeral
        return self

    async def _in_memory(self) -> Saga:
        async with self._ephemeral_lock:
            if self._ephemeral is None:
                self._ephemeral = Saga(await assemble_ephemeral(self._parts, self._opening), self._opening)
        return self._ephemeral

    async def _shows_ephemeral(self, request: Request) -> bool:
        """Whether a request that names no kind goes on with an ephemeral session.

        It does if that session knows more of the history than any session that is kept.
        """
        memory = self._ephemeral
        if memory is None or request.kind:
            return False
        lacks = await memory.play.unknown_messages(request)
        if lacks is None:
            return False
        try:
            known = await self.play.unknown_messages(request)
        except StoreError as error:  # then nobody knows; the ephemeral session at least shows its own turn
            self.counters.degrade("journal.read", str(error))
            known = None
        return known is None or lacks < known

    async def _look_after(self) -> None:
        """Keep the ephemeral sessions within their limits. They are not looked at each time."""
        now = self._parts.clock.monotonic()
        if self._ephemeral is not None and now - self._looked_after > _LOOK_AFTER:
            self._looked_after = now
            await self._ephemeral._forget_some()

    async def _forget_some(self) -> None:
        """Remove the sessions that were not played for a day, and beyond the limits the longest unplayed ones, and
        the largest one."""
        found = sorted(await self.sessions.list(), key=lambda each: each.updated, reverse=True)
        oldest = self._parts.clock.now() - _KEPT_SECONDS
        gone = {each.session.id for place, each in enumerate(found) if place >= _KEPT or each.updated < oldest}
        sizes = {each.session.id: await self._sized(each.session) for each in found if each.session.id not in gone}
        self._sizes = sizes
        left = sum(size for _, size in sizes.values())
        for session, (_, size) in sorted(sizes.items(), key=lambda each: each[1][1], reverse=True):
            if left <= _KEPT_BYTES:
                break
            left -= size
            gone.add(session)
        for session in gone:
            with suppress(NotFound):
                await self.sessions.delete(session)

    async def _sized(self, session: Session) -> tuple[Session, int]:
        """The session with its bytes in the journal, which are counted again once its record has changed."""
        known = self._sizes.get(session.id)
        if known is not None and known[0] == session:
            return known
        size = 0
        for kind in OF_A_SESSION:
            async for page in pages(self.stores.state, (kind, session.id), 100):
                size += sum(len(raw) for _, raw in page)
        return session, size

    async def describe(self, session_id: str, turn: str | None = None) -> dict[str, Any]:
        """Return the state of a session at a turn (default: the active head), with names. JSON-able. ``NotFound``."""
        return await self._parts.views.describe(session_id, turn)

    async def drain(self, timeout: float) -> DrainReport:
        """Do all due background work, for at most ``timeout`` seconds. The report lists what still waits."""
        report = await self._parts.background.drain(timeout)
        if self._ephemeral is not None:
            other = await self._ephemeral.drain(timeout)
            report = DrainReport(report.done + other.done, (*report.waiting, *other.waiting))
        return report

    def reconfigure(self, config: Source) -> None:
        """Use ``config`` from now on, given as to ``open``.

        Stores, sources, modules, curators and strategies stay as they were opened.
        """
        config = load_config(config)
        self._parts.settings.config = config
        if self._ephemeral is not None:
            self._ephemeral.reconfigure(in_memory(config))

    async def status(self) -> dict[str, Any]:
        """Return the engine's status: stores and their health, pending work, counters, degraded modes. JSON-able."""
        parts = self._parts
        stores, reader = parts.stores, parts.reader
        return {
            "stores": await stores.status(),
            "embedder": stores.embedder.id,
            "tokens": stores.counter.id,
            "counting": getattr(stores.counter, "note", ""),
            "vectors": {
                "dimension": stores.embedder.dimension,
                "semantic": stores.embedder.semantic,
                **parts.background.vectors.describe(),
            },
            "sessions": {"live": len(parts.live)},
            **parts.background.status(),
            "counters": dict(sorted(parts.counters.counts.items())),
            "degraded": dict(parts.counters.degraded),
            "worlds": parts.worlds.names(),
            "context": {
                "sources": {name: list(needs) for name, needs in reader.sources.items()},
                "late": dict(reader.misses),
            },
            "servers": None if parts.rights is None else parts.rights.status(),
        }

    async def aclose(self, *, drain: float | None = None) -> DrainReport:
        """Drain for at most ``drain`` seconds (default: ``server.drain_timeout``), then close every store."""
        if self._closed:
            return DrainReport(0)
        self._closed = True
        if self._ephemeral is not None:
            await self._ephemeral.aclose(drain=0.0)
        timeout = self.config.server.drain_timeout if drain is None else drain
        report = await self._parts.supervisor.aclose(timeout)
        if self._parts.admission is not None:
            await self._parts.admission.aclose()
        await self._parts.reader.aclose()
        await self._parts.live.aclose()
        await self._parts.stores.aclose()
        return report


def _checked(where: str, given: Any) -> ChatModel | None:
    """A chat model, or None. Raises ``BadInput`` for anything else."""
    return checked_chat(where, given) if given is not None else None


def _model_or_curator(given: ChatModel | Curator | None) -> tuple[ChatModel | None, Curator | None]:
    if given is None or hasattr(given, "stream"):
        return _checked("curator", given), None
    check_awaited("curator", given)
    if not hasattr(given, "review"):
        raise BadInput(
            f"curator: {type(given).__name__} is neither a ChatModel nor a Curator; it has neither stream nor review"
        )
    check_store("curator", "curator", given)
    return None, given


@define
class Opening:
    """A ``Saga`` that is being opened. Await it, or use it in ``async with``."""

    source: Source
    arguments: OpenArguments
    _saga: Saga | None = field(default=None, init=False)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"no {name} before the engine is open: saga = await Saga.open(…), or async with Saga.open(…)"
        )

    def __await__(self) -> Generator[Any, None, Saga]:
        return self._open().__await__()

    async def __aenter__(self) -> Saga:
        self._saga = await self._open()
        return self._saga

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._saga is not None
        await self._saga.aclose()

    async def _open(self) -> Saga:
        config = load_config(self.source)
        registry.add_entry_points(config.plugins)
        return Saga(await assemble(config, self.arguments), self.arguments)
