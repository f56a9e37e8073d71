"""The transcript of a request: its messages as a dialogue, with an identity for each utterance."""

from __future__ import annotations

import asyncio
import hashlib
import html
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

from attrs import evolve, frozen

from saga_core.errors import BadInput
from saga_core.language import LONG, Language, clean_name, languages_in, looked_through, nfc, without_empty_lines
from saga_core.messages import characters, flatten
from saga_core.state_block import SCANNED, unscanned, without_thoughts
from saga_core.transcript.identities import (
    TAG,
    WRAPPER,
    Facts,
    clean,
    facts_of,
    identity_key,
    known_keys,
    read_ahead,
    remember,
    unwrap,
    without_keys,
)

# -- several speakers, and the frontend's instructions, in one message -----------------------------------------
#
# Other content of a message: words of several speakers with marks, and a frontend's own instructions.
#
# Some frontends put each message into a wrapper (``<Mina's Message>…</Mina's Message>``), some send the whole chat as
# one message, and some put their instructions to the model into a user message. All of these are recognized by text
# alone.

SYSTEM = "system"
SYSTEM_MARK = f"{SYSTEM}: "
"""The prefix of a system text that is sent in the user role."""

_HTML = re.compile(r"<[^<>\n]{0,200}>")
_ROLE = re.compile(r"^(user|assistant)[:：][ \t]?", re.M)
NAME = re.compile(r"^([^\W\d_][^\n:：.!?\"“*。\[\]<>{}]{0,39})[:：][ \t]", re.M)
"""A name in front of a line. Many texts that are not a chat have such lines."""


def _opening(bracketed: tuple[str, ...], free: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Return a pattern for lines that begin with ``[`` and one of ``bracketed``, or with one of ``free``, where the
    bracket is optional."""
    kinds = [rf"\[\s{{0,8}}+(?:{'|'.join(bracketed)})"] if bracketed else []
    kinds += [rf"\[?\s{{0,8}}+(?:{'|'.join(free)})"] if free else []
    # The number of blanks is limited, so that a page of empty lines is not rescanned at each line.
    return re.compile(rf"(?:\A|\n)[ \t]{{0,40}}+(?:{'|'.join(kinds)})", re.I)


@cache
def _notes(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of instructions at the end of a text, of those that stop the story, and of those that ask for
    the player's line. Compiled on first use."""
    asked = [each.requests for each in languages]
    bracketed = (
        *(nudge for each in asked for nudge in each.nudges),
        *(note for each in asked for note in each.errands),
    )
    stops = tuple(stop for each in asked for stop in each.stops)
    lines = tuple(line for each in asked for line in each.impersonation)
    return _opening(bracketed, stops), _opening((), stops), _opening(lines)


_EXCERPTS = 3


@frozen
class Speech:
    """A part of a message with its speaker, by name, or by role if there is no name."""

    speaker: str
    role: str
    text: str


def wrapped(text: str) -> list[Speech]:
    """Return the wrapped parts of a text, in order. Unclosed wrappers are ignored."""
    parts: list[Speech] = []
    opened: re.Match[str] | None = None
    for tag in TAG.finditer(text):
        if not tag[1]:
            opened = tag
        elif opened is not None and tag[2] == opened[2]:
            parts.append(Speech(tag[2].strip(), "", text[opened.end() : tag.start()].strip()))
            opened = None
    return parts


def behind_wrappers(text: str) -> str:
    """Return the frontend's text after the last wrapper, without system marks; empty without a wrapper."""
    end = max((tag.end() for tag in TAG.finditer(text) if tag[1]), default=len(text))
    return "\n".join(line.removeprefix(SYSTEM_MARK) for line in text[end:].strip().split("\n"))


def marked(text: str) -> list[Speech]:
    """Return the parts after ``user: `` and ``assistant: `` at the beginning of a line. Text before them is ignored."""
    return [Speech("", found[1], part) for found, part in _behind(_ROLE, text)]


def _behind(mark: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    marks = list(mark.finditer(text))
    ends = (*(found.start() for found in marks[1:]), len(text))
    return [(found, text[found.end() : end].strip()) for found, end in zip(marks, ends, strict=False)]


def roles(parts: list[Speech]) -> list[str]:
    """Return the role of each part. By names, the last speaker is the player, as in most requests."""
    names = {part.speaker for part in parts}
    if len(names) == 1:
        # One name for both speakers: they alternate.
        guessed = ["user" if (len(parts) - at) % 2 else "assistant" for at in range(len(parts))]
    else:
        guessed = ["user" if part.speaker == parts[-1].speaker else "assistant" for part in parts]
    return [part.role or guess for part, guess in zip(parts, guessed, strict=True)]


def tells_nothing_else(text: str, *, behind: bool) -> bool:
    """Whether a text consists only of the lines of a chat, followed by an instruction.

    ``behind`` means that an instruction follows the text. A real chat has a card or a prompt before its lines.
    """
    marks = NAME.findall(looked_through(text))
    if len(marks) < 2 or NAME.match(text) is None:
        return False
    return behind or (len(marks) > 2 and marks[-1] == SYSTEM and marks[0] != SYSTEM)


def excerpts(text: str) -> list[str]:
    """Return the text, its parts without possible instruction lines at either end, and each of these without tags."""
    found = _without_lines(text)
    if "</" in text:
        found += _without_lines(html.unescape(_HTML.sub("", text)))
    return found


def _without_lines(text: str) -> list[str]:
    lines = [line for line in filter(None, text.strip().split("\n")) if not line.isspace()]
    cuts = ((at, len(lines)) for at in range(1, min(len(lines), 1 + _EXCERPTS)))
    found = [text, *("\n".join(lines[start:end]) for start, end in (*cuts, (0, len(lines) - 1)))]
    return [each for each in found if each]


def split_note(text: str) -> tuple[str, str]:
    """Split a text into its words and a frontend's instruction at its end. Either may be empty.

    The instruction is searched in the last 64,000 characters.
    """
    at = max(0, len(text) - LONG)
    pattern = _notes(languages_in(text[at:]))[0]
    if pattern.search(without_empty_lines(text[at:])) is None or (found := pattern.search(text, at)) is None:
        return text, ""
    return text[: found.start()].rstrip(), text[found.start() :].strip()


def stops_the_story(text: str) -> bool:
    """Whether a frontend's instruction interrupts the story for a summary, a picture's description or a mood."""
    text = looked_through(text)
    return _notes(languages_in(text))[1].search(text) is not None


def asks_for_a_line(text: str) -> bool:
    """Whether an instruction asks for the player's next line."""
    text = looked_through(text)
    return _notes(languages_in(text))[2].search(text) is not None


# -- the dialogue ----------------------------------------------------------------------------------------------

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_SYSTEM = ("system", "developer")
_DIALOGUE = ("user", "assistant")
_MARKED = SYSTEM_MARK[0]
_new = tuple.__new__


class Utterance(NamedTuple):
    """One user or assistant message, or a part of one. Not an attrs class, because a history has thousands."""

    role: str
    sent: str
    """The text as the client sent it; replies without the model's thoughts."""
    at: int
    """The index of its message in the request."""
    speaker: str = ""
    """The ``name`` field, or the name in a wrapper."""
    images: tuple[str, ...] = ()
    """Fingerprints of its pictures and other non-text parts."""
    quoted: bool = False
    """Whether it was split from a text by marks, so that the role is a guess."""

    @property
    def text(self) -> str:
        """The text in NFC, without state blocks."""
        return clean(self.sent)

    @property
    def key(self) -> str:
        """The identity key, equal for texts that differ only in decoration."""
        return identity_key(self.sent, self.images)


_ALIKE = 3
_LONG_OPENING = 16
"""Characters of an opening line that is worth a notice. A name before each reply is shorter."""


@frozen
class Transcript:
    """A request's messages, read as the dialogue of a story."""

    messages: tuple[Mapping[str, Any], ...]
    utterances: tuple[Utterance, ...]
    asked: tuple[Utterance, ...] = ()
    """Instructions of the frontend in the user role after all utterances. They are not the player's words."""
    prefill: str = ""
    """The beginning of the next reply, given by the client."""
    speaker: str = ""
    """The next speaker, if a chat in one message ends with a name alone."""

    @cached_property
    def greeting(self) -> tuple[Utterance, ...]:
        """The assistant's messages before the player's first words."""
        count = next((i for i, u in enumerate(self.utterances) if u.role == "user"), len(self.utterances))
        return self.utterances[:count]

    @cached_property
    def words(self) -> tuple[Utterance, ...]:
        """The player's words that this request answers: the user messages after the last reply."""
        count = len(self.utterances)
        while count and self.utterances[count - 1].role == "user":
            count -= 1
        return self.utterances[count:]

    @cached_property
    def past(self) -> tuple[Utterance, ...]:
        """Everything before ``words``."""
        return self.utterances[: len(self.utterances) - len(self.words)]

    @cached_property
    def player_words(self) -> str:
        """The text of ``words``."""
        return "\n".join(utterance.text for utterance in self.words)

    @property
    def repeated_opening(self) -> str:
        """The line with which exactly the last three replies begin; empty if there is none. A model that sees its own
        habit three times goes on with it."""
        told = [each.sent.strip().partition("\n")[0] for each in self.past[-2 * _ALIKE - 2 :] if each.role != "user"]
        last, before = told[-_ALIKE:], told[:-_ALIKE]
        alike = len(last) == _ALIKE and len(set(last)) == 1 and len(last[0]) >= _LONG_OPENING
        return last[0] if alike and before[-1:] != last[:1] else ""

    @property
    def only_text(self) -> str | None:
        """The text of the only message that is not a system message, unsplit; None if there are several."""
        said = self.utterances
        if not said or said[0].at != said[-1].at or (len(said) == 1 and said[0].role == "assistant"):
            return None
        return flatten(self.messages[said[0].at].get("content") or "").lstrip()

    @cached_property
    def system_text(self) -> str:
        """All system messages, or the first message if there are none. Used to choose a world, never for identity."""
        some = (m for m in self.messages if m.get("role") != "assistant")
        parts = [flatten(m.get("content") or "") for m in some if _is_system(m)]
        return nfc("\n".join(parts or [flatten(self.messages[0].get("content") or "")]))

    @cached_property
    def trailing_system(self) -> str:
        """The client's text after the last utterance: nudges, quiet prompts, post-history notes."""
        last = self.utterances[-1].at if self.utterances else -1
        tail = (m for m in self.messages[last + 1 :] if _is_system(m))
        return "\n\n".join([*(flatten(m.get("content") or "") for m in tail), *(each.sent for each in self.asked)])

    @property
    def prefilled(self) -> bool:
        """Whether the very last message is an unfinished reply of the assistant."""
        last = self.utterances[-1] if self.utterances else None
        return last is not None and last.role == "assistant" and last.at == len(self.messages) - 1 and not self._asks

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The ids of the tool calls that this request answers. The next reply continues the one with the calls."""
        found: list[str] = []
        answered = False
        for message in reversed(self.messages):
            if _calls_tools(message):
                found += [str(call.get("id", "")) for call in message.get("tool_calls") or () if type(call) is dict]
            elif message.get("role") in ("tool", "function"):
                answered = True
            elif not _is_system(message):
                break
        return tuple(found) if answered else ()

    @property
    def _asks(self) -> bool:
        return bool(self.asked or self.speaker)

    def without_prefill(self) -> Transcript:
        """Return the transcript with the last utterance as the prefill of the next reply, not as a reply."""
        return evolve(self, utterances=self.utterances[:-1], prefill=self.utterances[-1].text)

    def without_step(self) -> Transcript:
        """Return the transcript without the utterances after the last user message, which belong to a reply that called
        tools and is unfinished."""
        last = next((at for at in reversed(range(len(self.utterances))) if self.utterances[at].role == "user"), -1)
        return evolve(self, utterances=self.utterances[: last + 1])

    def cast(self, characters: Collection[str]) -> Transcript:
        """Return the transcript with quoted utterances of ``characters`` as replies and other quoted ones as the
        player's words."""
        told = (
            each._replace(role="assistant" if each.speaker in characters else "user") if each.quoted else each
            for each in self.utterances
        )
        return evolve(self, utterances=tuple(told))


def _marks(text: str) -> bool:
    """A quick check whether a mark may close a section of thinking."""
    return "</" in text or "[/" in text or "|>" in text or "▷" in text


def read_transcript(messages: Sequence[Mapping[str, Any]]) -> Transcript:
    """Validate and read a request's messages. Raises ``BadInput`` that names the invalid message."""
    if not messages:
        raise BadInput("messages: the list is empty; send at least one message")
    utterances: list[Utterance] = []
    wrapper, append = WRAPPER, utterances.append
    for index, message in enumerate(messages):
        if type(message) is not dict and not isinstance(message, Mapping):
            raise BadInput(f"messages[{index}]: {type(message).__name__} given; a message is an object")
        role, content = message.get("role"), message.get("content")
        plain = (role == "assistant" or role == "user") and type(content) is str and "name" not in message
        plain = plain and "tool_calls" not in message
        begins = content[:1] if plain and content and wrapper not in content and not _marks(content) else ""
        if begins and begins != _MARKED and not begins.isspace():
            # The fast path for nearly all messages of a long history: bypasses the class's constructor.
            append(_new(Utterance, (role, content, index, "", (), False)))
        else:
            utterances += _read(message, index)
    if not utterances:
        utterances = _whole_chat(messages)
    elif _is_a_prompt(messages, utterances):
        del utterances[0]
    return _without_notes(tuple(messages), utterances)


def _read(message: Mapping[str, Any], index: int) -> list[Utterance]:
    """Return the utterances of a message."""
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        raise BadInput(f"messages[{index}].role: {role!r} is not known; use one of {', '.join(ROLES)}")
    if role == "user" and "content" not in message:
        raise BadInput(f"messages[{index}]: has no content; give the player's words there")
    images: tuple[str, ...] = ()
    if content is not None and type(content) is not str:
        _check_content(content, index)
        images = _fingerprints(content)
    text = flatten(content or "")
    if role == "assistant":
        # Some frontends send replies with thoughts, others without. Both are the same reply.
        text = without_thoughts(text)
    if role not in _DIALOGUE or not (images or text.strip()) or _calls_tools(message):
        return []
    if _is_system(message):
        return []
    name = message.get("name")
    said = Utterance(role, text, index, clean_name(str(name)) if name else "", images)
    return _unwrapped(said) if WRAPPER in text else [said]


def _calls_tools(message: Mapping[str, Any]) -> bool:
    """Whether a message calls tools. Its text is a step of the following reply and not a reply."""
    return bool(message.get("tool_calls") or message.get("function_call"))


def _is_system(message: Mapping[str, Any]) -> bool:
    """Whether a message is the frontend's text, including system text that is sent in the user role."""
    role = message.get("role")
    if role != "user":
        return role in _SYSTEM
    content = message.get("content") or ""
    return (content if type(content) is str else flatten(content)).startswith(SYSTEM_MARK)


def _unwrapped(said: Utterance) -> list[Utterance]:
    """Return the wrapped parts of a message as utterances. Text around several parts is the frontend's."""
    parts = wrapped(said.sent)
    if said.role == "assistant":
        if len(parts) < 2:
            return [said._replace(sent=unwrap(said.sent))]
        return [said._replace(sent=part.text, speaker=part.speaker) for part in parts]
    if not parts:
        return [said]
    if len(parts) == 1:
        return [said._replace(sent=parts[0].text, speaker=parts[0].speaker, quoted=True)]
    return _quoted([(said.at, part) for part in parts], said.images)


def _whole_chat(messages: Sequence[Mapping[str, Any]]) -> list[Utterance]:
    """Return the dialogue of a request that has only system messages."""
    parts: list[tuple[int, Speech]] = []
    for index, message in enumerate(messages):
        text = flatten(message.get("content") or "")
        parts += [(index, part) for part in (wrapped(text) or marked(text)) if part.text]
    if not any(role == "user" for role in roles([part for _, part in parts])):
        return []
    return _quoted(parts)


def _is_a_prompt(messages: Sequence[Mapping[str, Any]], utterances: Sequence[Utterance]) -> bool:
    """Whether the first message is the system prompt of a client that has no system role. It ends with a frontend's
    heading ("[Start a new Chat]"), and a greeting follows.
    """
    first = utterances[0]
    if first.role != "user" or first.at or first.quoted or first.images or len(utterances) < 2:
        return False
    if utterances[1].role != "assistant" or any(_is_system(message) for message in messages[: utterances[1].at]):
        return False
    *above, last = first.sent.rstrip().rsplit("\n", 1)
    return bool(above) and last.startswith("[") and last.endswith("]")


def _quoted(parts: list[tuple[int, Speech]], images: tuple[str, ...] = ()) -> list[Utterance]:
    guessed = roles([part for _, part in parts])
    found = [
        Utterance(role, part.text, index, part.speaker, quoted=not part.role)
        for (index, part), role in zip(parts, guessed, strict=True)
    ]
    found[-1] = found[-1]._replace(images=images)
    return found


def _without_notes(messages: tuple[Mapping[str, Any], ...], utterances: list[Utterance]) -> Transcript:
    """Separate a frontend's instructions after the last reply from the player's words."""
    asked: list[Utterance] = []
    at = len(utterances)
    # Before the first reply, a message may contain the whole system prompt, including its instructions.
    replied = any(each.role == "assistant" for each in utterances)
    last = flatten(messages[-1].get("content") or "") if messages[-1].get("role") != "assistant" else ""
    if replied and WRAPPER in last and (note := behind_wrappers(last)):
        asked.append(Utterance("user", note, len(messages) - 1))
    while at and (utterances[at - 1].role == "user" or utterances[at - 1].quoted):
        at -= 1
        said = utterances[at]
        words, note = split_note(said.sent)
        if note and (replied or not words):
            asked.insert(0, said._replace(role="user", sent=note, images=()))
            utterances[at : at + 1] = [said._replace(sent=words)] if words or said.images else []
        if said.role != "user":
            break
    # After an error, frontends send the reply that is to be continued once for each attempt.
    while len(utterances) > 1 and utterances[-1].role == "assistant" and _is_again(utterances[-1], utterances[-2]):
        del utterances[-2]
    return Transcript(messages, tuple(utterances), tuple(asked))


def _is_again(said: Utterance, before: Utterance) -> bool:
    return (said.role, said.sent.strip(), said.speaker) == (before.role, before.sent.strip(), before.speaker)


def _check_content(content: Any, index: int) -> None:
    if not isinstance(content, list):
        raise BadInput(f"messages[{index}].content: {type(content).__name__} given; send text or a list of parts")
    for number, part in enumerate(content):
        where = f"messages[{index}].content[{number}]"
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            raise BadInput(f'{where}: a part is an object with a "type"')
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            raise BadInput(f'{where}.text: a part of type "text" needs a text')


_SLICE = 64 * 1_024
"""Characters of a picture that are hashed at once: other threads may run between two slices."""


def _fingerprints(content: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(_fingerprint(part) for part in content if part.get("type") != "text")


def _fingerprint(part: Mapping[str, Any]) -> str:
    """The hash of a part's ``repr``, which is never made as a whole."""
    found = hashlib.blake2b(digest_size=8)
    for piece in _written(part):
        found.update(piece.encode())
    return found.hexdigest()


def _written(value: Any) -> Iterator[str]:
    """Yield the ``repr`` of a JSON value in pieces."""
    if type(value) is dict:
        for number, (name, each) in enumerate(value.items()):
            yield f"{', ' if number else '{'}{name!r}: "
            yield from _written(each)
        yield "}" if value else "{}"
    elif type(value) is list:
        yield "["
        for number, each in enumerate(value):
            yield ", " if number else ""
            yield from _written(each)
        yield "]"
    elif type(value) is not str or len(value) <= _SLICE:
        yield repr(value)
    else:
        quote = '"' if "'" in value and '"' not in value else "'"
        yield quote
        for at in range(0, len(value), _SLICE):
            piece = value[at : at + _SLICE]
            # Behind both quotation marks, ``repr`` writes a piece as it does in a text that has both.
            yield repr(piece + '"')[1:-2] if quote == "'" and "'" in piece else repr(piece)[1:-1]
        yield quote


def identity_keys(utterances: Sequence[Utterance]) -> list[str]:
    """Return the identity keys of many utterances."""
    found = known_keys([each.sent for each in utterances])
    return [each.key if key is None or each.images else key for each, key in zip(utterances, found, strict=True)]


# -- reading a request -----------------------------------------------------------------------------------------

_LONG = 64 * 1_024
"""Maximum characters of new text that are processed on the event loop, in all messages of a request together."""
_FAR = 2 * _LONG
"""Minimum characters that are processed by ``elsewhere``."""

Elsewhere = Callable[[Callable[[Sequence[str]], list[Facts]], Sequence[str]], Awaitable[list[Facts]]]
"""Calls a function of texts without blocking the event loop, for example in another process."""


async def read_request(messages: Sequence[Mapping[str, Any]], elsewhere: Elsewhere | None = None) -> Transcript:
    """As ``read_transcript``, without blocking the event loop for long texts, for thousands of short ones, for texts
    that may hold state blocks, or for pictures.

    ``elsewhere`` does the slow work on long texts and on those that may hold state blocks. Without it, a thread does.
    """
    texts = _texts(messages)
    short = _size(texts) < _LONG or (max(map(len, texts)) < _LONG and _size(without_keys(texts)) < _LONG)
    scanned = unscanned(texts)
    if short and _size(scanned) < SCANNED and _size_beside(messages) < _LONG:
        # In a continued chat only the last few messages are new, and a thread would only cost time.
        return read_transcript(messages)
    slow = list(dict.fromkeys((*(text for text in texts if len(text) >= _LONG), *scanned)))
    facts = await elsewhere(facts_of, slow) if elsewhere is not None and _size(slow) >= _FAR else ()
    return await asyncio.to_thread(_read_here, messages, slow, facts)


def _read_here(messages: Sequence[Mapping[str, Any]], slow: Sequence[str], facts: Sequence[Facts]) -> Transcript:
    for text, known in zip(slow, facts, strict=False):
        remember(text, known)
    read_ahead(slow)
    transcript = read_transcript(messages)
    if slow:  # a reply without its thoughts is another text
        read_ahead(unscanned(each.sent for each in transcript.utterances))
    identity_keys(transcript.utterances)  # fill the cache for the matcher
    return transcript


def _size(texts: Sequence[str]) -> int:
    return sum(map(len, texts))


def _size_beside(messages: Sequence[Mapping[str, Any]]) -> int:
    """Return the characters of the parts that are not texts, such as pictures."""
    contents = (message.get("content") for message in messages if type(message) is dict)
    parts = (part for content in contents if type(content) is list for part in content)
    return sum(characters(part) for part in parts if type(part) is dict and part.get("type") != "text")


def _texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the texts of the dialogue messages."""
    found: list[str] = []
    for message in messages:
        if type(message) is not dict or message.get("role") not in ("assistant", "user"):
            continue  # anything but an object is rejected when the message is read
        content = message.get("content")
        if type(content) is str:
            found.append(content)
        elif isinstance(content, list):
            parts = (part.get("text") for part in content if isinstance(part, Mapping))
            found += [text for text in parts if isinstance(text, str)]
    return found
