"""How commands that look after the data reach it: directly, or through the server that has it open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from attrs import field, frozen

from saga_core.config import Config
from saga_core.errors import BadInput, LeaseLost, NotFound, OwnedElsewhere, SagaError, StoreLocked
from saga_server.cli.settings import fail, find_config

if TYPE_CHECKING:
    from saga_core import Saga

Work = Callable[["Saga"], Coroutine[Any, Any, Any]]

_SECONDS = 3_600.0
_MOST = 1 << 30
"""Bytes of an answer; an exported session of many years has some hundred megabytes."""

as_json = click.option("--json", "plain", is_flag=True, help="Print JSON, in the format of the admin API.")


@frozen
class Asking:
    """The request by which a running server does the same."""

    method: str
    path: str
    query: Mapping[str, str | None] = field(factory=dict)
    body: bytes | None = None
    files: Sequence[tuple[str, bytes | Path]] = ()
    """Sent as a form, instead of a body."""


def reached(file: Path | None, data: Path | None, work: Work, *asking: Asking, fresh: bool = False) -> Any:
    """What ``work`` gives on the data directory; while a server has it open, its answer to the last of ``asking``.

    With ``fresh`` a data directory is made where none is. Ends the program when neither can be asked.
    """
    from saga_server.process import log_errors_only

    try:
        config = find_config(file, data)
        log_errors_only(config)
        if not fresh:
            check_there(config)
        return asyncio.run(_reached(config, work, asking))
    except (SagaError, OSError) as error:
        fail(error)


async def _reached(config: Config, work: Work, asking: tuple[Asking, ...]) -> Any:
    from saga_core import Saga
    from saga_server.process import NotAnswered

    try:
        saga = await Saga.open(config, resume=False)
    except StoreLocked as locked:
        if not asking:
            raise StoreLocked(f"{locked}. This command needs the data to itself") from locked
        try:
            return [await ask(config, each) for each in asking][-1]
        except NotAnswered as error:
            raise StoreLocked(f"{locked} ({error})") from error
    try:
        return await work(saga)
    except (OwnedElsewhere, LeaseLost) as error:
        owner = error if isinstance(error, OwnedElsewhere) else error.__cause__
        if not asking or not isinstance(owner, OwnedElsewhere) or not owner.address:
            raise
        # One of several servers has it, and does it there.
        return [await ask(config, each, owner.address) for each in asking][-1]
    finally:
        await saga.aclose(drain=0.0)


async def ask(config: Config, asking: Asking, address: str | None = None) -> Any:
    """What the running server answers, or the one at ``address``: JSON, or bytes when it is none.

    Raises ``NotAnswered`` when it cannot be asked, ``NotFound`` and ``BadInput`` with its own words.
    """
    import aiohttp

    from saga_server.process import NOBODY, NotAnswered, address_of, whole_answer

    url = address or address_of(config.data_dir)
    if url is None:
        raise NotAnswered(NOBODY)
    keys = config.server.api_keys
    headers = {"Authorization": f"Bearer {keys[0]}"} if keys else {}
    query = {name: value for name, value in asking.query.items() if value is not None}
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_SECONDS), headers=headers) as client,
            client.request(asking.method, f"{url}{asking.path}", params=query, data=_sent(asking)) as answer,
        ):
            raw, status, kind = await whole_answer(answer, _MOST), answer.status, answer.content_type
    except (aiohttp.ClientError, TimeoutError) as error:
        raise NotAnswered(f"{url}: the server does not answer ({type(error).__name__}: {error})") from error
    if status < 300:
        return json.loads(raw) if kind == "application/json" else raw
    refused = {400: BadInput, 404: NotFound}.get(status, NotAnswered)
    raise refused(_message(raw) or f"{url}{asking.path}: the server answered {status}")


def _sent(asking: Asking) -> Any:
    """The body of a request: as it is, or a form with files."""
    if not asking.files:
        return asking.body
    import aiohttp

    with aiohttp.MultipartWriter("form-data") as form:
        for name, source in asking.files:
            data = source if isinstance(source, bytes) else source.open("rb")  # sent bit by bit, and closed then
            part = form.append(data, {"Content-Type": "application/octet-stream"})
            part.set_content_disposition("form-data", name="file", filename=name)
    return form


def _message(raw: bytes) -> str:
    try:
        return str(json.loads(raw)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return ""


def check_there(config: Config) -> None:
    """Who only looks makes no new data directory. Raises ``BadInput``."""
    storage = config.storage
    named = storage.state.path is not None or storage.state.url is not None or storage.url is not None
    if not named and not config.data_dir.is_dir():
        raise BadInput(f"storage.path: there is nothing at {config.data_dir}; name the data directory with --data")


def segment(text: str) -> str:
    """A session's name as part of a path."""
    return quote(text, safe="")
