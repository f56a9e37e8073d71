"""``saga doctor``: checks everything that ``saga serve`` needs. It creates no store."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from attrs import define

from saga_core import Saga, registry
from saga_core.assembly import ASKING, RULES
from saga_core.config import Config, Reporting
from saga_core.errors import BadInput, SagaError, StoreLocked, UpstreamError
from saga_core.imports import importers
from saga_core.language import DEFAULT, language_of, primary
from saga_core.modules import modules_that_fail
from saga_core.registry import OpenOptions
from saga_core.sessions import SILENT_FROM, SILENT_MODE, unreported_at
from saga_core.storage import health_of
from saga_core.stores import Curator, Health, StoreInfo
from saga_core.world import WorldLibrary, default_roots
from saga_server.admin import ENDPOINTS
from saga_server.doctor.absent_stores import AbsentStores, absent_stores
from saga_server.doctor.installed import installed
from saga_server.http import Doors
from saga_server.process import Mask, address_of, ask, check_listening, secrets_of
from saga_server.providers import AutomaticExtraction, Narrators
from saga_server.tenancy import Tenancy
from saga_server.terminal import counted

if TYPE_CHECKING:
    from saga_server.doctor.judging import Way
    from saga_server.doctor.rehearsal import RehearsalScene

WAYS: tuple[Reporting, ...] = ("block", "tool", "after")
"""The ways in which a narrator may report, the cheapest first."""
_CHATS = 10
"""How many of the latest chats are checked for a silent narrator."""

_QUESTION, _PASSAGE = "누가 검을 만들었지?", "The smith finished the sword."
_PATIENCE = 60.0
"""Seconds that the embedder has for its first answers."""

Say = Callable[[str], None]


@define
class DoctorReport:
    """The lines of an examination, and whether all of them are good."""

    say: Say
    good: bool = True

    def check(self, good: bool, text: str) -> None:
        """Print the result of a check."""
        self.say(f"{'ok' if good else '!!'}  {text}")
        self.good &= good

    def note(self, text: str) -> None:
        """Print what needs no remedy."""
        self.check(True, text)


async def examine(
    config: Config, say: Say, url: str | None = None, headers: Mapping[str, str] = MappingProxyType({})
) -> bool:
    """Report each check with ``say``, without secrets. Returns whether all is well.

    The server at ``url``, or the one that has the data, is asked about the stores, with ``headers``.
    """
    mask = Mask.of(secrets_of(config))
    report = DoctorReport(lambda text: say(mask(text)))
    report.check(sys.version_info >= (3, 11), f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")
    _settings(config, report)
    _doors(report)
    address = url or address_of(config)
    if address is not None:
        await _served(config, report, address, headers)
    else:
        await _stores(config, report, headers)
    await _curator(config, report)
    await _providers(config, report)
    say("all is well" if report.good else "see the lines marked with !!")
    return report.good


async def examine_narrator(
    config: Config, model: str, language: str | None, say: Say, *, ways: Sequence[Reporting] = WAYS
) -> bool:
    """Play a rehearsal with ``model`` for each of the ``ways`` to report, and say how well each went. Returns whether
    the best is good enough: its findings are shown.

    ``language`` is a language tag. None means the language of ``session.default_world`` if there is a rehearsal in it,
    or else English. Raises ``SagaError``.
    """
    from saga_server.doctor.judging import Way, judge, recommended  # imported only when needed
    from saga_server.doctor.rehearsal import rehearse, scripts

    known, report = scripts(), DoctorReport(say)
    if language is not None and language not in known:
        raise BadInput(f"--lang {language}: there is no rehearsal in it; give one of {', '.join(known)}")
    script = known.get(language or _language(config), known[DEFAULT])
    turns, spoken = len(script.lines), language_of(script.language).texts.name
    say(f"playing {turns} turns with {model} in {spoken}, {counted(len(ways), 'time')}; nothing is kept")
    played: dict[Reporting, list[RehearsalScene]] = {}
    summed: list[Way] = []
    for way in ways:
        try:
            route, played[way] = await rehearse(config, os.environ, model, script, way)
        except UpstreamError as error:
            if not summed:
                raise
            report.note(f"reporting {way}: cannot be used: {error}")
            continue
        if not summed:
            report.note(f"narrator: {route.model} of {route.provider.name} ({route.provider.where})")
        summed.append(Way.of(way, played[way]))
        report.note(summed[-1].text(turns))
    best = recommended(summed)
    if len(summed) > 1:
        report.note(f"recommended: extraction.reporting: {best.name}")
    for finding in judge(played[best.name], script.player):
        report.check(finding.good, finding.text)
    say("it reports well" if report.good else "see the lines marked with !!")
    return report.good


def _language(config: Config) -> str:
    """Return the language of ``session.default_world``."""
    name = config.session.default_world
    if name is None:
        return DEFAULT
    return primary(WorldLibrary(default_roots(config.base)).get(name).language)


def _settings(config: Config, report: DoctorReport) -> None:
    for warning in config.warnings:
        report.note(f"settings: {warning}")
    try:
        check_listening(config.server)
        if config.server.workers > 1:
            from saga_server.hosting import check_workers

            check_workers(config)
    except SagaError as error:
        report.check(False, str(error))
        return
    for told in registry.unused():
        report.check(False, f"installed: {told}")
    for name, why in importers().failed.items():
        report.check(False, f"importer {name}: cannot be loaded ({why})")
    for name, why in modules_that_fail().items():
        report.check(False, f"module {name}: {why}")
    for kind in registry.PUBLIC:
        for each in installed(kind):
            if each.wrong:
                report.check(False, f"{kind} {each.name}: {each.missing}")
    several = f" with {config.server.workers} processes" if config.server.workers > 1 else ""
    report.note(f"settings: will listen on {config.server.host}:{config.server.port}{several}")


def _doors(report: DoctorReport) -> None:
    """Report the APIs that clients can speak. One that cannot be loaded is missing in the server."""
    doors = Doors.load()
    report.note(f"doors: {', '.join(doors.loaded)}")
    for name, reason in doors.failed.items():
        report.check(False, f"door {name}: {reason}")
    own = [re.compile(re.sub(r"\{\w+\}", "[^/]+", each.path)) for each in ENDPOINTS]
    for name, door in doors.loaded.items():
        for path in door.paths:
            if any(each.fullmatch(path) for each in own):
                report.check(False, f"door {name}: {path} takes the place of SAGA's own path; give it another one")


async def _served(
    config: Config,
    report: DoctorReport,
    address: str | None,
    headers: Mapping[str, str],
    locked: StoreLocked | None = None,
) -> None:
    """Report what the server that has the stores open says about them."""
    try:
        status = await ask(config, "/api/status", address=address, headers=headers)
    except SagaError as error:
        report.check(False, f"stores: {error}" if locked is None else f"stores: {locked} ({error})")
        return
    report.note(f"stores: open in the server at {address or address_of(config)}, which says of them:")
    for kind, store in status["stores"].items():
        report.check(store["ok"], f"{kind}: {store['backend']} {store['version']}".rstrip() + f", {store['detail']}")
    _recall_of(status, report)
    for each in (status.get("servers") or {}).get("others", ()):
        report.check(each["alive"], f"{each['server']}: " + ("lives" if each["alive"] else "is gone"))
    for name, reason in status["degraded"].items():
        if name != SILENT_MODE:
            report.check(False, f"{name}: {reason}")
    for chat in status.get("silent", ()):
        told = f"session {chat['session']}: {chat['model'] or 'the narrator'} wrote no state block in its last"
        told += f" {chat['replies']} replies; "
        report.check(bool(chat["read_by"]), told + (chat["remedy"] or f"{chat['read_by']} reads them"))


async def _silent(saga: Saga, report: DoctorReport) -> None:
    """Report the latest chats whose narrator wrote no state blocks, if no extraction model read the replies."""
    for chat in sorted(await saga.sessions.list(), key=lambda each: -each.updated)[:_CHATS]:
        live = await saga.parts.live.get(chat.session.id)
        found = await unreported_at(live, live.head)
        if found.unread >= SILENT_FROM:
            report.check(False, f"session {live.session.id}: {found.text('')}")


async def _stores(config: Config, report: DoctorReport, headers: Mapping[str, str]) -> None:
    narrators = Narrators.from_config(config, os.environ)
    try:
        with absent_stores(config) as absent:
            found = DoctorReport(lambda text: report.say(absent.in_place(text)))
            await _opened_stores(config, absent, narrators, found, headers)
            report.good &= found.good
    except (SagaError, OSError) as error:
        report.check(False, f"stores: {error}")
    finally:
        await narrators.aclose()


async def _opened_stores(
    config: Config, absent: AbsentStores, narrators: Narrators, report: DoctorReport, headers: Mapping[str, str]
) -> None:
    try:
        saga = await Saga.open(
            absent.config,
            resume=False,
            hosting=Tenancy(),
            extractor=narrators.extraction(config.models.extraction),
            curator=narrators.extraction(config.models.curator),
        )
    except StoreLocked as error:
        await _served(config, report, None, headers, error)
        return
    except (SagaError, OSError) as error:
        report.check(False, f"stores: {error}")
        return
    try:
        for kind, store in saga.stores.all().items():
            health = await store.check(thorough=True)
            new = "; it does not exist yet" if kind in absent.places else ""
            report.check(health.ok, f"{kind}: {_opened(store.info, health)}{new}")
            report.note(f"{kind} backends: {_backends(kind, store.info.name)}")
        report.note(f"context: {_sources(saga)}")
        await _recall(saga, report)
        for name, reason in saga.counters.degraded.items():
            report.check(False, f"{name}: {reason}")
        await _silent(saga, report)
        broken = saga.worlds.broken()
        for name, fault in broken.items():
            report.check(False, f"world {name}: {fault}")
        whole = [name for name in saga.worlds.names() if name not in broken]
        for name in whole:
            for warning in saga.worlds.warnings(name):
                report.note(f"world {name}: {warning}")
        report.note(f"worlds: {', '.join(whole) or 'none'}")
        default = config.session.default_world
        if default is not None:
            try:
                saga.worlds.get(default)
            except SagaError as error:
                report.check(False, f"session.default_world: {error}")
    finally:
        await saga.aclose(drain=0.0)


def _opened(info: StoreInfo, health: Health) -> str:
    """Describe an open store: its engine, place, size and health."""
    parts = [f"{info.name} {info.version}".strip()]
    parts.append(f"in {info.location}" if info.location else "in memory")
    if health.bytes is not None:
        parts.append(f"({health.bytes / 2**20:.1f} MB)")
    detail = health.detail.removeprefix(f"{info.location}: ")
    return " ".join(parts) + (f": {detail}" if detail else "")


def _backends(kind: str, used: str) -> str:
    """Describe which backends are installed, and which are not."""
    found = installed(kind)
    here = [f"{each} in use" if each.name == used else str(each) for each in found if not each.missing]
    missing = [f"{each.name}: {each.missing}" for each in found if each.missing and not each.wrong]
    return "installed: " + ", ".join(here) + (f"; not installed: {'; '.join(missing)}" if missing else "")


def _sources(saga: Saga) -> str:
    """Describe the sources of context in use, and the installed ones that are not switched on."""
    told = []
    for name, needs in saga.parts.reader.sources.items():
        told.append(f"{name} (needs {', '.join(needs)})" if needs else name)
    found = [each for each in installed("context") if each.name not in saga.parts.reader.sources]
    here = [str(each) for each in found if not each.missing]
    broken = [f"{each.name}: {each.missing}" for each in found if each.missing]
    off = f"; installed, not in recall.sources: {', '.join(here)}" if here else ""
    return ", ".join(told) + off + (f"; broken: {'; '.join(broken)}" if broken else "")


async def _curator(config: Config, report: DoctorReport) -> None:
    """Check the configured curator, if it is not one that comes with SAGA."""
    name = config.curator.backend
    if not config.curator.enabled or name is None or name in (RULES, *ASKING):
        return
    at = "curator.backend"
    report.note(f"curator backends: {_backends('curator', name)}")
    try:
        curator: Curator = await registry.open_plugin(
            "curator", name, OpenOptions(options=config.curator.options), at=at, options_at="curator."
        )
        try:
            health = await health_of(curator, thorough=True)
        finally:
            await registry.close_plugin(at, curator)
    except SagaError as error:
        report.check(False, f"curator: {name}: {error}")
        return
    report.check(health.ok, f"curator: {name}: {health.detail or 'it works'}")
    return


async def _providers(config: Config, report: DoctorReport) -> None:
    narrators = Narrators.from_config(config, os.environ)
    if unheard := narrators.unheard(config):
        report.check(False, unheard)
        return
    if narrators.offline:
        why = "models.narration: offline" if narrators.beside else "no provider has a key or a base_url"
        report.note(f"narrator: the built-in one, offline; {why}")
        return
    report.note(f"extraction: replies without a state block are read by {_reader(config, narrators)}")
    wanted = narrators.routes("") if narrators.model else ()
    try:
        for provider in narrators.providers.values():
            try:
                models = await (await narrators.narrator(provider)).models()
            except SagaError as error:
                report.check(False, f"provider {provider.name}: {error}")
            else:
                report.note(f"provider {provider.name}: {counted(len(models), 'model')} at {provider.where}")
                for route in wanted:
                    if route.provider is provider and models and route.model not in models:
                        # Some providers serve models that they do not list.
                        text = f"does not list {route.model!r} of models.narration and models.fallback; is it the name?"
                        report.note(f"provider {provider.name}: {text}")
        await narrators.ask_context_sizes()
        report.note(f"context: {'; '.join(narrators.describe())}")
    finally:
        await narrators.aclose()


def _reader(config: Config, narrators: Narrators) -> str:
    """Describe which model reads replies without a state block."""
    if config.models.extraction is not None:
        return config.models.extraction
    automatic = AutomaticExtraction.of(narrators, config)
    if automatic is not None:
        return f"{automatic.name} (extraction.automatic: {config.extraction.automatic})"
    return "nobody; set models.extraction to a small model if your narrator forgets them"


async def _recall(saga: Saga, report: DoctorReport) -> None:
    """Ask the embedder for two vectors, and say which token counter is in use."""
    await _embedder(saga, report)
    counter: Any = saga.stores.counter
    note = getattr(counter, "note", "")
    report.note(f"tokens: counted by {counter.id}" + (f": {note}" if note else ""))


async def _embedder(saga: Saga, report: DoctorReport) -> None:
    embedder = saga.stores.embedder
    try:
        async with asyncio.timeout(_PATIENCE):
            await embedder.embed([_PASSAGE], "passage")  # loads the model
            began = perf_counter()
            await embedder.embed([_QUESTION], "query")
    except TimeoutError:
        report.check(False, f"embedder {embedder.id}: no answer within {_PATIENCE:g} s")
        return
    except SagaError as error:
        report.check(False, f"embedder {embedder.id}: {error}")
        return
    taken, deadline = (perf_counter() - began) * 1_000, saga.config.recall.deadline_ms
    sees = "sees meaning" if embedder.semantic else "sees spelling"
    report.note(f"embedder {embedder.id}: {embedder.dimension} components, {sees}, {taken:.0f} ms a question")
    if taken > deadline:
        slow = f"slower than recall.deadline_ms, {deadline:g}; turns go without it until that is raised"
        report.check(False, f"embedder {embedder.id}: {slow}, to {taken * 2:.0f} say")


def _recall_of(status: dict[str, Any], report: DoctorReport) -> None:
    """Report the same from the status of a running server."""
    vectors = status["vectors"]
    left = f", {vectors['left']} turns still to do" if vectors["left"] else ""
    report.note(f"embedder {status['embedder']}: {vectors['dimension']} components{left}")
    report.note(f"tokens: counted by {status['tokens']}" + (f": {status['counting']}" if status["counting"] else ""))
