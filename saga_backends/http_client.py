"""HTTP clients for providers, imported and created off the event loop."""

from __future__ import annotations

import asyncio
import codecs
import ipaddress
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from saga_backends.json_text import read_text, without_surrogates
from saga_backends.piece_pace import PiecePace
from saga_core.errors import BadInput, UpstreamError

if TYPE_CHECKING:
    import httpx2

_CONNECT_SECONDS = 10.0
_MOST_CONNECTIONS, _MOST_IDLE = 1_000, 100
_AGENT = "saga-rp"
MOST_BODY = 32 * 1_024 * 1_024
"""The maximum size, in bytes, of a response that is not streamed."""
_MOST_SAID = 1_024 * 1_024
"""How many bytes of an error response are read."""
_PACKED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that describe how a body was transferred. They do not apply to the decoded body."""
_CHARSETS = frozenset(
    "utf-8 ascii iso8859-1 iso8859-2 iso8859-15 cp1250 cp1251 cp1252 koi8-r euc_kr cp949 shift_jis cp932 euc_jp"
    " gb2312 gbk gb18030 big5 cp950".split()
)
"""Character encodings that can decode any bytes, in linear time. Punycode takes minutes for a megabyte."""
_EXAMPLE = "http://127.0.0.1:11434/v1"
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_PRIVATE_ENDS = (".local", ".localhost", ".localdomain", ".lan", ".internal", ".home.arpa")
"""Endings of host names that are never public."""
_SHARED = ipaddress.ip_network("100.64.0.0/10")
"""Addresses that carriers and overlay networks assign. Servers there are not public."""


T = TypeVar("T")


def bounded(client: type[T]) -> type[T]:
    """Return a subclass of ``client`` that limits the size of responses, so that they cannot fill the memory.

    ``client`` is the ``AsyncClient`` of httpx or httpx2, or a subclass of it. Responses that are not streamed are read
    here, in chunks. A success response above ``MOST_BODY`` raises ``UpstreamError``. Of an error response, only the
    beginning is read, even if streaming was requested. Text is decoded as UTF-8 unless the response names one of a few
    other encodings. All this also applies to responses that an SDK reads.
    """
    any_client: Any = client
    sends: Callable[..., Awaitable[Any]] = any_client.send

    @wraps(sends)
    async def send(self: Any, request: Any, *, stream: bool = False, **how: Any) -> Any:
        response = await sends(self, request, stream=True, **how)
        response.encoding = _charset(response.charset_encoding or "")
        if stream and response.is_success:
            return response
        try:
            body = await (body_of(response) if response.is_success else _beginning(response))
        finally:
            await response.aclose()
        # As bytes: a header that is not ASCII could not be encoded again.
        headers = [pair for pair in response.headers.raw if pair[0].lower().decode("latin-1") not in _PACKED]
        read: Any = type(response)(
            response.status_code, headers=headers, content=body, request=request, extensions=response.extensions
        )
        read.encoding = response.encoding
        return read

    return type(f"Bounded{client.__name__}", (client,), {"send": send})


def is_local(address: str) -> bool:
    """Whether a base URL is on this machine or a private network, judged by its IP address or non-public host name."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    found = _ip_address(host)
    if found is None:
        return bool(host) and ("." not in host or host.endswith(_PRIVATE_ENDS))
    if isinstance(found, ipaddress.IPv4Address) and found in _SHARED:
        return True
    return found.is_loopback or found.is_private or found.is_link_local


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is written as, also in a short form such as ``127.1``; None for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeEncodeError):
        return None


async def open_http(base_url: str, timeout: float, headers: Mapping[str, str]) -> httpx2.AsyncClient:
    """Open a client for ``base_url`` that sends ``headers`` with each call.

    ``timeout`` is the longest wait for the next bytes, in seconds. Redirects are not followed. Cookies are not kept,
    because those from one player's call would be sent with the next player's call. The client is created in a thread:
    loading the trusted certificates takes 40 ms and 3 MB, and importing the network layer takes as much again. For
    plain HTTP, no certificates are loaded. A local address is never asked through a proxy; for any other, the variables
    of the environment hold. Raises ``BadInput`` if ``base_url`` is not a valid URL, or if their proxy cannot be used.
    """

    def opened() -> httpx2.AsyncClient:
        import anyio
        import httpx2

        anyio.run(anyio.sleep, 0)
        try:
            urlsplit(base_url)  # rejects unmatched brackets, which httpx2 would take for a host name
            address = httpx2.URL(base_url)
        except (httpx2.InvalidURL, ValueError) as error:
            raise BadInput(f"options.base_url: {base_url} is no URL ({error}); give one such as {_EXAMPLE}") from None
        trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if address.scheme == "http" else True
        limits = httpx2.Limits(max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_IDLE)
        direct = httpx2.AsyncHTTPTransport(verify=trusted, limits=limits) if is_local(base_url) else None
        try:
            return bounded(httpx2.AsyncClient)(
                base_url=address,
                headers={"Accept": "application/json", "User-Agent": _AGENT, **headers},
                timeout=httpx2.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout)),
                limits=limits,
                follow_redirects=False,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                verify=trusted,
                transport=direct,
            )
        except (httpx2.InvalidURL, ValueError, ImportError) as error:
            raise BadInput(_bad_proxy(address.host, error)) from error

    return await asyncio.to_thread(opened)


def _bad_proxy(host: str, error: Exception) -> str:
    """Return what to do about a proxy in the environment that cannot be used for ``host``."""
    given = [name for name in (*_PROXIES, *map(str.lower, _PROXIES)) if os.environ.get(name)]
    return (
        f"{' or '.join(given) or 'the proxy'}: this proxy cannot be used for {host} ({error}); write "
        f"http://ADDRESS:PORT, or socks5h://ADDRESS:PORT and install socksio (pip install socksio), or list {host} in "
        "NO_PROXY"
    )


def bearer(key: str | None) -> dict[str, str]:
    """The authorization header for ``key``, or no headers if ``key`` is empty or None."""
    return {"Authorization": f"Bearer {key}"} if key else {}


async def body_of(response: httpx2.Response, most: int = MOST_BODY) -> bytes:
    """Read and decode the body in chunks. Raises ``UpstreamError`` as soon as it exceeds ``most`` bytes."""
    found = await _beginning(response, most + 1)
    if len(found) > most:
        raise UpstreamError(f"{response.url.host} answered with more than {most >> 20} MB")
    return found


async def refusal(response: httpx2.Response) -> Any:
    """Return the JSON body of an error response, or the beginning of its text. Closes the response."""
    try:
        text = (await _beginning(response)).decode(response.encoding or "utf-8", errors="replace").strip()
    finally:
        await response.aclose()
    try:
        return without_surrogates(read_text(text))
    except ValueError:
        return text


def _charset(name: str) -> str:
    """Return the encoding called ``name`` if it is one of ``_CHARSETS``, and UTF-8 otherwise."""
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return "utf-8"
    return known if known in _CHARSETS else "utf-8"


async def _beginning(response: Any, most: int = _MOST_SAID) -> bytes:
    found, pace = bytearray(), PiecePace()
    async for chunk in response.aiter_bytes():
        await pace.piece()
        found += chunk
        if len(found) >= most:
            break
    return bytes(found[:most])
