"""HTTP clients for providers, imported and made off the event loop.

At the addresses of OpenAI and Anthropic their official SDKs go on top (``chat.sdk_calls``). The many servers that only
speak like them are asked through the bare client: importing an SDK takes 0.3 (OpenAI) to 0.8 seconds (Anthropic) and 20
to 45 MB.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from saga_core.errors import BadInput, UpstreamError

if TYPE_CHECKING:
    import httpx2

_CONNECT_SECONDS = 10.0
_MOST_CONNECTIONS, _MOST_IDLE = 1_000, 100
_AGENT = "saga-rp"
MOST_BODY = 32 * 1_024 * 1_024
"""Bytes of an answer in one piece."""
_MOST_SAID = 1_024 * 1_024
"""Bytes of a refusal that are read."""
_PACKED = ("content-encoding", "content-length", "transfer-encoding")
"""What tells how a body was sent, and no longer fits one that was unpacked."""
_EXAMPLE = "http://127.0.0.1:11434/v1"


T = TypeVar("T")


def bounded(client: type[T]) -> type[T]:
    """A class of asynchronous HTTP clients, by whose answers nobody's memory is filled.

    What is not streamed is read here, as it comes: an answer up to ``MOST_BODY``, beyond which it is an
    ``UpstreamError``, and of a refusal the beginning. So it is with what an official SDK reads by itself.
    ``client``: an ``AsyncClient`` of httpx or httpx2, or of that kind.
    """
    any_client: Any = client
    sends: Callable[..., Awaitable[Any]] = any_client.send

    @wraps(sends)
    async def send(self: Any, request: Any, *, stream: bool = False, **how: Any) -> Any:
        response = await sends(self, request, stream=True, **how)
        if stream and response.is_success:
            return response
        try:
            body = await (body_of(response) if response.is_success else _beginning(response))
        finally:
            await response.aclose()
        headers = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _PACKED]
        read: Any = type(response)(
            response.status_code, headers=headers, content=body, request=request, extensions=response.extensions
        )
        return read

    return type(f"Bounded{client.__name__}", (client,), {"send": send})


async def open_http(base_url: str, timeout: float, headers: Mapping[str, str]) -> httpx2.AsyncClient:
    """A client for ``base_url``, a provider's ``timeout`` in seconds from byte to byte, with ``headers`` on each call.

    It goes where its settings say and nowhere else: no redirect is followed. It keeps no cookies, for those that one
    player's call was given would go out with the next one's. Made beside the loop: the certificates
    that it trusts take 40 ms and 3 MB, and what the first call imports of the network layer as much again. One that
    speaks plain HTTP loads none, and trusts nobody. Raises ``BadInput`` for an address that is none.
    """

    def opened() -> httpx2.AsyncClient:
        import anyio
        import httpx2

        anyio.run(anyio.sleep, 0)
        try:
            urlsplit(base_url)  # the library takes brackets that do not match for a name
            address = httpx2.URL(base_url)
        except (httpx2.InvalidURL, ValueError) as error:
            raise BadInput(f"options.base_url: {base_url} is no URL ({error}); give one such as {_EXAMPLE}") from None
        return bounded(httpx2.AsyncClient)(
            base_url=address,
            headers={"Accept": "application/json", "User-Agent": _AGENT, **headers},
            timeout=httpx2.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout)),
            limits=httpx2.Limits(max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_IDLE),
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if address.scheme == "http" else True,
        )

    return await asyncio.to_thread(opened)


def bearer(key: str | None) -> dict[str, str]:
    """The headers that show ``key``; none without one."""
    return {"Authorization": f"Bearer {key}"} if key else {}


async def body_of(response: httpx2.Response, most: int = MOST_BODY) -> bytes:
    """The body, unpacked as it comes. Raises ``UpstreamError`` as soon as it has more than ``most`` bytes."""
    found = bytearray()
    async for chunk in response.aiter_bytes():
        found += chunk
        if len(found) > most:
            raise UpstreamError(f"{response.url.host} answered with more than {most >> 20} MB")
    return bytes(found)


async def refusal(response: httpx2.Response) -> Any:
    """What an error status came with: the JSON, else the beginning of the text. The response is closed."""
    try:
        text = (await _beginning(response)).decode(response.encoding or "utf-8", errors="replace").strip()
    finally:
        await response.aclose()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


async def _beginning(response: Any) -> bytes:
    found = bytearray()
    async for chunk in response.aiter_bytes():
        found += chunk
        if len(found) > _MOST_SAID:
            break
    return bytes(found[:_MOST_SAID])
