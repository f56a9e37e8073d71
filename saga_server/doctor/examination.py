"""``saga doctor``: checks everything that ``saga serve`` needs. It changes nothing except in the data directory."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable

from saga_core import Saga, registry
from saga_core.assembly import ASKING, RULES
from saga_core.config import Config
from saga_core.errors import BadInput, SagaError, StoreLocked
from saga_core.language import DEFAULT, language_of, primary
from saga_core.registry import OpenOptions
from saga_core.sessions import SILENT_FROM, SILENT_MODE, silence_at
from saga_core.stores import Curator, Health, StoreInfo
from saga_core.world import WorldLibrary, default_roots
from saga_server.counted import counted
from saga_server.doctor.installed import installed
from saga_server.doctor.recall import examine_recall, recall_of
from saga_server.process import address_of, ask, check_listening
from saga_server.providers import AutomaticExtraction, Narrators
from saga_server.tenancy import Tenancy

_CHATS = 10
"""How many of the latest chats are checked for a silent narrator."""

Say = Callable[[str], None]


async def examine(config: Config, say: Say) -> bool:
    """Report each check with ``say``. Returns whether all is well."""
    results = [
        _python(say),
        _settings(config, say),
        await _stores(config, say),
        await _curator(config, say),
        await _providers(config, say),
    ]
    say("all is well" if all(results) else "see the lines marked with !!")
    return all(results)


async def examine_narrator(config: Config, model: str, language: str | None, say: Say) -> bool:
    """Play a rehearsal with ``model``, and say how well it reports. Returns whether that is well enough.

    ``language`` is a language tag. None means the language of ``session.default_world`` if there is a rehearsal in it,
    or else English. Raises ``SagaError``.
    """
    from saga_server.rehearsal import SCRIPTS, judge, rehearse  # imported only when needed

    if language is not None and language not in SCRIPTS:
        raise BadInput(f"--lang {language}: there is no rehearsal in it; give one of {', '.join(SCRIPTS)}")
    script = SCRIPTS.get(language or _language(config), SCRIPTS[DEFAULT])
    say(f"playing {len(script.lines)} turns with {model} in {language_of(script.language).texts.name}; nothing is kept")
    route, scenes = await rehearse(config, os.environ, model, script)
    _told(say, True, f"narrator: {route.model} of {route.provider.name} ({route.provider.where})")
    findings = judge(scenes, script.player)
    for found in findings:
        _told(say, found.good, found.text)
    good = all(found.good for found in findings)
    say("it reports well" if good else "see the lines marked with !!")
    return good


def _language(config: Config) -> str:
    """Return the language of ``session.default_world``."""
    name = config.session.default_world
    if name is None:
        return DEFAULT
    return primary(WorldLibrary(default_roots(config.base)).get(name).language)


def _told(say: Say, good: bool, text: str) -> bool:
    say(f"{'ok' if good else '!!'}  {text}")
    return good


def _python(say: Say) -> bool:
    return _told(say, sys.version_info >= (3, 11), f"Python {platform.python_version()}, SQLite {_sqlite()}")


def _sqlite() -> str:
    import sqlite3

    return sqlite3.sqlite_version


def _settings(config: Config, say: Say) -> bool:
    for warning in config.warnings:
        _told(say, True, f"settings: {warning}")
    try:
        check_listening(config.server)
        if config.server.workers > 1:
            from saga_server.hosting import check_workers

            check_workers(config)
    except SagaError as error:
        return _told(say, False, str(error))
    several = f" with {config.server.workers} processes" if config.server.workers > 1 else ""
    return _told(say, True, f"settings: will listen on {config.server.host}:{config.server.port}{several}")


async def _served(config: Config, say: Say, locked: StoreLocked) -> bool:
    """Report what the server that has the stores open says about them."""
    try:
        status = await ask(config, "/api/status")
    except SagaError as error:
        return _told(say, False, f"stores: {locked} ({error})")
    good = _told(say, True, f"stores: open in the server at {address_of(config.data_dir)}, which says of them:")
    for kind, store in status["stores"].items():
        good &= _told(
            say, store["ok"], f"{kind}: {store['backend']} {store['version']}".rstrip() + f", {store['detail']}"
        )
    good &= recall_of(status, lambda fine, text: _told(say, fine, text))
    for each in (status.get("servers") or {}).get("others", ()):
        good &= _told(say, each["alive"], f"{each['server']}: " + ("lives" if each["alive"] else "is gone"))
    for name, reason in status["degraded"].items():
        if name != SILENT_MODE:
            good &= _told(say, False, f"{name}: {reason}")
    for chat in status.get("silent", ()):
        told = f"session {chat['session']}: {chat['model'] or 'the narrator'} wrote no state block in its last"
        told += f" {chat['replies']} replies; "
        good &= _told(say, bool(chat["read_by"]), told + (chat["remedy"] or f"{chat['read_by']} reads them"))
    return good


async def _silent(saga: Saga, say: Say) -> bool:
    """Report the latest chats whose narrator wrote no state blocks, if no extraction model read the replies."""
    good = True
    for chat in sorted(await saga.sessions.list(), key=lambda each: -each.updated)[:_CHATS]:
        live = await saga.parts.live.get(chat.session.id)
        found = await silence_at(live, live.head)
        if found.unread >= SILENT_FROM:
            good &= _told(say, False, f"session {live.session.id}: {found.text('')}")
    return good


async def _stores(config: Config, say: Say) -> bool:
    try:
        saga = await Saga.open(config, resume=False, hosting=Tenancy())
    except StoreLocked as error:
        return await _served(config, say, error)
    except (SagaError, OSError) as error:
        return _told(say, False, f"stores: {error}")
    good = True
    try:
        for kind, store in saga.stores.all().items():
            health = await store.check(thorough=True)
            good &= _told(say, health.ok, f"{kind}: {_opened(store.info, health)}")
            good &= _told(say, True, f"{kind} backends: {_backends(kind, store.info.name)}")
        _told(say, True, f"context: {_sources(saga)}")
        good &= await examine_recall(saga, lambda fine, text: _told(say, fine, text))
        for name, reason in saga.counters.degraded.items():
            good &= _told(say, False, f"{name}: {reason}")
        good &= await _silent(saga, say)
        broken = saga.worlds.broken()
        for name, fault in broken.items():
            good &= _told(say, False, f"world {name}: {fault}")
        whole = [name for name in saga.worlds.names() if name not in broken]
        for name in whole:
            for warning in saga.worlds.warnings(name):
                _told(say, True, f"world {name}: {warning}")
        _told(say, True, f"worlds: {', '.join(whole) or 'none'}")
        default = config.session.default_world
        if default is not None:
            try:
                saga.worlds.get(default)
            except SagaError as error:
                good &= _told(say, False, f"session.default_world: {error}")
    finally:
        await saga.aclose(drain=0.0)
    return good


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
    missing = [f"{each.name}: {each.missing}" for each in found if each.missing]
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


async def _curator(config: Config, say: Say) -> bool:
    """Check the configured curator, if it is not one that comes with SAGA."""
    name = config.curator.backend
    if not config.curator.enabled or name is None or name in (RULES, *ASKING):
        return True
    _told(say, True, f"curator backends: {_backends('curator', name)}")
    try:
        curator: Curator = await registry.load("curator", name).open(OpenOptions(options=config.curator.options))
    except SagaError as error:
        return _told(say, False, f"curator: {name}: {error}")
    try:
        health = await curator.check(thorough=True)
    finally:
        await curator.aclose()
    return _told(say, health.ok, f"curator: {name}: {health.detail or 'it works'}")


async def _providers(config: Config, say: Say) -> bool:
    narrators = Narrators.from_config(config, os.environ)
    if unheard := narrators.unheard(config):
        return _told(say, False, unheard)
    if narrators.offline:
        return _told(say, True, "narrator: the built-in one, offline; no provider has a key or a base_url")
    good = _told(say, True, f"extraction: replies without a state block are read by {_reader(config, narrators)}")
    wanted = narrators.routes("") if narrators.model else ()
    try:
        for provider in narrators.providers.values():
            try:
                models = await (await narrators.narrator(provider)).models()
            except SagaError as error:
                good &= _told(say, False, f"provider {provider.name}: {error}")
            else:
                _told(say, True, f"provider {provider.name}: {counted(len(models), 'model')} at {provider.where}")
                for route in wanted:
                    if route.provider is provider and models and route.model not in models:
                        # Some providers serve models that they do not list.
                        text = f"does not list {route.model!r} of models.narration and models.fallback; is it the name?"
                        _told(say, True, f"provider {provider.name}: {text}")
    finally:
        await narrators.aclose()
    return good


def _reader(config: Config, narrators: Narrators) -> str:
    """Describe which model reads replies without a state block."""
    if config.models.extraction is not None:
        return config.models.extraction
    automatic = AutomaticExtraction.of(narrators, config)
    if automatic is not None:
        return f"{automatic.name} (extraction.automatic: {config.extraction.automatic})"
    return "nobody; set models.extraction to a small model if your narrator forgets them"
