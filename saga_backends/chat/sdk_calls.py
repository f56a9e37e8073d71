"""Calls through an official SDK, which contributes connection handling, error handling and up-to-date headers.

The SDKs of OpenAI and Anthropic share their design. Requests and replies stay plain JSON. The SDK's typed layer takes
135 ms for a prompt of 400 messages and 0.16 ms per chunk, instead of a few microseconds, and drops fields that it does
not know. The SDK's retries are off, because they would sleep as long as a provider asks while a player waits.

Importing an SDK takes up to a second. It is imported in advance, when no call waits for it. Until then, calls use the
HTTP client underneath, with the same requests and replies.
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
from saga_backends.chat.json_text import without_surrogates
from saga_backends.http_client import bearer

NO_KEY = "none"
"""A placeholder that an SDK requires. It is never sent."""


@define(eq=False, kw_only=True)
class SdkCalls(Calls):
    """Calls through the SDK once it is imported. ``client`` is the HTTP client underneath."""

    module: str
    make: str
    """The name of the SDK's client class in ``module``."""
    sdk: ModuleType | None = field(default=None, init=False)
    official: Any = field(default=None, init=False, repr=False)

    async def warm(self) -> None:
        """Import the SDK in a thread."""

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
                # Streamed, so that the SDK returns the response of the HTTP client before its body is read.
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
            said = without_surrogates(error.body)
            raise blame.refused(int(error.status_code), said, error.response.headers) from error
        except self.sdk.APITimeoutError as error:
            raise blame.silent() from error
        except self.sdk.APIConnectionError as error:
            raise blame.unreachable(error) from error
        except self.transport_errors as error:
            raise self.failure(error) from error
        return found


def _unread(headers: Mapping[str, str]) -> dict[str, str]:
    """Return ``headers`` with a capitalized multipart type. The SDK would rebuild a form whose type is lower-case."""
    return {
        name: value[:1].upper() + value[1:] if value.startswith("multipart/") else value
        for name, value in headers.items()
    }


async def open_calls(
    sdk: str, make: str, client: httpx2.AsyncClient, given: Mapping[str, Any], *, api_key: str | None, official: bool
) -> Calls:
    """Return the calls of a backend with the options ``given``, over ``client``.

    If ``official``, they use the client class ``make`` of the module ``sdk`` once ``warm`` has imported it. With the
    option ``sdk`` it is imported at once.
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
