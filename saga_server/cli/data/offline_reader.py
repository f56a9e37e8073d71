"""How commands read a data directory: from the stores, or from the server that has them open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saga_core.config import Config
from saga_core.errors import SagaError, StoreLocked
from saga_server.cli.data.data_access import check_there
from saga_server.cli.settings import fail, find_config

if TYPE_CHECKING:
    from saga_core import Saga


def looked(
    file: Path | None,
    data: Path | None,
    look: Callable[[Saga], Coroutine[Any, Any, Any]],
    path: str,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, str] | None = None,
) -> Any:
    """Run ``look`` on the data directory and return its result.

    While a server has the data open, return its answer to ``GET path``, or to ``POST path`` when there is a ``body``.
    When neither way works, print the error and end the program.
    """
    from saga_server.process import log_errors_only

    try:
        config = find_config(file, data)
        log_errors_only(config)
        check_there(config)
        return asyncio.run(_look(config, look, path, query, body))
    except (SagaError, OSError) as error:
        fail(error)


async def _look(
    config: Config,
    look: Callable[[Saga], Coroutine[Any, Any, Any]],
    path: str,
    query: Mapping[str, str] | None,
    body: Mapping[str, str] | None,
) -> Any:
    from saga_core import Saga
    from saga_server.process import NotAnswered, ask
    from saga_server.tenancy import Tenancy

    try:
        saga = await Saga.open(config, resume=False, hosting=Tenancy())
    except StoreLocked as locked:
        try:
            return await ask(config, path, query, body)
        except NotAnswered as error:
            raise StoreLocked(f"{locked} ({error})") from error
    try:
        return await look(saga)
    finally:
        await saga.aclose(drain=0.0)
