"""Reads what a garbled report says of trackers, by the names that the story knows.

However a model dresses its report – elements, sections, rows, records, dotted keys –, the names of what is counted and
of the people stand in it. What stands behind such a name, up to the next one, is its value::

    <mood><Mina>3</Mina></mood>      outfit.Mina = "red coat"      [affection]
    Mina's mood: 3                   {"hunger": {"change": 7}}     Mina = +5
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from saga_core.language import any_of, normalized, squash
from saga_core.state_block.counted import (
    BEGINS,
    CHANGES,
    DRESS,
    GAINS,
    LOSSES,
    MOVES,
    NEAR,
    POSSESSED,
    POSSESSIVE,
    SET,
    Name,
    assigned,
    named_in,
    trackers_in,
    without_heads,
)
from saga_core.state_block.fields import CountReport, Kind, field_of
from saga_core.trackers import (
    Tracker,
    TrackerKind,
    Trackers,
    UnreadableValue,
    Whose,
    moved_items,
    read_value,
    same_words,
)

_LONGEST = 20_000
"""The characters of a report in which names are looked for."""
_MOST_PEOPLE = 64
_OF_PEOPLE = frozenset({Whose.CHARACTER, Whose.PAIR})

_EDGE, _NO_LETTER = r"(?<![^\W_])", r"(?![^\W\d_])"
_IS_POSSESSED = re.compile(POSSESSIVE)
_BEHIND_PERSON = re.compile(rf"(?:{POSSESSIVE})|[^\W\d_\x00-\x7f]{{0,2}}(?![^\W\d_])")
_OPENS_SCOPE = re.compile(rf"[ \t\"'*_`]*[.:={{(>/|–—→-]|{POSSESSIVE}")
_NAMES_PERSON = re.compile(r"(?:name|who|character|npc|person)[\"']?\s*[:=]\s*[\"']?\Z", re.IGNORECASE)
_SCOPE = re.compile(
    rf"(?:{POSSESSIVE})[\s\"'*_`]*|[ \t\"'*_`]*(?:[.:=>{{(\[/|–—→-]|->)[^\w\n]*(?:\n[^\w\n]*)?|[^\w\n,;]*\n[^\w\n]*"
)
_TOWARDS = re.compile(r"[^\n:=,;|.+\d-]{1,24}")
"""What stands between whose feeling it is and its name: ``Mina's fondness for you``."""
_ALONE = re.compile(r"(?:[^\w\n]|\d{1,2}[.)])*+")
_KEY = re.compile(
    rf"(?:^|\n)(?P<indent>[ \t]*+)(?:{DRESS}|[-+*•>#]|[ \t])*+(?P<key>[^\W\d][\w -]{{0,30}})(?:{DRESS})*+[ \t]*[:=]"
)

_RECORD = re.compile(
    r"(?P<key>(?<![^\W_])[A-Za-z][A-Za-z_]{1,20})[\"']?[ \t]*[:=>][ \t]*"
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|\[[^\[\]]*\]|[^,;\n<{}\[\]]+)"
)
_GAINS, _LOSSES = (
    re.compile(rf"[\"']?(?:{any_of(words)})[\"']?[ \t]*:", re.IGNORECASE)
    for words in (lambda each: each.values.gain, lambda each: each.values.loss)
)
"""The key of what was gained or lost, in any language: ``"新增": ["烧黑的印章"]``."""
_VALUES = frozenset("value val new current now total amount set level score state status is after content text".split())
_OTHERS = frozenset(
    "name who character npc person to from target towards old previous prev before was max maximum min minimum reason"
    " note notes comment why unit cause description desc type kind".split()
)
_RECORD_WORDS = CHANGES | GAINS | LOSSES | _VALUES | _OTHERS
_BEFORE_KEY = re.compile(r"\n[^\n:=|,;]{0,30}")
"""What stands before a name in its line: ``mood`` before ``기분``."""
_INNER = re.compile(r"[:：=]")
_LATEX = re.compile(r"\$?\\(?:long)?(?:right|Right)arrow\$?|\$\\to\$")
_POINTS = re.compile(r"[-=]{1,3}>")
_TAG = re.compile(r"</?[^<>\n]{0,80}>")
_STRUCK = re.compile(r"~~[^~\n]{1,80}~~")
_MARKS = re.compile(r"[\"“”„*`《》〈〉{}\[\]【】「」『』|<>~«»]|(?<![^\W_])'|'(?![^\W_])")
_BREAK = re.compile(r"[,、;\n|]|(?:^|(?<=\s))[-•*](?=\s)")
_ARROW = re.compile(
    r"[\"'*_`\s]{0,6}(?:-{1,3}>|={1,3}>|→|⇒|➔|➜|➡)[\"'*_`\s]{0,6}"
    r"(?P<to>[^\W\d][\w .]{0,30}?)?(?=[\s\"'*_`)\]]*[:=+\-\d{(<|]|\s*$)"
)


def is_doubtful(report: CountReport, own: Trackers, people: frozenset[str]) -> bool:
    """Whether a report of a tracker was misread: it has no value, or one of a subject that is none. ``people`` are the
    squashed names of characters."""
    tracker = own.find(report.tracker)
    if tracker is None or tracker.kind is TrackerKind.THREADS:
        return False
    if any(_INNER.search(value) and named_in(value, own) - {tracker.name} for value in report.values):
        return True
    if not _is_value(tracker, report.values) or squash(report.subject) in _RECORD_WORDS:
        return True
    if tracker.kind is TrackerKind.LIST and MOVES.fullmatch(report.subject):
        return True
    if any(squash(value.partition(":")[0]) in _RECORD_WORDS for value in report.values if ":" in value):
        return True
    if tracker.whose in _OF_PEOPLE:
        dressed = squash(report.subject) not in people and re.search(r"[(\[（]", report.subject)
        said = squash(" ".join(report.values)) if tracker.kind is not TrackerKind.TEXT else ""
        mixed = any(name in said for name in people)
        return bool(people) and (not report.subject or bool(dressed) or mixed)
    return any(squash(report.subject) in same_words(name) | {squash(name)} for _, name in tracker.steps)


def _plain(body: str, own: Trackers, people: Sequence[str] = ()) -> str:
    """``body`` with tables whose heads are names, commands and escaped marks as lines of names and values."""
    text = re.sub(r"\\([^\w\s])", r"\1", normalized("NFKC", body).replace("−", "-"))
    text = without_heads(_LATEX.sub("→", text))
    if "_." in text or "::" in text:
        text = SET.sub(assigned, text)
    return "\n".join(_rows(text.split("\n"), own, people)) if "|" in text else text


def _rows(lines: Sequence[str], own: Trackers, people: Sequence[str]) -> Iterator[str]:
    """The lines, with the cells of tables as lines of names and values."""
    table: list[list[str]] = []
    for line in (*lines, ""):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.count("|") > 1 else []
        if cells and (not table or len(cells) == len(table[0])):
            if any(re.search(r"\w", cell) for cell in cells):
                table.append(cells)
            continue
        yield from _of_table(table, own, people)
        table = []
        yield line


def _of_table(rows: list[list[str]], own: Trackers, people: Sequence[str]) -> Iterator[str]:
    heads = rows[0] if rows else []
    named = [own.find(cell.strip("*_` ")) is not None for cell in heads]
    if sum(named) >= 2 and len(rows) > 1 and ":" not in "".join(heads):
        for row in rows[1:]:
            who = "" if named[0] else f"{row[0]}."
            cells = list(zip(heads, row, strict=True))[bool(who) :]
            yield from (f"{who}{head}: {cell}" for head, cell in cells if cell)
        return
    if len(heads) > 1 and all(squash(head) in set(map(squash, people)) for head in heads[1:]):
        for row in rows[1:]:
            said = (f"{who}: {cell}" for who, cell in zip(heads[1:], row[1:], strict=True) if cell)
            yield f"{row[0]}: {', '.join(said)}"
        return
    result = _column_of_result(rows) if len(heads) == 4 else 0
    ends = [len(row) == 3 and _is_value_of(row[0], row[2], own) for row in rows]
    has_changes = all(
        _is_signed(row[2]) and not _is_signed(row[1]) for row, ends_so in zip(rows, ends, strict=True) if ends_so
    )
    for row, ends_so in zip(rows, ends, strict=True):
        if len(row) == 3 and named_in(f"{row[0]}: 1", own):
            yield f"{row[0]}: {row[2] if ends_so and not has_changes else row[1]}"
        else:
            yield f"{row[0]}: {row[result]}" if result and row[0] else "| " + " | ".join(row) + " |"


def _is_signed(cell: str) -> bool:
    return cell[:1] in ("+", "-")


def _is_value_of(name: str, cell: str, own: Trackers) -> bool:
    """Whether a cell of a row can be a value of the tracker that the row names, and no text."""
    trackers = [each for each in own if each.name in named_in(f"{name}: 1", own)]
    return bool(trackers) and trackers[0].kind not in _WHOLE and _is_value(trackers[0], [cell])


def _column_of_result(rows: list[list[str]]) -> int:
    """The column of what is now, in a table of what was, what changed and what is, in any order; 0 for none."""
    numbers = [[re.fullmatch(r"[^\d+-]{0,3}([+-]?\d{1,9})\D{0,12}", cell) for cell in row[1:]] for row in rows]
    sums = [[int(found[1]) for found in row if found] for row in numbers if all(row)]
    last = sums and all(a + b == c for a, b, c in sums)
    middle = sums and all(a + c == b for a, b, c in sums)
    return 3 if last else 2 if middle else 0


def read_by_names(body: str, own: Trackers, people: Iterable[str]) -> Iterator[CountReport]:
    """What ``body`` says of ``own`` trackers, by their names. ``people`` are the names of characters. What cannot
    be read is left out."""
    people = tuple(people)
    text = _plain(body[:_LONGEST], own, people)
    persons = list(_persons(text, people, own))
    keys = _keys(text, own, persons)
    scope = ""
    starts = [each.start for each in persons]

    def between(start: int, end: int) -> Sequence[Name]:
        return persons[bisect_left(starts, start) : bisect_left(starts, end)]

    for at, key in enumerate(keys):
        before = keys[at - 1].end if at else 0
        ahead = between(before, key.start)
        of_people = key.tracker is not None and key.tracker.whose in _OF_PEOPLE
        if key.tracker is None and not key.of_form:
            continue  # another thing of the same person
        if not of_people:
            scope = ""
        elif ahead and _is_scope(text, ahead[-1], key, may_head=not at or not keys[at - 1].of_people):
            scope = ahead[-1].person
        if key.tracker is None:
            continue
        end = keys[at + 1].start if at + 1 < len(keys) else len(text)
        line = text.rfind("\n", key.end, end)
        if at + 1 < len(keys) and line >= 0 and _BEFORE_KEY.fullmatch(text, line, end):
            end = line
        inside = [each for each in between(key.end, end) if _is_subject(text, each, key.end)]
        if (
            inside
            and at + 1 < len(keys)
            and keys[at + 1].tracker
            and _is_scope(text, inside[-1], keys[at + 1], may_head=True)
        ):
            end = inside.pop().start
        if of_people and inside:
            yield from _of_people(key.tracker, text, key, end, inside)
        elif said := _values(key.tracker, text[key.end : end], key.sign):
            yield CountReport(key.tracker.name, said, scope)


# -- names -------------------------------------------------------------------------------------------------------------


def _persons(text: str, people: Iterable[str], own: Trackers) -> Iterator[Name]:
    names = tuple(dict.fromkeys(normalized("NFKC", each) for each in people if each.strip()))
    inside = tuple(name for name in names if name.casefold() in text.casefold())[:_MOST_PEOPLE]
    for found in _pattern_of_people(inside).finditer(text) if inside else ():
        start, end = found.span()
        if not found[0].isascii():
            begins = not re.match(r"[^\W\d_]", text[start - 1 : start]) or POSSESSED.search(
                text[max(0, start - 8) : start]
            )
            towards = _TOWARDS.match(text, end) if own else None
            ends = _BEHIND_PERSON.match(text, end) or (towards and own.in_text.search(text, end, towards.end()))
            if not begins or not ends:
                continue
        yield Name(start, end, person=found[0])


@lru_cache(maxsize=64)
def _pattern_of_people(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        "|".join(
            rf"{_EDGE}{re.escape(name)}{_NO_LETTER}" if name.isascii() else re.escape(name)
            for name in sorted(names, key=len, reverse=True)
        ),
        re.IGNORECASE,
    )


def _keys(text: str, own: Trackers, persons: Sequence[Name]) -> list[Name]:
    found = {each.start: each for each in trackers_in(text, own, loosely=True)}
    starts = sorted(found)
    of_persons = {each.start for each in persons}
    indent = 0
    for key in _KEY.finditer(text):
        start, columns = key.start("key"), len(key["indent"])
        at = bisect_left(starts, key.start())
        if at < len(starts) and starts[at] < key.end():
            indent = columns
        elif start in of_persons or squash(key["key"]) in _RECORD_WORDS or SET.match(text, start):
            continue
        else:
            field = field_of(key["key"])
            if field is not None or columns <= indent:
                lists_people = field is not None and field.kind in (Kind.COMPANY, Kind.NAMES)
                found[start] = Name(start, key.end("key"), of_form=field is not None, of_people=lists_people)
    return [found[at] for at in sorted(found)]


def _is_scope(text: str, person: Name, key: Name, *, may_head: bool = False) -> bool:
    """Whether a person stands before the name of a tracker as the one whose value it is. ``may_head`` says that a name
    alone in its line is a heading."""
    gap = text[person.end : key.start]
    of_pair = key.tracker is not None and key.tracker.whose is Whose.PAIR
    begins = BEGINS.search(text[max(0, person.start - NEAR) : person.start]) is not None
    if gap in ("", "_") or (begins and (gap == " " or (of_pair and _TOWARDS.fullmatch(gap)))):
        return True
    if _NAMES_PERSON.search(text[max(0, person.start - 20) : person.start]):
        return re.search(r"[}>\n]", gap) is None
    if not _SCOPE.fullmatch(gap):
        return False
    if "\n" not in gap or _OPENS_SCOPE.match(gap):
        return True
    return may_head and _ALONE.fullmatch(text, text.rfind("\n", 0, person.start) + 1, person.start) is not None


_BEFORE_SUBJECT = re.compile(r"(?:^|[,、・·;|/({\[<>:=\n]|->|→)[\s\"'“‘*_`\-•({\[<]*\Z")
_BEHIND_SUBJECT = re.compile(r"[^\W\d_\x00-\x7f]{0,2}[\"'”’*_`)\]> \t]*(?:[:=+\-–—→↑↓|({\[<\d\n,;}]|\Z)")


def _is_subject(text: str, person: Name, start: int) -> bool:
    """Whether a person in a value is the one whose it is, and not a part of its text: Joon's parka."""
    if text.endswith("</", start, person.start):
        return False
    if _BEHIND_SUBJECT.match(text, person.end):
        return True
    before = text[max(start, person.start - NEAR) : person.start]
    return not _IS_POSSESSED.match(text, person.end) and _BEFORE_SUBJECT.search(before) is not None


# -- values ------------------------------------------------------------------------------------------------------------


def _of_people(tracker: Tracker, text: str, key: Name, end: int, people: Sequence[Name]) -> Iterator[CountReport]:
    """The values of a tracker that stand behind the people's names, or before them: ``red coat (Mina)``."""
    start = key.end
    lead = _values(tracker, text[start : people[0].start])
    tail = _values(tracker, text[people[-1].end : end])
    comes_first = bool(lead) and not tail
    edge = start
    subject = ""
    for at, person in enumerate(people):
        stop = people[at + 1].start if at + 1 < len(people) else end
        behind = text[person.end : stop]
        if comes_first:
            said = _values(tracker, text[edge : person.start])
            edge, subject = person.end, person.person
        else:
            arrow = _ARROW.match(behind) if tracker.whose is Whose.PAIR else None
            subject = f"{subject} -> {person.person}" if subject else person.person
            if arrow is not None:
                if not arrow["to"]:
                    continue
                subject, behind = f"{subject} -> {arrow['to'].strip()}", behind[arrow.end() :]
            said = _values(tracker, behind, key.sign)
        if said:
            yield CountReport(tracker.name, said, subject)
        if said or tracker.whose is not Whose.PAIR or re.search(r"[\w,;]", behind):
            subject = ""


def _is_value(tracker: Tracker, said: Sequence[str]) -> bool:
    try:
        return bool(said) and any(map(str.strip, said)) and read_value(tracker, tuple(said)) is not None
    except UnreadableValue:
        return False


def _values(tracker: Tracker, chunk: str, sign: str = "") -> tuple[str, ...]:
    """What a part of a report says of one value; empty if that is none. ``sign`` is that of a number without one."""
    chunk = _NEXT.sub("", _to_end_of_map(chunk))
    chunk = re.sub(r"\A[\s:=|>/.)\]\"'”’]+", " ", re.sub(rf"\A(?:{POSSESSIVE}){_NO_LETTER}", "", chunk))
    if re.match(r" [-–—] ", chunk):
        chunk = chunk[3:]
    for pattern, key in ((_GAINS, "gained"), (_LOSSES, "lost")):
        chunk = pattern.sub(f"{key}:", chunk)
    record = [(found["key"].casefold(), found["value"]) for found in _RECORD.finditer(chunk)]
    record = [(key, value) for key, value in record if key in _RECORD_WORDS]
    texts: list[str] = []
    if any(key not in _OTHERS for key, _ in record):
        absolute = any(key in _VALUES for key, _ in record) and tracker.kind is not TrackerKind.LIST
        for key, value in record:
            gains = key in GAINS | CHANGES or (key == "new" and tracker.kind is TrackerKind.LIST)
            own_sign = "+" if gains else "-" if key in LOSSES else ""
            if key in _OTHERS or (absolute and own_sign):
                continue
            for each in _parts(tracker, value):
                is_signed = each[:1] in ("+", "-") or (tracker.kind not in _SIGNED)
                texts.append(each if is_signed else f"{own_sign or sign}{each}")
    else:
        texts = list(_parts(tracker, _OTHER_KEY.sub("", chunk)))
    return tuple(texts) if _is_value(tracker, texts) else ()


_NEXT = re.compile(r"\n(?:[^\w\n]|\d{1,2}[.)])*\Z")
"""The beginning of the line of the next name."""
_OTHER_KEY = re.compile(r"\A[\s\"',]*[^\W\d_]{1,8}[\"']\s*:\s*")
"""A key of a record in another language: ``"数值": 26``."""
_WHOLE = frozenset({TrackerKind.TEXT, TrackerKind.LIST, TrackerKind.THREADS})
_SIGNED = frozenset({TrackerKind.NUMBER, TrackerKind.COUNTER, TrackerKind.MONEY, TrackerKind.METER, TrackerKind.LIST})


def _to_end_of_map(text: str) -> str:
    """``text`` up to the brace that closes the map in which it stands."""
    depth = 0
    for brace in re.finditer("[{}]", text):
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            return text[: brace.start()]
    return text


def _total(text: str) -> str:
    """The last of three numbers that add up: what was, what changed and what is; "" for any other text."""
    numbers = re.findall(r"[+-]?\d{1,9}", text)
    if len(numbers) != 3 or re.search(r"[^\W\d]", text) or int(numbers[0]) + int(numbers[1]) != int(numbers[2]):
        return ""
    return f"={numbers[2]}"


def _without_loose_parentheses(text: str) -> str:
    if text.count("(") != text.count(")") or (text[:1] == "(" and text[-1:] == ")" and text.count("(") == 1):
        return text.strip("() ")
    return text


def _parts(tracker: Tracker, chunk: str) -> Iterator[str]:
    """The texts of a value without dress: one, or for a list each of its items."""
    is_list = tracker.kind is TrackerKind.LIST
    if is_list and (moved := [item for part in re.split(r"[,、;\n]", chunk) for item in moved_items(part)]):
        yield from moved
        return
    chunk = _POINTS.sub("→", _STRUCK.sub("", chunk))
    plain = _MARKS.sub("\n" if is_list else " ", _TAG.sub("\n", chunk))
    pieces = _BREAK.split(plain) if is_list else plain.split("\n")
    cleaned = [" ".join(piece.split()).strip(" ,;:=.、。|") for piece in pieces]
    cleaned = [_without_loose_parentheses(piece) for piece in cleaned]
    kept = [piece for piece in cleaned if re.search(r"\w", piece)]
    if is_list:
        yield from kept
    elif kept and (total := _total(kept[0])) and tracker.numeric:
        yield total
    elif kept:
        yield " ".join(kept) if tracker.kind is TrackerKind.MONEY else kept[0]
