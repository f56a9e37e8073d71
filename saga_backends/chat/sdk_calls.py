"""Calls through an official SDK: its connections, its reading of errors, and its newest headers.

The SDKs of OpenAI and Anthropic share their design. Requests and replies stay plain JSON: the typed layer costs 135 ms
for a prompt of 400 messages and 0.16 ms a chunk, against a few microseconds, and would drop fields that it does not
know. The SDKs' own retries are off: they would sleep as long as a provider asks, while a player waits.

An SDK takes up to a second to import. Until that was done, when nobody waited for it, calls go through the HTTP client
that lies under it: the requests and the replies are the same.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import httpx2
from attrs import define, field

from saga_backends.chat.calls import Calls
from saga_backends.http_client import bearer

NO_KEY = "none"
"""Satisfies an SDK; never sent."""


@define(eq=False, kw_only=True)
class SdkCalls(Calls):
    """The calls of an SDK's client, once it was imported. ``client`` is the HTTP client under it."""

    module: str
    make: str
    """The name of its client in ``module``."""
    sdk: ModuleType | None = field(default=None, init=False)
    official: Any = field(default=None, init=False, repr=False)

    async def warm(self) -> None:
        """Import the SDK, beside the loop."""

        def imported() -> tuple[ModuleType, Any]:
            module = importlib.import_module(self.module)
            above = getattr(module, self.make)(
                base_url=str(self.client.base_url),
                api_key=self.api_key or NO_KEY,
                timeout=self.client.timeout,
                max_retries=0,
                http_client=self.client,
            )
            return module, above

        if self.sdk is None:
            self.sdk, self.official = await asyncio.to_thread(imported)

    async def _send(
        self,
        method: str,
        path: str,
        key: str | None,
        headers: Mapping[str, str],
        json: Any = None,
        content: bytes | None = None,
    ) -> httpx2.Response:
        if self.sdk is None:
            return await Calls._send(self, method, path, key, headers, json, content)
        blame = self.blame(key)
        shown = bearer(key) if key or self.api_key else {"Authorization": self.sdk.omit}
        options = {"headers": {**_unread(headers), **shown}}
        try:
            if method == "GET":
                found: httpx2.Response = await self.official.get(path, cast_to=httpx2.Response, options=options)
            else:
                # Streamed, so that the SDK hands out the transport's own object before its body is read.
                found = await self.official.post(
                    path,
                    cast_to=httpx2.Response,
                    body=json,
                    content=content,
                    options=options,
                    stream=True,
                    stream_cls=self.sdk.AsyncStream[object],
                )
        except UnicodeEncodeError:
            raise blame.unsendable() from None
        except self.sdk.APIStatusError as error:
            raise blame.refused(int(error.status_code), error.body, error.response.headers) from error
        except self.sdk.APITimeoutError as error:
            raise blame.silent() from error
        except self.sdk.APIConnectionError as error:
            raise blame.unreachable(error) from error
        except self.transport_errors as error:
            raise self.failure(error) from error
        return found


def _unread(headers: Mapping[str, str]) -> dict[str, str]:
    """``headers`` with a form's type in other letters: the SDK, which reads small ones, would build the form anew."""
    return {
        name: value[:1].upper() + value[1:] if value.startswith("multipart/") else value
        for name, value in headers.items()
    }


async def open_calls(
    sdk: str, make: str, client: httpx2.AsyncClient, given: Mapping[str, Any], *, api_key: str | None, official: bool
) -> Calls:
    """The calls of a backend with the options ``given``, over ``client``.

    If ``official``, they go through the client ``make`` of the module ``sdk`` as soon as that was imported, by
    ``warm``; with the option ``sdk`` at once.
    """
    settings = {
        "client": client,
        "name": given["name"],
        "timeout": given["timeout"],
        "max_retries": given["max_retries"],
        "retry_seconds": given["retry_seconds"],
        "api_key": api_key,
    }
    if not official:
        return Calls(**settings)
    calls = SdkCalls(module=sdk, make=make, **settings)
    if given["sdk"]:
        await calls.warm()
    return calls
