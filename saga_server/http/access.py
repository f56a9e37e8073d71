"""Who may come in: keys, the Host header and browser origins, and how often a request without a key is refused.

Refusing a request takes about a millisecond, so a program that asks a thousand times a second would block the server.
Refusals are therefore delayed, by client address. Requests with a valid key are never delayed, not even behind a proxy
that gives all requests one address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from aiohttp import web
from aiohttp.typedefs import Handler
from attrs import define, evolve, field

from saga_core.config import ServerConfig
from saga_core.errors import SagaError, StoreError, StoreUnavailable
from saga_server.http.app_keys import CURRENT, SAGA
from saga_server.http.bodies import BODY, packing, receive, unpacked
from saga_server.http.callers.identity import BEARER, KEY_REQUIRED, Bearer, read_bearer
from saga_server.http.callers.redaction import redact
from saga_server.http.cpu_shares import FAIR_SHARES, LARGE, LARGE_FILE, LARGE_REQUESTS, SHARE, charged, leave
from saga_server.http.door import DOORS, PLACE, Place
from saga_server.http.errors import RequestError
from saga_server.http.held_bytes import HELD_BYTES, HOLDING, Holding
from saga_server.http.json_body import values_weigh
from saga_server.http.open_connections import CONNECTIONS, Paced, network_of
from saga_server.process import is_loopback
from saga_server.tenancy import Tenancy, tenancy_of

if TYPE_CHECKING:
    from saga_server.hosting import Keyring

_log = logging.getLogger("saga.http")

_ORIGIN: Final = web.RequestKey("origin", str)

_PRIVATE = (".internal", ".local", ".lan", ".home.arpa", ".localhost")
"""Domains that cannot be registered publicly."""

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+(?:%[\w.~-]+)?\]|[^\s\[\]:@/?#\\,]+)(?::[0-9]{1,5})?", re.IGNORECASE)
"""A host name or address with an optional port. A user, a path or anything similar does not match."""

_OPEN = frozenset({"/", "/healthz", "/readyz"})
_EXPOSED = (
    "X-SAGA-Session, X-SAGA-Turn, X-SAGA-Parent, X-SAGA-Context-Ms, X-SAGA-Late, X-SAGA-Silent, X-SAGA-Notice,"
    " X-SAGA-Tokens, X-SAGA-Cost, X-SAGA-Cost-Without, X-Request-ID, Retry-After, ETag"
)


@web.middleware
async def check_access(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let a request through or refuse it, by the current settings. A middleware."""
    server = request.app[CURRENT].config.server
    place = request.app[DOORS].find(request.rel_url.raw_path, request.method)
    if place is not None:
        request[PLACE] = place
    page = _is_page(request)
    admin = place.door.admin if place is not None else request.path not in _OPEN
    _check_host(request, server, admin)
    _check_origin(request, server, admin)
    if request.method == "OPTIONS":
        return _preflight(request)
    tenancy = tenancy_of(request.app[SAGA])
    request[KEY_REQUIRED] = wanted = bool(server.api_keys) or tenancy.keyed
    bearer = _bearer(request, place)
    if wanted and request.path not in _OPEN and not page:
        try:
            bearer = _checked(bearer, server, await _keyring(tenancy, bearer, server), admin)
        except RequestError as refusal:
            if refusal.status == 401:  # a valid key without the permission (403) is not delayed
                await _held_up(request)
            raise
    elif wanted:
        bearer = evolve(bearer, role="chat")  # the key was not checked
    request[BEARER] = bearer
    if request.path in _OPEN or page:
        return await _handled(request, handler, place, receives=False)
    request.app[CONNECTIONS].knows(cast(Paced, request.protocol), _owner(request))
    if not wanted:
        return await _handled(request, handler, place)
    account = await request.app[FAIR_SHARES].enter(bearer.owner)
    return await charged(_handled(request, handler, place), account)


async def _handled(
    request: web.Request, handler: Handler, place: Place | None, *, receives: bool = True
) -> web.StreamResponse:
    """Receive the request's body, and call the handler when the body may be read.

    The body of a request that needs no key is not read, so that no stranger makes SAGA wait for one.
    """
    bearer, owner = request[BEARER], _owner(request)
    request[HOLDING] = holding = Holding(request.app[HELD_BYTES], owner)
    try:
        request[BODY] = await receive(request, holding) if receives else b""
        if request[BODY] and _takes_turns(request, len(request[BODY]), place):
            request[SHARE] = await request.app[LARGE_REQUESTS].enter(owner)
        # Handlers read the unpacked body from ``BODY``.
        request[BODY] = await unpacked(request, request[BODY], holding)
        holding.more(await values_weigh(request[BODY]))
        return await handler(request)
    except SagaError as error:
        if bearer.role == "admin" or (redacted := redact(error)) is error:
            raise
        raise redacted from error
    finally:
        leave(request)
        holding.now(0)


def _owner(request: web.Request) -> str:
    """Whose queues and bytes a request counts to. Without required keys a client can send any key, so all clients
    share them."""
    return request[BEARER].owner if request[KEY_REQUIRED] else ""


def _bearer(request: web.Request, place: Place | None) -> Bearer:
    """Return the key in the Authorization header, in that of Anthropic's or Google's clients, or in the query.

    Two Authorization headers are refused, because a proxy may have checked the other one.
    """
    found = request.headers.getall("Authorization", [])
    if len(found) > 1:
        raise RequestError(f"Authorization: {len(found)} such headers; send one", param="Authorization")
    key = request.headers.get("X-Api-Key") or request.headers.get("X-Goog-Api-Key")
    if not key and place is not None and place.door.key_in_query:
        key = request.query.get("key")
    return read_bearer(found[0] if found and found[0] else f"Bearer {key or ''}")


async def _keyring(tenancy: Tenancy, bearer: Bearer, server: ServerConfig) -> Keyring | None:
    """Return the stored keys; None if they cannot be read, and the request does not depend on them.

    Raises ``StoreError`` without its reason, because nobody knows yet who asks.
    """
    of_file = bearer.among(server.api_keys) or bearer.among(server.chat_keys)
    needed = not of_file and (bool(bearer.key) or not server.api_keys)  # else no key at all is refused as ever
    keyring, reason = None, None
    try:
        keyring = (await tenancy.bring_in()).keys
    except StoreError as error:
        reason = error
    if needed and (keyring is None or not keyring.known):
        raise StoreUnavailable(
            "the keys cannot be read; whoever keeps this server finds the reason in its log"
        ) from reason
    return keyring


def _checked(bearer: Bearer, server: ServerConfig, keyring: Keyring | None, admin: bool) -> Bearer:
    """Return the bearer with its role. Raises ``RequestError`` if the key is missing, unknown or may not do this.

    A key of ``server.api_keys`` is an admin key, one of ``server.chat_keys`` may only chat. Other keys have the role
    of their record. The table of admin endpoints says which of them a player may use.
    """
    if bearer.among(server.api_keys):
        return evolve(bearer, role="admin")
    if bearer.among(server.chat_keys):
        known = evolve(bearer, role="chat")
    else:
        record = keyring.find(bearer.key) if bearer.key and keyring is not None else None
        if record is None:
            raise RequestError(
                "this server wants one of its keys as bearer token: of server.api_keys, or one that saga keys made",
                status=401,
                kind="authentication_error",
                code="invalid_api_key",
            )
        known = evolve(bearer, record=record, role=record.role)
    if admin and known.role == "chat":
        raise RequestError(
            "this key may chat; administration wants one of server.api_keys", status=403, kind="permission_error"
        )
    return known


async def _held_up(request: web.Request) -> None:
    """Delay the refusal of a request without a valid key.

    If too many requests of the address are waiting, the connection is closed.
    """
    if not await request.app[REFUSALS].wait(request.remote):
        request.app[SAGA].counters.add("refusals.unanswered")
        if request.transport is not None:
            request.transport.abort()


def _takes_turns(request: web.Request, size: int, place: Place | None) -> bool:
    """Whether a request with a body of ``size`` bytes goes through the queue of large requests.

    Without keys, requests to the admin API do not queue, because an import cannot hold up other users.
    """
    if packing(request):
        return True
    return size >= LARGE if place is not None else request[KEY_REQUIRED] and size >= LARGE_FILE


def _is_page(request: web.Request) -> bool:
    """Whether the request is for a file of the web pages. They hold nothing of a story and ask for the key."""
    return request.method in ("GET", "HEAD") and (request.path == "/ui" or request.path.startswith("/ui/"))


def _check_host(request: web.Request, server: ServerConfig, admin: bool) -> None:
    """Refuse a foreign Host header, which a page of another site sends after DNS rebinding.

    Chat also accepts names that other machines and containers use for this one, if they cannot be registered publicly.
    A request line with another host is refused, too, because a proxy may have judged by the other one.
    """
    target, host = request.raw_path, request.headers.get("Host", "")
    named = target.partition("://")[2].partition("/")[0]
    if not target.startswith(("/", "*")) and named.lower() != host.lower():
        raise RequestError(f"Host: {host[:80]!r} is not the host of the request line, {named[:80]!r}", param="Host")
    if server.api_keys and request.host and not _host_of(request.host):
        raise RequestError(f"Host: {request.host[:80]!r} is no name with or without a port", param="Host")
    if server.api_keys or request.path in _OPEN:
        return
    if not _is_ours(request.host, server) and (admin or _is_public(request.host)):
        raise RequestError(
            f"Host: {request.host!r} is not this server's name; address it as 127.0.0.1 or localhost, or set "
            "server.api_keys",
            param="Host",
            status=403,
            kind="permission_error",
        )


def _is_ours(authority: str, server: ServerConfig) -> bool:
    host = _host_of(authority)
    return bool(host) and (is_loopback(host) or host == server.host.strip("[]").lower())


def _is_public(authority: str) -> bool:
    """Whether a name can be registered publicly, so that its owner could make it point to this server."""
    host = _host_of(authority).rstrip(".")
    if not host:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." in host and not host.endswith(_PRIVATE)
    return False


def _host_of(authority: str) -> str:
    """Return the host name or address in lower case; empty if ``authority`` is not valid."""
    found = _AUTHORITY.fullmatch(authority)
    return found[1].strip("[]").lower() if found else ""


def _check_origin(request: web.Request, server: ServerConfig, admin: bool) -> None:
    origin = ", ".join(request.headers.getall("Origin", []))  # two headers never match an allowed origin
    if "Origin" not in request.headers:
        led_here = _is_page(request) and request.headers.get("Sec-Fetch-Dest") == "document"
        if request.headers.get("Sec-Fetch-Site") == "cross-site" and request.path not in _OPEN and not led_here:
            raise RequestError(
                "Sec-Fetch-Site: a page of another site asks, and does not say which; it may not use this",
                param="Sec-Fetch-Site",
                status=403,
                kind="permission_error",
            )
        return
    if not _may(origin.lower(), request, server, admin):
        raise RequestError(
            f"Origin: pages of {origin} may not use this; add the origin to server.origins to allow it",
            param="Origin",
            status=403,
            kind="permission_error",
        )
    request[_ORIGIN] = origin


def _may(origin: str, request: web.Request, server: ServerConfig, admin: bool) -> bool:
    """Whether pages of ``origin`` may use the endpoint.

    Configured origins and this server's own pages may use everything; other pages of this machine may only chat.
    """
    if origin in server.origins:
        return True
    authority = origin.partition("://")[2]
    if not admin and ("*" in server.origins or is_loopback(_host_of(authority))):
        return True
    if request.headers.get("Sec-Fetch-Site") == "same-origin":
        # The browser confirms the same origin, although Host may differ behind a reverse proxy.
        return is_loopback(_host_of(authority)) or bool(server.api_keys)
    if not authority or authority != request.host.lower():
        return False
    return _is_ours(request.host, server) or bool(server.api_keys)  # a page of another site has no key


def _preflight(request: web.Request) -> web.Response:
    headers = {
        "Access-Control-Allow-Methods": "GET, POST, DELETE, OPTIONS",
        "Access-Control-Allow-Headers": request.headers.get("Access-Control-Request-Headers", "*"),
        "Access-Control-Max-Age": "600",
    }
    if request.headers.get("Access-Control-Request-Private-Network") == "true":
        headers["Access-Control-Allow-Private-Network"] = "true"
    return web.Response(status=204, headers=headers)


async def share_with_origin(request: web.Request, response: web.StreamResponse) -> None:
    """Add the CORS headers, also to errors. A signal handler of ``on_response_prepare``.

    Also sets ``nosniff``, so that a browser never shows the text of a story as a web page.
    """
    response.headers["X-Content-Type-Options"] = "nosniff"
    origin = request.get(_ORIGIN)
    if origin is not None:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        packed = response.headers.get("Vary")
        response.headers["Vary"] = f"{packed}, Origin" if packed else "Origin"


# -- refusals --------------------------------------------------------------------------------------------------

_AT_ONCE = 50
"""Refusals that an address gets without delay. A page that opens with a wrong key sends thirty requests."""
_A_SECOND = 10.0
"""Refusals per second after that."""
_LONGEST = 5.0
"""The longest delay of a refusal in seconds. A request that would have to wait longer gets no reply."""
_ADDRESSES = 10_000


def _now() -> float:
    return asyncio.get_running_loop().time()


@define(eq=False)
class Refusals:
    """Delays refusals, by client address."""

    now: Callable[[], float] = _now
    _free_at: dict[str, float] = field(factory=dict, init=False)
    """By address: the time of its last scheduled refusal."""
    _unanswered: set[str] = field(factory=set, init=False)
    """Addresses whose last request got no reply. Each is logged once."""

    async def wait(self, address: str | None) -> bool:
        """Wait until ``address`` may be refused. Return false at once if too many of its requests are waiting."""
        now, whose = self.now(), network_of(address)
        if len(self._free_at) > _ADDRESSES:
            self._free_at = {other: free_at for other, free_at in self._free_at.items() if free_at > now}
            self._unanswered &= self._free_at.keys()
        free_at = max(self._free_at.get(whose, -math.inf), now - _AT_ONCE / _A_SECOND) + 1 / _A_SECOND
        if free_at - now > _LONGEST:
            if whose not in self._unanswered:
                self._unanswered.add(whose)
                _log.warning("%s asks again and again without a key of this server; some of it is not answered", whose)
            return False
        self._free_at[whose] = free_at
        self._unanswered.discard(whose)
        if free_at > now:
            await asyncio.sleep(free_at - now)
        return True


REFUSALS: Final = web.AppKey("refusals", Refusals)
