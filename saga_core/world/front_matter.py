"""The front matter of WORLD.md: YAML between two fences, with texts and lists of texts as values.

All values are text, as in YAML's failsafe schema: ``yes`` is no boolean and ``007`` no number. All other features of
YAML (nested mappings, anchors, tags) are refused with their line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml
from attrs import frozen

from saga_core.world.format import LONGEST_FRONT
from saga_core.yaml_text import problem_of

FENCE = "---"

_BARE = re.compile(r"[^\W\d_](?:[\w -]*\w)?")
_YAML_WORDS = frozenset("true false yes no on off null y n".split())
_ONE_VALUE = "give a text or a list of texts, in double quotes where a sign means something to YAML"
_UNREAD = "a value is neither a text nor a list of texts"
_FIRST_LINE = 2
"""The line of the file where YAML begins: the fence is line 1, and YAML counts from 0."""
_QUOTE = "put the value into double quotes"
_DEEPEST = 16
"""Deepest nesting of lists and mappings that is read, to report all problems. No field accepts more than one level."""


class _TooDeep(Exception):
    """The nesting is too deep. Reading stops there, because YAML gets slower with depth."""


@frozen
class FrontField:
    """One key with its line and its value: text, or a tuple of texts for a list."""

    key: str
    line: int
    value: str | tuple[str, ...]


@frozen
class FrontFault:
    """A part that cannot be read."""

    line: int
    message: str
    remedy: str


@frozen
class FrontMatter:
    """The fields in order, the text that follows (the whole text if there is no front matter), and the faults."""

    fields: tuple[FrontField, ...]
    body: str
    faults: tuple[FrontFault, ...]


def read_front_matter(text: str) -> FrontMatter:
    """Split ``text`` (line ends as ``\\n``) into front matter and body. Reading stops at the first YAML error."""
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return FrontMatter((), text, ())
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() == FENCE), None)
    if end is None:
        fault = FrontFault(1, "the front matter has no end", f'close it with a line "{FENCE}"')
        return FrontMatter((), "", (fault,))
    matter = "\n".join(lines[1:end])
    if len(matter) > LONGEST_FRONT:
        message = f"the front matter has {len(matter):,} characters; at most {LONGEST_FRONT:,} are read"
        return FrontMatter((), "", (FrontFault(1, message, "move text below it"),))
    fields: list[FrontField] = []
    faults: list[FrontFault] = []
    keys: set[str] = set()
    for found in _read(matter):
        if isinstance(found, FrontFault):
            faults.append(found)
        elif found.key in keys:
            faults.append(FrontFault(found.line, f'key "{found.key}" stands twice', "keep one of them"))
        else:
            keys.add(found.key)
            fields.append(found)
    return FrontMatter(tuple(fields), "\n".join(lines[end + 1 :]), tuple(faults))


def write_front_matter(fields: Sequence[tuple[str, str | tuple[str, ...]]]) -> str:
    """The front matter with its fences, each field on one line. ``read_front_matter`` reads it back."""
    rows = [FENCE]
    for key, value in fields:
        shown = _quoted(value) if isinstance(value, str) else f"[{', '.join(_quoted(item) for item in value)}]"
        rows.append(f"{_quoted(key)}: {shown}")
    return "\n".join([*rows, FENCE])


def _quoted(value: str) -> str:
    if _BARE.fullmatch(value) and value.casefold() not in _YAML_WORDS:
        return value
    dumped: str = yaml.safe_dump(value, default_style='"', allow_unicode=True, width=float("inf"))
    return dumped.rstrip("\n")


def _read(text: str) -> Iterator[FrontField | FrontFault]:
    """Read the fields of a mapping from YAML's events, which have line numbers and need no recursion."""
    try:
        yield from _fields(yaml.parse(text, Loader=yaml.BaseLoader))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + _FIRST_LINE
        yield FrontFault(line, f"sign U+{error.character:04X} is not read here", _QUOTE)
    except yaml.MarkedYAMLError as error:
        # An unclosed quote is reported where it opens. An error at the end is reported above the fence.
        mark = error.context_mark if "quoted scalar" in (error.context or "") else error.problem_mark
        line = min(mark.line, text.count("\n")) + _FIRST_LINE if mark else _FIRST_LINE
        words = ", ".join(part for part in (error.context, problem_of(error)) if part)
        yield FrontFault(line, f"this is no YAML: {words}", _QUOTE)
    except _TooDeep as error:
        yield FrontFault(int(error.args[0]), _UNREAD, _ONE_VALUE)


def _fields(events: Iterator[yaml.Event]) -> Iterator[FrontField | FrontFault]:
    frame = yaml.StreamStartEvent | yaml.StreamEndEvent | yaml.DocumentStartEvent | yaml.DocumentEndEvent
    first = next((event for event in events if not isinstance(event, frame)), None)
    if first is None or (isinstance(first, yaml.ScalarEvent) and not first.value):
        return  # nothing but comments
    if not isinstance(first, yaml.MappingStartEvent) or first.anchor or first.tag:
        yield FrontFault(_line(first), 'this is not "key: value"', "write key: value, or end the front matter")
        return
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        key, value = _value(event, events), _value(next(events), events)
        if isinstance(key, str) and value is not None:
            yield FrontField(key, _line(event), value)
        else:
            yield FrontFault(_line(event), _UNREAD, _ONE_VALUE)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            yield FrontFault(_line(event), "the front matter is more than one YAML document", f'end it with "{FENCE}"')
            return


def _value(event: yaml.Event, events: Iterator[yaml.Event]) -> str | tuple[str, ...] | None:
    """The text or list of texts that begins with ``event``; None for anything else. Its events are consumed."""
    if isinstance(event, yaml.ScalarEvent):
        return None if event.anchor or event.tag else str(event.value)
    if not isinstance(event, yaml.CollectionStartEvent):
        return None
    readable = isinstance(event, yaml.SequenceStartEvent) and not event.anchor and not event.tag
    items: list[str] = []
    depth = 1
    for inner in events:
        depth += isinstance(inner, yaml.CollectionStartEvent) - isinstance(inner, yaml.CollectionEndEvent)
        if not depth:
            break
        if depth > _DEEPEST:
            raise _TooDeep(_line(inner))
        if isinstance(inner, yaml.ScalarEvent) and not inner.anchor and not inner.tag:
            items.append(str(inner.value))
        else:
            readable = False
    return tuple(items) if readable else None


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return int(event.start_mark.line) + _FIRST_LINE
