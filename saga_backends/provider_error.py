"""Turns failures of a provider into ``UpstreamError`` with a helpful message that contains no API keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from unicodedata import normalize

from attrs import field, frozen

from saga_core.errors import UpstreamError

OVERLOADED = 529
"""The status with which Anthropic reports an overloaded API. It is not a standard HTTP status."""

_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]+)?\Z")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key|gsk|xai|AIza)-?(?:[A-Za-z0-9*_-]|%[0-9A-Fa-f]{2}){8,}")
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
    OVERLOADED: "overloaded_error",
}
_STATUS = (
    (429, re.compile("rate_?limit|too_many|resource_?exhausted|quota")),
    (401, re.compile("authentication|unauthenticated|unauthorized|api_key")),
    (402, re.compile("billing|payment|balance")),
    (403, re.compile("permission|forbidden")),
    (404, re.compile("not_?found")),
    (413, re.compile("too_large")),
    (OVERLOADED, re.compile("overload")),
    (503, re.compile("unavailable")),
    (504, re.compile("timeout|deadline")),
    (400, re.compile("invalid_request|invalid_?argument|bad_?request|context_(?:length|size|window)|badrequest")),
    (500, re.compile("api_error|server_?error|internal")),
)
"""The status for an error inside a reply, by words in its type or code."""
_NUMBERS = ("code", "status", "status_code", "statusCode", "http_status", "http_code")
_WORDS = ("message", "msg", "detail", "error_message", "error_msg", "status_msg", "error")
_KIND = re.compile(r"[A-Za-z][A-Za-z_.]{0,59}")
_TITLE = re.compile(r"<title[^<>]*>([^<]{1,2000})</title>", re.IGNORECASE)
_NUMBER_OF_PAGE = re.compile(r"(?<![\w.:-])[45][0-9]{2}(?![\w.-])")
_FINE = (None, "", 0, 200, "0", "200", "ok", "success")
_WRONG_KEY = "API_KEY_INVALID"
"""The reason that Google gives with status 400 for a wrong key. Other providers answer 401."""
_PASSING = (408, 409, 425, 429)
_BREAK = r"\s\u00ad\u061c\u180e\u200b-\u2015\u2028-\u202f\u2060-\u206f\ufeff-"
"""White space, invisible characters and hyphens, which may stand inside a key that a provider quotes."""
_CUT = r"(?<![.*\u2022])[.*\u2022]{2,}+"
"""What stands for the middle of a key that is quoted in short."""
_LONG = 8
"""The number of characters from which a key is also hidden inside a longer word."""
_SHOWN = 4
"""The number of characters at an end of a key by which a short form of it is known."""
_SPENT = ("insufficient_quota", "billing_hard_limit_reached")


@frozen
class Blame:
    """Builds errors for the failures of one provider. ``secrets`` never appear in the messages."""

    name: str
    """The provider's name in the configuration."""
    host: str
    timeout: float
    secrets: Sequence[str] = field(default=(), repr=False)
    section: str = ""
    """Where the provider's settings are; without it, they are in ``providers``."""
    remedies: Mapping[int, str] = field(factory=dict)
    """What to do about a status, where that differs from what is usual."""
    retries_silence: bool = False
    """Whether a timeout counts as a failure that passes."""

    @property
    def _at(self) -> str:
        return self.section or f"providers.{self.name}"

    def refused(self, status: int, body: Any, headers: Mapping[str, str]) -> UpstreamError:
        """The error for a response with an error status."""
        about = _about(body)
        said = self._quoted(_said(about, body))
        kind, details = about.get("type"), _details(about)
        if any(each.get("reason") == _WRONG_KEY for each in details):
            status = 401
        wish = headers.get("x-should-retry")
        passing = (status in _PASSING or status >= 500) if wish not in ("true", "false") else wish == "true"
        if 300 <= status < 400:
            said = f"it sends requests on to {self._quoted(headers.get('location', '').partition('?')[0] or 'nowhere')}"
        return UpstreamError(
            f"{self.host} answered {status}{f' ({said})' if said else ''}; {self._remedy(status)}",
            status=shown_status(status),
            kind=self._kind(kind, _KINDS.get(status, "upstream_error")),
            retry_after=_retry_after(headers, details, about),
            passing=passing and not _is_spent(about),
        )

    def reported(self, error: Any) -> UpstreamError:
        """The error for a failure reported inside a reply."""
        about = error if isinstance(error, Mapping) else {"message": error}
        status, kind = _status(about), about.get("type")
        words = self._quoted(_said(about, about))
        return UpstreamError(
            f"{self.host} reported: {words or 'an error without a message'}",
            status=shown_status(status),
            kind=self._kind(kind, "upstream_error"),
            retry_after=_retry_after({}, _details(about), about),
            passing=(status in _PASSING or status >= 500) and not _is_spent(about),
        )

    def _kind(self, told: Any, otherwise: str) -> str:
        """The provider's kind of error; ``otherwise`` if it told none, no word, or a key or a part of it."""
        if not isinstance(told, str) or not _KIND.fullmatch(told) or self.hide(told) != told:
            return otherwise
        return otherwise if any(told.casefold() in secret.casefold() for secret in self.secrets) else told

    def _quoted(self, text: str) -> str:
        """A provider's text for an error message. Keys are hidden before it is cut, so that no part of one is left."""
        return shorten(self.hide(text))

    def silent(self) -> UpstreamError:
        """The error for a timeout."""
        return UpstreamError(
            f"{self.host} did not answer in time; {self._at}.timeout is {self.timeout:g} seconds",
            status=504,
            kind="upstream_timeout",
            passing=self.retries_silence,
        )

    def without_content(self, times: int) -> UpstreamError:
        """The error for a provider that only gave signs of life for ``times`` timeouts."""
        return UpstreamError(
            f"{self.host} sent nothing of a reply for {times} times as long as it may be silent; is it overloaded? "
            f"{self._at}.timeout is {self.timeout:g} seconds",
            status=504,
            kind="upstream_timeout",
        )

    def unreachable(self, error: Exception) -> UpstreamError:
        """The error for a connection that cannot be made."""
        why = self._quoted(str(error.__cause__ or error)) or "no connection"
        return UpstreamError(
            f"cannot reach {self.host} ({why}); is it running, and is {self._at}.base_url right?",
            kind="upstream_unreachable",
            passing=True,
        )

    def unsendable(self) -> UpstreamError:
        """The error for a key with characters that an HTTP header cannot carry."""
        return UpstreamError(
            f"the key for {self.host} holds characters other than ASCII, which no request can carry; check the key: "
            f"providers.{self.name}.api_key, api_keys.{self.name}, the environment, or the frontend's",
            status=401,
            kind="authentication_error",
        )

    def broken(self, error: Exception) -> UpstreamError:
        """The error for a connection that ended in the middle of a reply."""
        return UpstreamError(f"{self.host} broke off its reply ({type(error).__name__})", passing=True)

    def unended(self, noise: str = "") -> UpstreamError:
        """The error for a reply whose end is missing. ``noise`` is what else the provider sent last."""
        last = f"; the last that it sent is {self._quoted(noise)!r}" if noise.strip() else ""
        return UpstreamError(f"{self.host} ended its reply in the middle{last}", passing=True)

    def gave_up(self, reason: str) -> UpstreamError:
        """The error for a reply that ends because the provider failed, for the ``reason`` that it tells."""
        return UpstreamError(f"{self.host} broke off its reply ({self._quoted(reason)})", passing=True)

    def page(self, page: str = "") -> UpstreamError:
        """The error for a web page instead of a reply. A gateway's tells in its title what failed."""
        title = self._quoted(found[1]) if (found := _TITLE.search(page)) else ""
        if number := _NUMBER_OF_PAGE.search(title):
            status = int(number[0])
            return UpstreamError(
                f"{self.host} answered with a web page ({title}); {self._remedy(status)}",
                status=shown_status(status),
                kind=_KINDS.get(status, "upstream_error"),
                passing=status in _PASSING or status >= 500,
            )
        return UpstreamError(
            f"{self.host} answered with a web page, not with a completion; is {self._at}.base_url right? "
            "For the OpenAI API it usually ends in /v1"
        )

    def hide(self, text: str) -> str:
        """Return ``text`` with all keys replaced by ``(key)``."""
        found = plain = normalize("NFKC", text)  # letters of full width are letters
        for secret in self.secrets:
            letters = re.sub(f"[{_BREAK}]", "", secret)
            if len(letters) < _LONG:  # a placeholder such as "x", which occurs inside many words
                found = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "(key)", found)
                continue
            first, last = re.escape(secret[:_SHOWN]), re.escape(secret[-_SHOWN:])
            short = rf"(?<!\w){first}[\w-]{{0,99}}{_CUT}[\w-]{{0,99}}|{_CUT}[\w-]{{0,99}}{last}(?!\w)"
            whole = f"[{_BREAK}]*".join(map(re.escape, letters))
            found = re.sub(f"{whole}|{short}", "(key)", found, flags=re.IGNORECASE)
        found = _KEY_LIKE.sub("(key)", found)
        return text if found == plain else found

    def _remedy(self, status: int) -> str:
        if status in self.remedies:
            return self.remedies[status]
        if status < 400:
            return f"no redirect is followed; if it is right, give its address as {self._at}.base_url"
        if status in (401, 403):
            return f"check the key: providers.{self.name}.api_key, api_keys.{self.name} or the environment"
        if status == 402:
            return "the account has no credit"
        if status in (404, 405):
            return f"check the model's name, and {self._at}.base_url, which usually ends in /v1"
        if status == 429:
            return "wait, or use another model"
        if status >= 500:
            return "the provider is in trouble; try again later"
        return "the provider does not take this request"


def shown_status(status: int) -> int:
    """Return the status to send to our client for a provider's ``status``.

    Client errors (4xx), 503 and 504 are kept, 529 becomes 503, and all others become 502.
    """
    if status == OVERLOADED:
        return 503
    return status if 400 <= status < 500 or status in (503, 504) else 502


def shorten(text: str) -> str:
    """Return ``text`` on one line of visible characters, cut to at most 300. Others, such as those that turn the
    direction of a text or control a terminal, become U+FFFD."""
    line = " ".join(text.split())
    line = line if line.isprintable() else "".join(each if each.isprintable() else "\ufffd" for each in line)
    return line if len(line) <= 300 else line[:297] + "..."


def masked(value: Any, mask: Callable[[str], str]) -> Any:
    """Return plain data with every text masked: reasons may quote what a provider said."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {name: masked(part, mask) for name, part in value.items()}
    return [masked(part, mask) for part in value] if isinstance(value, list | tuple) else value


_REASONS = ("refusal", "finishReason", "finishMessage", "promptFeedback")


def masked_reasons(fields: Mapping[str, Any], mask: Callable[[str], str]) -> Mapping[str, Any]:
    """Return fields of a reply with a provider's reasons masked. Its ratings, citations and grounding stay."""
    about = fields.get("google")
    found = {name: masked(value, mask) if name in _REASONS else value for name, value in fields.items()}
    return {**found, "google": masked_reasons(about, mask)} if isinstance(about, Mapping) else found


def error_in(value: Mapping[str, Any], shape: Sequence[str]) -> Any:
    """Return the error that an event or a whole body of a provider holds, or None.

    It is under ``error``, there or in a choice. Or it is the value itself, or an object in it, if that has a message
    and there are none of the fields of a reply. ``shape`` are the names of these fields; the first may hold choices.
    """
    error = value.get("error")
    if error:
        beside = {name: value[name] for name in _NUMBERS if value.get(name) not in _FINE}
        return {**beside, **(error if isinstance(error, Mapping) else {"message": error})}
    if value.get("type") == "error":
        return value
    if any(value.get(name) for name in shape):
        choices = value.get(shape[0])
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("error"):
                return choice["error"]
        return None
    if not any(_is_said(value.get(name)) for name in _WORDS):
        return next((error for inner in value.values() if (error := _inner(inner)) is not None), None)
    kinds = f"{value.get('type')} {value.get('object')}".lower()
    failed = any(value.get(name) not in _FINE for name in _NUMBERS) or value.get("success") is False
    return value if failed or "error" in kinds or "exception" in kinds or value.get("detail") else None


def _inner(inner: Any) -> Any:
    """The error in a field that a provider has for itself, such as Groq's ``x_groq`` and MiniMax's ``base_resp``."""
    if not isinstance(inner, Mapping):
        return None
    failed = inner.get("error") or any(inner.get(name) not in _FINE for name in _NUMBERS)
    return inner if failed and any(_is_said(inner.get(name)) for name in _WORDS) else None


def _is_said(words: Any) -> bool:
    return isinstance(words, str | list) and bool(words)


def _about(body: Any) -> Mapping[str, Any]:
    """Return the error object: the body itself, or its ``error`` field. Google may wrap it in a list."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    return body if isinstance(body, Mapping) else {}


def _said(about: Mapping[str, Any], body: Any) -> str:
    """Return the provider's error message, or an empty text if the body is a web page."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    message = next((about[name] for name in _WORDS if about.get(name)), "")
    said = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
    if type(about.get("n_ctx")) is int and "n_ctx" not in said:  # llama.cpp may tell the sizes beside its words only
        said = f"{said} (n_prompt_tokens {about.get('n_prompt_tokens')}, n_ctx {about['n_ctx']})"
    behind = about.get("metadata")  # where OpenRouter keeps what the provider behind it said
    raw = behind.get("raw") if isinstance(behind, Mapping) else None
    return f"{said}: {raw}" if isinstance(raw, str) and raw else said


def _status(about: Mapping[str, Any]) -> int:
    """Return the HTTP status of an error that came inside a reply; 502 if it has none."""
    for name in _NUMBERS:
        number = about.get(name)
        if isinstance(number, str) and number.isascii() and number.isdecimal() and len(number) == 3:
            number = int(number)
        if type(number) is int and 400 <= number <= 599:
            return number
    kinds = " ".join(str(about.get(name)) for name in ("type", *_NUMBERS)).lower()
    return next((status for status, words in _STATUS if words.search(kinds)), 502)


def _is_spent(about: Mapping[str, Any]) -> bool:
    """Whether the account has no credit left, so that waiting does not help."""
    return about.get("type") in _SPENT or about.get("code") in _SPENT


def _details(about: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the ``details`` that Google adds to an error."""
    details = about.get("details")
    return [each for each in details if isinstance(each, Mapping)] if isinstance(details, list) else []


def _retry_after(
    headers: Mapping[str, str], details: Sequence[Mapping[str, Any]], about: Mapping[str, Any]
) -> float | None:
    """Return the seconds that the provider asks us to wait.

    It says so in a header (``retry-after-ms`` or ``retry-after``), in a field of the error, or in Google's details.
    """
    for name, scale in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        for value in (headers.get(name), about.get(name.replace("-", "_"))):
            if _SECONDS.match(str(value).strip()):
                return float(str(value)) / scale
    for each in details:
        asked = str(each.get("retryDelay", "")).removesuffix("s")
        if _SECONDS.match(asked):
            return float(asked)
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time())
    except ValueError:
        return None
