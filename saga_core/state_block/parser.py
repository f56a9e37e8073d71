"""Parses a block, or a whole reply, into the fields that it states."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

from attrs import Factory, define, evolve, frozen

from saga_core.language import all_of, every, nfc, squash
from saga_core.state_block import flow, lines
from saga_core.state_block.counted import named_in
from saga_core.state_block.fences import RawBlock
from saga_core.state_block.fields import (
    FIELDS,
    BlockFields,
    CountReport,
    Field,
    Kind,
    field_of,
    in_order_of_form,
    is_header,
    names_level,
    record_key,
)
from saga_core.state_block.filter import Hidden, hide
from saga_core.state_block.flow import Node, Pairs, Scalar, Seq
from saga_core.state_block.markup import undressed
from saga_core.state_block.records import (
    MAX_ENTRIES,
    Complain,
    is_status,
    read_company,
    read_destination,
    read_list,
)
from saga_core.state_block.unfenced import begun_name
from saga_core.state_block.values import (
    Unreadable,
    is_nothing,
    nothing_in_list,
    read_change,
    read_flag,
    read_level,
    read_text,
)
from saga_core.trackers import NO_TRACKERS, UNTOLD, TrackerKind, Trackers, Whose

if TYPE_CHECKING:
    import yaml

MAX_BODY = 16_384
_MAX_PROBLEMS = 50
_SHOWN = 60
UNFENCED = "the state block has no fence of its own"
_MAP_START = re.compile(r"(?:[\[［]\s*)*[{｛]")
_SLOT = re.compile(r"<[^<>]{0,60}>")
"""A placeholder that a model has copied from the form."""
_GAP = re.compile(r"[\s.…?？_]+")
"""Dots, question marks or a line to write on, where a form has its values."""
_DESCRIBED = re.compile(r"[(（]([^()（）]+)[)）]")
"""A description of the value in place of it: ``(if changed)``."""
_FILLED_SLOT = re.compile(r"^[^:：\n<>{}\[\]]{1,60}[:：][ \t]*[<＜][ \t]*[-+−]?\d+[ \t]*[>＞][ \t]*$", re.MULTILINE)
"""A number in the brackets of the form. A model that writes one has filled in the others as well."""
_ESCAPED_KEY = re.compile(r'"(?:[^"\\\n:]|\\[uU][0-9a-fA-F]{4}){1,60}"{1,2}(?=[ \t]*[:：])')
"""A quoted key, whose letters a serializer may have escaped."""
_LISTED = re.compile(r"\s*[\[［【]\w{1,20}[,，][ \t]*(?=(?P<key>[^:：,，\n]{1,40})[:：])")
"""A list that holds the fields behind a word: ``[player, location: hall, hp_change: -3]``."""
_ESCAPE = re.compile(r"\\[uU]([0-9a-fA-F]{4})")
_MACRO = re.compile(r"\{\{\s{0,4}(?:user|char)\s{0,4}\}\}|<\s{0,4}(?:user|char)\s{0,4}>", re.I)
"""A frontend's macro that reached the model. That for the character names nobody in particular."""
_MINUS = re.compile("(?m)(^[ \\t]*)?\u2212(?(1)(?=[ \\t])|(?=[ \\t]*\\d))")
"""The sign of a number, or the mark of an item."""
_ARROW = re.compile(r"->|→")
_LATEX = re.compile(r"\$?\\(?:long)?(?:right|Right)arrow\$?")
_ESCAPED_MARK = re.compile(r"\\([\[\]{}*_+#`~-])")
"""A mark of Markdown that a model has escaped."""
_COMPOSED = re.compile(r"[:：|(（\[{<]|\S\s*=")
_BRACKETS = re.compile(r"[(（\[]")
_QUOTED_KEYS = tuple("\"'{")
_MAX_OTHERS = 12
_MOST_PARTS = 8
"""The blocks into which one report is split."""
_MAX_VALUE = 120
_DATA_WORDS = frozenset({"yaml", "yml", "json", "json5", "text", "txt", "block"})
"""Words behind the name of a fence, which stand before the body."""
_FENCE_WORD = re.compile(rf"\A\s*(?:{'|'.join(sorted(_DATA_WORDS))})\s*\n", re.IGNORECASE)
_DOCUMENT = re.compile(r"[-–—]{3}[ \t]+(?=[{｛])")
"""The beginning of a document of YAML, in the line of its map."""


class BlockStatus(Enum):
    """How much of a block could be read.

    ``OK``: every field in the block was read. ``PARTIAL``: at least one field was read, but others could not be, or the
    block was cut. ``FALLBACK``: there is no block, nothing in it can be read, or it is a copy of the form, so an
    extractor is needed.
    """

    OK = "ok"
    PARTIAL = "partial"
    FALLBACK = "fallback"


@frozen
class StateReading:
    """The content of a state block, and the text for the player if it was read from a reply.

    ``invalid`` names the fields that could not be read completely, in the order of their lines. The readable part of
    such a field is in ``fields``. ``problems`` describes the errors for people.
    """

    visible: str = ""
    status: BlockStatus = BlockStatus.OK
    fields: BlockFields = Factory(BlockFields)
    problems: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()
    cut: str = ""
    """The body of the block that counts, if it was cut off and could be read at least partly; else ""."""
    others: tuple[tuple[str, str], ...] = ()
    """Keys that are no field and no tracker, with their values."""
    stated: tuple[str, ...] = ()
    """The fields that could be read at least partly, including fields with a word for "nothing"."""


def unknown_field(key: str) -> str:
    """The problem of a key that is neither a field nor a tracker."""
    return f"an unknown field: {key!r}"


@define(kw_only=True)
class _Findings:
    values: dict[str, Any] = Factory(dict)
    problems: list[str] = Factory(list)
    invalid: dict[str, None] = Factory(dict)
    readable: set[str] = Factory(set)
    copied: set[str] = Factory(set)
    """The readable fields whose only value is a placeholder of the form."""
    others: list[tuple[str, str]] = Factory(list)
    unsaid: int = 0
    counted: Counter[str] = Factory(Counter[str])
    """How many values were read of each tracker."""

    def problem(self, text: str) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(text)
        else:
            self.unsaid += 1

    def bad(self, field: Field, why: str) -> None:
        self.problem(f"{field.name}: {why}")
        self.invalid[field.name] = None

    def too_many(self, field: Field) -> None:
        """Say once that a field has more values than a list may have, because it is repeated."""
        why = f"more than {MAX_ENTRIES} entries; the first {MAX_ENTRIES} count"
        if f"{field.name}: {why}" not in self.problems:
            self.bad(field, why)

    def count(self, field: Field, subject: str, values: tuple[str, ...]) -> None:
        """Keep what the block says of a tracker."""
        self.readable.add(field.name)
        if any(values):
            self.counted[field.name] += 1
            if self.counted[field.name] > MAX_ENTRIES:
                self.too_many(field)
            else:
                self.values["counts"] = (*self.values.get("counts", ()), CountReport(field.name, values, subject))

    def other(self, key: str, node: Node) -> None:
        """Keep a key that is no field and no tracker."""
        self.problem(unknown_field(key[:_SHOWN]))
        value = ", ".join(_texts(node))[:_MAX_VALUE]
        if value and len(self.others) < _MAX_OTHERS:
            self.others.append((key[:_SHOWN], value))

    def say(self, field: Field, value: tuple[Any, ...] | None) -> None:
        """Keep a list that gives the complete company, even an empty one. The last one counts; None is ignored."""
        self.readable.add(field.name)
        if value is not None:
            self.values[field.name] = value

    def take(self, field: Field, value: Any) -> None:
        """Keep a value. A list is appended to an earlier one; two different single values cancel each other out."""
        earlier = self.values.get(field.name)
        self.readable.add(field.name)
        if not value and value is not False and value != 0:
            return
        if isinstance(value, tuple):
            every = (earlier or ()) + value
            if len(every) > MAX_ENTRIES:
                self.too_many(field)
            self.values[field.name] = every[:MAX_ENTRIES]
        elif earlier is None and field.name not in self.invalid:
            self.values[field.name] = value
        elif earlier != value:
            self.values.pop(field.name, None)
            self.bad(field, "said twice, differently")


_HP = next(field for field in FIELDS if field.kind is Kind.LEVEL)
_STATUSES = next(field for field in FIELDS if field.kind is Kind.STATUSES)


def parse_block(
    body: str, *, closed: bool = True, own: Trackers = NO_TRACKERS, people: Iterable[str] = ()
) -> StateReading:
    """Parse the body of a block. Never raises, and never guesses. ``own`` are the story's trackers, and ``people`` the
    names of its characters.

    ``closed`` is False for a block that was cut by the end of the text. Its complete lines count; the last line is
    dropped, and its field is named in ``invalid``. A body longer than ``MAX_BODY`` characters is cut to that length.
    """
    if (
        closed and says_nothing(body) and not own.in_text.search(body) and body.strip()[:1] not in ("<", ".", "…")
    ):  # not a placeholder
        return StateReading()
    findings = _Findings()
    if not closed:
        findings.problem("the block is not closed")
    if len(body) > MAX_BODY:
        findings.problem(f"the block has {len(body)} characters; the first {MAX_BODY} are read")
        body, closed = body[:MAX_BODY], False
    if body.count("\\n") > 1 and body.strip().count("\n") < 2 and not _MAP_START.match(body.lstrip()):
        body = body.replace("\\n", "\n")  # line ends that were escaped
    if '\\"' in body and body.count('"') == body.count('\\"'):
        body = body.replace('\\"', '"')
    if "arrow" in body:
        body = _LATEX.sub("→", body)
    if len(_ESCAPED_MARK.findall(body)) > 1 and not _MAP_START.match(body.lstrip()):
        body = _ESCAPED_MARK.sub(r"\1", body)
    body = _ESCAPED_KEY.sub(lambda key: _ESCAPE.sub(lambda each: chr(int(each[1], 16)), key[0]), body)
    body = _MINUS.sub(r"\g<1>-", _MACRO.sub(_filled, nfc(body)))
    if (listed := _LISTED.match(body)) and field_of(listed["key"], own):
        body = body[listed.end() :]
    if _FILLED_SLOT.search(body):
        body = _SLOT.sub(_value_in_slot, body)
    written = _FENCE_WORD.sub("", body)
    whole, cut = lines.whole_lines(undressed(body), closed=closed)
    if cut:
        findings.problem(f"the last line is cut and was dropped: {cut.strip()[:_SHOWN]!r}")
    first = 0
    while first < len(whole) and (not whole[first].strip() or whole[first].strip().casefold() in _DATA_WORDS):
        first += 1
    del whole[:first]
    if _is_data(text := _DOCUMENT.sub("", "\n".join(whole).strip(), count=1), own):
        _read_data(text, cut, closed, findings, own)
    else:
        _read_lines(whole, cut, findings, own)
    if closed and text.removeprefix("---").lstrip()[:1] in _QUOTED_KEYS:
        findings = _as_yaml(written, findings, own)
    if own:
        _mend_by_names(written, findings, own, people)
    if own.profile:  # what is reported nevertheless is told nowhere
        for name in filter(lambda name: not own.asks(name), UNTOLD):
            findings.values.pop(name, None)
    return _result(findings, closed)


def _as_yaml(body: str, found: _Findings, own: Trackers) -> _Findings:
    """The findings of a YAML parser, if it reads the body without a problem, and no less of it than the reader of lines
    and values, which ``found`` is of. Not asked about JSON, which that reader knows as well."""
    with suppress(ValueError):
        json.loads(body)
        return found
    import yaml  # few blocks need it, and a start does not

    from saga_core.yaml_text import BoundedLoader

    try:
        node = _node_of(BoundedLoader(textwrap.dedent(body)).get_single_node())
    except yaml.YAMLError:
        return found
    findings = _Findings()
    if isinstance(node, Pairs):
        _read_node(node, True, findings, own)
    over_lines = any(lines.balance(line) or line.count("'") % 2 or line.count('"') % 2 for line in body.splitlines())
    is_better = bool(found.problems) or over_lines or findings.readable > found.readable
    return findings if is_better and findings.readable >= found.readable and not findings.problems else found


def _mend_by_names(body: str, findings: _Findings, own: Trackers, people: Iterable[str]) -> None:
    """Read by its name what the readers of lines and values have missed of a tracker, or misread."""
    read: tuple[CountReport, ...] = findings.values.get("counts", ())
    threads = {each.name for each in own if each.kind is TrackerKind.THREADS}
    missed = named_in(body, own) - threads - findings.copied - {each.tracker for each in read}
    if not missed and all(_is_plain(each, own) for each in read):
        return
    from saga_core.state_block.by_names import is_doubtful, read_by_names  # nearly no report needs it

    met = (*(findings.values.get("present") or ()), *findings.values.get("npc_met", ()))
    text = body.casefold()
    named = [name for name in (*people, *met) if name.casefold() in text and not _BRACKETS.search(name)]
    known = frozenset(map(squash, named))
    wanted = missed | {each.tracker for each in read if is_doubtful(each, own, known)}
    found = [each for each in read_by_names(body, own, named) if each.tracker in wanted] if wanted else []
    if found:
        mended = {each.tracker for each in found}
        findings.values["counts"] = (*(each for each in read if each.tracker not in mended), *found)[:MAX_ENTRIES]
        findings.readable |= mended
        findings.copied -= mended


def _is_plain(report: CountReport, own: Trackers) -> bool:
    """Whether a report of a tracker is as it was asked for: its subject fits, and its value is a single one."""
    tracker = own.find(report.tracker)
    of_people = tracker is not None and tracker.whose in (Whose.CHARACTER, Whose.PAIR)
    if any(map(_COMPOSED.search, report.values)):
        return False
    if of_people:
        return bool(report.subject)
    return not report.subject or not any(re.search(r"[^\W\d_]", value) for value in report.values)


def _node_of(told: yaml.Node | None) -> Node:
    """A node of YAML as one of a block, with its texts as they are written."""
    import yaml

    if isinstance(told, yaml.MappingNode):
        return Pairs(tuple((key.value, _node_of(value)) for key, value in told.value if isinstance(key.value, str)))
    if isinstance(told, yaml.SequenceNode):
        return Seq(tuple(map(_node_of, told.value)))
    return Scalar(" ".join(told.value.split()) if told is not None else "")


def says_nothing(body: str) -> bool:
    """Whether the body of a block is empty, or only says that nothing changed."""
    text = body.strip()
    return not text or text == "{}" or is_nothing(Scalar(text))


def _filled(macro: re.Match[str]) -> str:
    return "Player" if "user" in macro[0].casefold() else ""


def _value_in_slot(slot: re.Match[str]) -> str:
    return slot[0] if "|" in slot[0] or any(field.templates.holds(slot[0]) for field in FIELDS) else slot[0][1:-1]


def read_reply(text: str, own: Trackers = NO_TRACKERS) -> StateReading:
    """Read the visible text of a reply and its state block. Never raises.

    Of several blocks the last one counts. Blocks inside a ``<think>`` section are drafts, which are hidden but not
    read. The thinking itself stays in ``visible``.
    """
    return read_hidden(hide(text), own)


def read_hidden(hidden: Hidden, own: Trackers = NO_TRACKERS, people: Iterable[str] = ()) -> StateReading:
    """``read_reply`` for a reply whose blocks are already hidden. Loose blocks count only if no fenced one exists."""
    blocks = _readable(hidden)
    if not blocks:
        why = "the only state block is inside the thinking" if hidden.blocks else "there is no state block"
        return StateReading(hidden.visible, BlockStatus.FALLBACK, problems=(why,))
    people = tuple(people) if own else ()
    last = _counting(_joined(blocks, own))
    parsed = parse_block(last.body, closed=last.closed, own=own, people=people)
    problems = (UNFENCED, *parsed.problems) if last.unfenced else parsed.problems
    if len(blocks) > 1:
        problems = (f"there are {len(blocks)} state blocks; the last counts", *problems)
    return evolve(parsed, visible=hidden.visible, problems=problems)


def read_ended(hidden: Hidden, *, whole: bool, own: Trackers = NO_TRACKERS, people: Iterable[str] = ()) -> StateReading:
    """``read_hidden`` for a reply that is known to have ended by itself (``whole``) or to have been cut off.

    In a reply that ended by itself, an open block only lacks its closing fence, unless its last line is incomplete.
    """
    if whole:
        ended = (block if is_half(block.body) else evolve(block, closed=True, open=False) for block in hidden.blocks)
        hidden = Hidden(hidden.visible, tuple(ended))
    reading = read_hidden(hidden, own, people)
    blocks = _readable(hidden)
    last = _counting(blocks) if blocks else None
    if last is None or not last.open or reading.status is BlockStatus.FALLBACK:
        return reading
    return evolve(reading, cut=last.body[:MAX_BODY])


def is_half(body: str) -> bool:
    """Whether an open block ends incompletely: with an unclosed bracket, a comma, or a field name without a value."""
    end = body.rstrip()
    last = end.rpartition("\n")[2]
    return end.endswith((",", "，")) or lines.balance(end) > 0 or bool(begun_name(last))


def _readable(hidden: Hidden) -> list[RawBlock]:
    read = [block for block in hidden.blocks if not block.thinking]
    fenced = [block for block in read if not block.unfenced]
    return fenced if any(block.body.strip() for block in fenced) else read


def _joined(blocks: list[RawBlock], own: Trackers) -> list[RawBlock]:
    """The blocks, as one if a report is split into several that state different fields, some of them trackers."""
    if len(blocks) < 2 or not own or len(blocks) > _MOST_PARTS or not all(block.closed for block in blocks[:-1]):
        return blocks
    stated = [parse_block(block.body, closed=block.closed, own=own).stated for block in blocks]
    fields = [name for names in stated for name in names]
    counted = {each.name for each in own}
    parts = sum(bool(counted.intersection(names)) for names in stated)
    if not all(stated) or len(set(fields)) < len(fields) or parts < len(blocks) - 1:
        return blocks
    return [evolve(blocks[-1], body="\n".join(block.body.strip("\n") for block in blocks))]


def _counting(blocks: list[RawBlock]) -> RawBlock:
    """The last block that is not empty; the last one if all are empty."""
    return ([block for block in blocks if block.body.strip()] or blocks)[-1]


def _result(findings: _Findings, closed: bool) -> StateReading:
    if findings.unsaid:
        findings.problems.append(f"and {findings.unsaid} more problems")
    fields = BlockFields(**findings.values)
    if not findings.readable or (fields == BlockFields() and 2 * len(findings.copied) >= len(findings.readable)):
        status = BlockStatus.FALLBACK
        if not findings.problems:
            copied = f"the block is a copy of the form ({', '.join(sorted(findings.copied))})"
            findings.problems.append(copied if findings.copied else "the block is empty")
    else:
        status = BlockStatus.OK if closed and not findings.invalid else BlockStatus.PARTIAL
    return StateReading(
        status=status,
        fields=fields,
        problems=tuple(findings.problems),
        invalid=tuple(findings.invalid),
        others=tuple(findings.others),
        stated=tuple(sorted(findings.readable)),
    )


def _read_lines(whole: list[str], cut: str, findings: _Findings, own: Trackers) -> None:
    body = lines.split_lines(whole, cut, own)
    for stray in body.strays:
        findings.problem(f"a line that states no field: {stray[:_SHOWN]!r}")
    known = in_order_of_form([(each.field, each.inline[:1] in tuple("[［")) for each in body.entries])
    for entry, field in zip(body.entries, known, strict=True):
        entry.field = field
        if entry.field is None:
            _read_unknown(entry.key, lines.node_of(entry), findings)
            continue
        if entry.cut:
            findings.bad(entry.field, "cut off")
        if not entry.cut or entry.inline or entry.more:
            _read_field(entry.field, entry.key, lines.node_of(entry), findings, own)


def _is_data(text: str, own: Trackers) -> bool:
    """Whether a body is a single JSON or flow-style map, with or without braces."""
    if _MAP_START.match(text):
        return True
    first, _, rest = text.partition("\n")
    joined = not rest or first.rstrip()[-1:] in tuple(",，[{")
    return joined and text[:1] in tuple('"＂“') and field_of(lines.split_key(first)[0], own) is not None


def _read_data(text: str, cut: str, closed: bool, findings: _Findings, own: Trackers) -> None:
    if bracketed := _MAP_START.match(text) is not None:
        text = lines.closed_late(text)
    _read_node(flow.read_sequence(text) if bracketed else flow.read_pairs(text), closed, findings, own)
    if cut and (field := field_of(lines.split_key(cut.strip())[0], own)):
        findings.bad(field, "cut off")


def _read_node(node: Node, closed: bool, findings: _Findings, own: Trackers) -> None:
    if isinstance(node, Seq):
        for item in node.items:
            _read_node(item, closed, findings, own)
        return
    if isinstance(node, Scalar):
        findings.problem(f"a value that states no field: {node.text[:_SHOWN]!r}")
        return
    known = in_order_of_form([(field_of(key, own), isinstance(value, Seq)) for key, value in node.pairs])
    for (key, value), field in zip(node.pairs, known, strict=True):
        if field:
            if not closed and not flow.is_closed(value):
                findings.bad(field, "cut off")
            _read_field(field, key, value, findings, own)
        elif is_header(key) and isinstance(value, Pairs):
            _read_node(value, closed, findings, own)
        elif key:
            _read_unknown(key, value, findings)
        else:
            _read_node(value, closed, findings, own)


def _read_unknown(key: str, node: Node, findings: _Findings) -> None:
    """Read ``status: {Tam: dead}`` as a change of status. Keep other keys that are no field and no tracker."""
    table = flow.read_value(node.text)[0] if isinstance(node, Scalar) else node
    told = table.pairs if isinstance(table, Pairs) and record_key(Kind.STATUSES, key) == "status" else ()
    if any(isinstance(value, Scalar) and is_status(value.text) for _, value in told):
        _read_field(_STATUSES, key, table, findings, NO_TRACKERS)
    else:
        findings.other(key, node)


def _read_field(field: Field, key: str, node: Node, findings: _Findings, own: Trackers) -> None:
    if field.kind is Kind.COUNT:
        if isinstance(node, Seq) and (tracker := own.find(field.name)) and tracker.kind is TrackerKind.THREADS:
            node = _with_commas(node)
        while isinstance(node, Pairs) and len(node.pairs) == 1 and not node.pairs[0][0]:
            node = node.pairs[0][1]  # its brace is doubled
        rows = node.pairs if isinstance(node, Pairs) else (("", node),)
        if rows and all(_SLOT.search(subject) or any(map(_SLOT.search, _texts(value))) for subject, value in rows):
            findings.copied.add(field.name)
        values: dict[str, tuple[str, ...]] = {}
        subject = ""
        for named, value in rows:
            subject = named or subject  # what has no key goes on with the value before it: {Mina: a dress, a hat}
            said = tuple(flow.single(text, '"') for text in _texts(value) if not _SLOT.search(text))
            values[subject] = (*values.get(subject, ()), *said)
        for subject, said in values.items():
            findings.count(field, subject, () if _SLOT.search(subject) else said)
        return
    if field.kind is Kind.CHANGE and names_level(key) and (level := read_level(node)) is not None:
        findings.take(_HP, level)
        return
    before = len(findings.problems) + findings.unsaid

    def complain(why: str) -> None:
        findings.bad(field, why)

    try:
        value = _read_value(field, key, node, complain)
    except Unreadable as problem:
        complain(str(problem))
        return
    if not value and _is_copied(node, field):
        findings.copied.add(field.name)
    if field.kind is Kind.COMPANY:
        findings.say(field, value)
        return
    if value or len(findings.problems) + findings.unsaid == before:
        findings.take(field, value)


def _is_copied(node: Node, field: Field) -> bool:
    """Whether a value that states nothing holds a placeholder."""
    if isinstance(node, Scalar):
        if _SLOT.search(node.text) or _GAP.fullmatch(node.text):
            return True
        if described := _DESCRIBED.fullmatch(node.text.strip()):
            inner = Scalar(described[1])
            return not is_nothing(inner) and not nothing_in_list(inner)
        pieces = (piece.strip() for piece in _ARROW.split(node.text))
        return any(field.templates.holds(each, bracketed=True) for each in pieces if each)
    if isinstance(node, Seq):
        return any(_is_copied(item, field) for item in node.items)
    named = (Scalar(key) for key, _ in node.pairs if _ARROW.search(key))
    return any(_is_copied(each, field) for each in (*named, *(value for _, value in node.pairs)))


_SIGNS = "+-−–"


def _with_commas(threads: Seq) -> Seq:
    """A list of threads, in which a part without a sign, news or quotes that begins in the middle of a sentence belongs
    to the thread before it, whose comma was not quoted: ``[+buy flour, with Mina (Monday)]``.

    That is one that begins with a preposition or a conjunction, or with a small letter behind a thread with a plus, or
    whose quote the thread before it has begun.
    """
    items: list[Node] = []
    for item in threads.items:
        last = items[-1] if items else None
        if isinstance(item, Scalar) and isinstance(last, Scalar) and not (item.quoted or last.quoted):
            if last.text.count('"') % 2 or last.text.count("“") > last.text.count("”"):
                items[-1] = Scalar(f"{last.text}, {item.text}")
                continue
            begins_none = item.text[:1] not in tuple(_SIGNS) and not re.search("[:：]", _REMARK.sub("", item.text))
            opens = last.text[:1] == "+" and _REMARK.search(last.text) is None
            if begins_none and (_goes_on(item.text) or (opens and not item.text[:1].isupper())):
                items[-1] = Scalar(f"{last.text}, {item.text}")
                continue
        items.append(item)
    return Seq(tuple(items), threads.closed)


_REMARK = re.compile(r"[(（][^()（）]*[)）]")


def _goes_on(text: str) -> bool:
    """Whether a text begins with a word that begins no sentence: with Mina, and the flour."""
    words = all_of(lambda each: each.names.prepositions)
    joins = any(re.compile(each.names.joint).match(f"x {text}", 1) for each in every())
    return joins or text.partition(" ")[0] in words


def _texts(node: Node) -> tuple[str, ...]:
    """The texts of a value: one for each item of a list."""
    if isinstance(node, Scalar):
        return (node.text,)
    if isinstance(node, Seq):
        return tuple(text for item in node.items for text in _texts(item)) or ("[]",)
    return tuple(f"{key}: {', '.join(_texts(value))}" if key else ", ".join(_texts(value)) for key, value in node.pairs)


_PLAYER = frozenset(map(squash, all_of(lambda each: each.names.player)))


def _players(node: Node) -> Node:
    """The player's own of several people's values: ``{wolf: -12, Player: -3}``. SAGA counts nobody else's."""
    pairs = node.pairs if isinstance(node, Pairs) else ()
    return next((value for key, value in pairs if squash(key) in _PLAYER), node)


def _read_value(field: Field, key: str, node: Node, complain: Complain) -> Any:
    match field.kind:
        case Kind.FLAG:
            return read_flag(node)
        case Kind.CHANGE:
            return read_change(_players(node), level=names_level(key))
        case Kind.LEVEL:
            return read_level(node)
        case Kind.COMPANY:
            return read_company(node, field, complain)
        case Kind.NAME:
            return read_destination(node, field.templates)
        case Kind.TEXT:
            return read_text(node, field.templates, one_name=False)
    return read_list(node, field, complain)
