"""Reads a chat completion, as events or as one JSON object, without any I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import define, field

from saga_backends.chat.json_text import MOST_IN_EVENT, TooManyValues, read_text
from saga_backends.chat.tool_calls import well_formed
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError
from saga_core.ports import MOST_TOKENS, ChatPart, ExtraPart, FinishPart, TextPart, Usage, UsagePart

_READ = frozenset({"content", "role"})
MOST_CHOICES = 128
"""The maximum number of choices in a chunk, as many as OpenAI gives at most. Each takes some work."""


@define
class ReplyReader:
    """Turns the chunks of one completion into parts, and checks that the completion is complete."""

    blame: Blame
    usage: Usage | None = None
    done: bool = False
    """Whether the provider has sent ``[DONE]``."""
    choices: int = field(default=1, kw_only=True)
    """The number of choices that were asked for."""
    _open: set[int] = field(factory=set, init=False)
    _closed: set[int] = field(factory=set, init=False)

    @property
    def complete(self) -> bool:
        """Whether all choices have a finish reason, after which only the usage may follow."""
        return len(self._closed) >= self.choices

    def event(self, data: str) -> Iterable[ChatPart]:
        """Return the parts of one event. Raises ``UpstreamError`` for an error event or an invalid chunk."""
        if data.startswith("[DONE]"):
            self.done = True
            return ()
        try:
            chunk = read_text(data, MOST_IN_EVENT)
        except TooManyValues as error:
            raise UpstreamError(f"{self.blame.host} sent an event of {error}") from None
        except ValueError:
            raise UpstreamError(f"{self.blame.host} sent an event that is not JSON") from None
        chunk = self.translated(chunk)
        return self._plain(chunk) or self._choices(chunk, "delta")

    def _plain(self, chunk: Any) -> tuple[TextPart] | None:
        """Return the text of a chunk that contains only text, as nearly all do, or None for other chunks."""
        if type(chunk) is not dict or chunk.get("error") or chunk.get("usage"):
            return None
        choices = chunk.get("choices")
        if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
            return None
        choice = choices[0]
        delta, index = choice.get("delta"), choice.get("index")
        if type(delta) is not dict or len(delta) != 1 or type(index) is not int or index < 0:
            return None
        text = delta.get("content")
        if type(text) is not str or not text or choice.get("finish_reason"):
            return None
        self._open.add(index)
        return (TextPart(text, index),)

    def whole(self, body: bytes) -> Iterator[ChatPart]:
        """Yield the parts of a whole reply. Raises ``UpstreamError`` if the body is not a reply."""
        try:
            answer = read_text(body)
        except TooManyValues as error:
            raise UpstreamError(f"{self.blame.host} sent a reply of {error}") from None
        except ValueError:
            raise UpstreamError(
                f"{self.blame.host} answered with something that is not JSON; is its base_url the one of a chat API?"
            ) from None
        answer = self.translated(answer)
        parts = list(self._choices(answer, "message"))
        if not isinstance(answer.get("choices"), list):
            raise UpstreamError(f"{self.blame.host} answered without choices; is its base_url the one of a chat API?")
        self.done = True
        yield from parts

    def translated(self, chunk: Any) -> Any:
        """Return a chunk in the format of this reader. Subclasses may translate other formats."""
        return chunk

    def end(self) -> Iterator[ChatPart]:
        """Yield the usage if the provider sent it. Raises ``UpstreamError`` if the reply is incomplete."""
        if not self.done and (self._open - self._closed or not self._closed):
            raise UpstreamError(f"{self.blame.host} ended its reply in the middle", passing=True)
        if self.usage is not None:
            yield UsagePart(self.usage)

    def _choices(self, chunk: Any, place: str) -> Iterator[ChatPart]:
        if not isinstance(chunk, Mapping):
            raise UpstreamError(f"{self.blame.host} sent a {type(chunk).__name__} where a completion was due")
        if chunk.get("error"):
            raise self.blame.reported(chunk["error"])
        if isinstance(chunk.get("usage"), Mapping):
            self.usage = _usage(chunk["usage"])
        choices = chunk.get("choices")
        if isinstance(choices, list) and len(choices) > MOST_CHOICES:
            raise UpstreamError(f"{self.blame.host} sent {len(choices):,} choices at once, more than {MOST_CHOICES}")
        for position, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, Mapping):
                yield from self._choice(choice, position, place)

    def _choice(self, choice: Mapping[str, Any], position: int, place: str) -> Iterator[ChatPart]:
        index = choice.get("index")
        if type(index) is not int or index < 0:
            index = position
        self._open.add(index)
        delta = choice.get(place)
        if isinstance(delta, Mapping):
            extra = {name: value for name, value in delta.items() if name not in _READ and value is not None}
            if "tool_calls" in extra and (calls := well_formed(extra.pop("tool_calls"))):
                extra["tool_calls"] = calls
            if extra:
                yield ExtraPart(extra, index)
            text = _text(delta.get("content"))
            if text:
                yield TextPart(text, index)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and index not in self._closed:
            self._closed.add(index)
            yield FinishPart(reason, index)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        return "".join(text for text in parts if isinstance(text, str))
    return ""


def _usage(bill: Mapping[str, Any]) -> Usage:
    details = bill.get("prompt_tokens_details")
    cached = details if isinstance(details, Mapping) else {}
    return Usage(
        input=_tokens(bill.get("prompt_tokens")),
        output=_tokens(bill.get("completion_tokens")),
        cache_read=_tokens(cached.get("cached_tokens")) or _tokens(bill.get("prompt_cache_hit_tokens")),
        cache_write=_tokens(cached.get("cache_write_tokens")),
    )


def _tokens(value: Any) -> int:
    return value if type(value) is int and 0 < value < MOST_TOKENS else 0
