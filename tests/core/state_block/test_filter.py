"""The filter as a whole: reports without a fence of their own are hidden too, whatever the chunks, and nothing else."""

from __future__ import annotations

import itertools
import re
import time
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saga_core.language import every
from saga_core.state_block import BlockFilter, BlockStatus, Hidden, RawBlock, hide, read_reply
from saga_core.state_block.fields import FIELDS, field_of, is_header
from tests.core.state_block import test_fences
from tests.patterns.padding import DEEP

S = " \t\u00a0\u3000\r>"
WHITE = " \t\u00a0\u3000\r\n"
NAMES = {field.name for field in FIELDS}
HEADERS = sorted({header for each in every() for header in each.block.headers})
KEYS = sorted({key for field in FIELDS for key in (field.name, *field.aliases.split())} | set(HEADERS))
DOCUMENT = re.compile(rf"\A[{S}]{{0,40}}[-–—−]{{3}}[ \t]{{1,9}}(?=[{{｛])")
DRESS = re.compile(
    rf"[{S}]{{0,40}}+(?:[-*+•–—−][ \t]{{1,9}}+)?+(?:#{{1,6}}+[ \t]{{0,9}}+)?+[*_`\"'{{｛\[［【(（ ]{{0,9}}+"
)
LINE = re.compile(
    DRESS.pattern + "(?P<word>[\\w\u0300-\u036f\u3099\u309a -]{1,40}+)"
    rf"(?P<rest>[*_`\"'\]］】)）]{{0,4}}+[{S[:-1]}]{{0,9}}+(?P<assign>[:：=＝](?P<value>.*))?)",
    re.S,
)
FENCED = re.compile(
    rf"[{S}]{{0,40}}+(?P<run>`{{3,}}+|~{{3,}}+)[{S[:-2]}]{{0,9}}[\w.+-]{{0,20}}[{S[:-1]}]{{0,9}}(?P<rest>\{{.*)?", re.S
)
THINK = re.compile(r"<(/?)think(?:ing)?>", re.I | re.A)
TAG = re.compile(r"<([^<>/\s]{1,40})>")
ELEMENT = re.compile(r"<([\w -]{1,40})>(?:[^<\n]*</\1>)?", re.I)
ANY_NAME = "|".join(sorted(NAMES, key=len, reverse=True))
NAMED = re.compile(
    rf"^[{S}]{{0,40}}(?:[-*+•–—−][ \t]{{1,9}})?[*_`\"'{{ ]{{0,9}}({ANY_NAME})[*_`\"']{{0,4}}[ \t]{{0,9}}[:：=＝]",
    re.I | re.M,
)


def bare(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text.casefold()) if char.isalnum())


class Lines:
    """The lines of a report, read whole: what the automaton tells from as little of them as it can."""

    def __init__(self, kind: str, closer: str = "") -> None:
        self.kind, self.closer = kind, closer
        self.names: set[str] = set()
        self.fields: set[str] = set()
        self.body = ""
        self.rooted = self.blank = self.listed = self.headed = self.elements = False
        self.depth = 0

    def sort(self, line: str) -> str:
        line = DOCUMENT.sub("", line, count=1)
        inner = line.strip(S)
        if set(inner) <= set("-=_*"):
            return "rule" if 3 <= len(inner) <= 80 else "no"
        if inner in ("{", "｛", "[{", "{{"):
            return "root"
        found = LINE.match(line)
        if not found:
            return "no"
        word = found["word"]
        if found.end() < len(line):
            if line[found.end()] in "[［{｛" and field_of(word):
                return "field" if word.strip().casefold() in NAMES else "key"
            return "no"
        if found["assign"] is None:
            return "head" if is_header(word) else "no"
        value = found["value"].strip(f"{S}*_`\"'")
        if is_header(word):
            return "head" if not value else "root" if value[0] in "{｛" else "no"
        if word.strip().casefold() in NAMES:
            return "field"
        return "key" if field_of(word) else "pair" if len(word) <= 30 and bare(word) else "no"

    def may_be_cut(self, line: str) -> bool:
        inner = line.strip(S)
        if inner[0] == "<" and (self.rooted or self.kind != "bare"):
            if self.kind == "tagged" and self.closer.startswith(inner.casefold()):
                return True
            element = ELEMENT.match(inner)
            if element is None:
                return re.fullmatch(r"<[\w -]{0,40}", inner) is not None
            line = inner = f"{element[1]}:"
        found = LINE.match(line)
        if self.kind == "fenced" and inner[0] == self.closer[0]:
            return not inner.strip(inner[0])
        if set(inner) <= set("-=_*"):
            return len(inner) <= 80
        if self.is_counterpart(inner):
            head = inner[2:-1] if inner[-1] in "]】" else inner[2:]
            plain = len(head) <= 40 and not re.search(r"[\s<>/]", head)
            return (
                is_header(head)
                if inner[-1] in "]】"
                else plain and any(bare(each).startswith(bare(head)) for each in HEADERS)
            )
        line = DOCUMENT.sub("", line, count=1)
        dress = DRESS.match(line)
        if dress and not line[dress.end() :].strip(S):
            return True
        if self.kind == "tagged" and self.closer.startswith(line.strip().lstrip(S).casefold()):
            return True
        if inner in ("•", "–", "—", "−"):
            return True
        if inner in (".", "..") and self.fields and (self.kind != "bare" or self.rooted):
            return True
        found = LINE.match(line)
        if not found:
            return False
        if found.end() < len(line):
            if line[found.end()] in "[［{｛" and field_of(found["word"]):
                return found["word"].strip().casefold() in NAMES or self.takes_keys()
            return False
        word, pairs = found["word"], self.kind != "bare" and len(found["word"]) <= 30
        if found["assign"] is not None:
            return is_header(word) and not found["value"].strip(f"{S}*_`\"'")
        if found["rest"]:
            return is_header(word) or field_of(word) is not None or pairs
        return pairs or any(bare(key).startswith(bare(word)) for key in KEYS)

    def takes_keys(self) -> bool:
        return bool(self.fields or self.rooted or self.kind != "bare")

    def is_counterpart(self, inner: str) -> bool:
        return self.kind == "bare" and bool(self.fields) and self.depth == 0 and inner[:2] in ("[/", "【/")

    def accepts(self, line: str) -> bool:
        inner = line.strip(S)
        if not inner:
            return True
        if self.kind == "fenced" and inner[0] == self.closer[0]:
            return not inner.strip(inner[0]) and len(inner) >= len(self.closer)
        if self.is_counterpart(inner):
            return inner[-1] in "]】" and is_header(inner[2:-1])
        if self.kind == "tagged" and line.lstrip(S).casefold().startswith(self.closer):
            return True
        if self.fields:
            bullet = self.listed and re.match(r"[-*+•–—−][ \t]", inner)
            data = self.depth > 0 and inner[0] in "\"'“[{［｛"
            parted = self.blank and self.kind == "bare" and not (self.rooted and (self.depth or self.listed))
            if inner == "..." and (self.kind != "bare" or self.rooted) and not parted:
                return True
            if inner[0] in "]}］｝" or (not parted and (line[0] in S[:4] or data or bullet)):
                return True
        if inner[0] == "<" and (self.rooted or self.kind != "bare"):
            element = ELEMENT.match(inner)
            if element is None:
                return False
            line = f"{element[1]}:"
        sort, pairs = self.sort(line), self.kind != "bare" and (self.fields or self.rooted)
        if sort == "key":
            return self.takes_keys()
        return (
            sort in ("field", "rule")
            or (sort == "pair" and bool(pairs))
            or (sort in ("head", "root") and not self.fields)
        )

    def take(self, line: str, end: str) -> int | None:
        """Where the line closes the report, if it does."""
        self.headed = True
        content, closes = line, None
        if self.kind == "tagged" and self.closer in line.casefold():
            at = line.casefold().index(self.closer)
            content, end, closes = line[:at], "", at + len(self.closer)
        elif self.kind == "fenced" and line.rstrip(S + "\n").endswith(self.closer):
            content, end, closes = line.rstrip(S + "\n").rstrip(self.closer[0]), "", len(line)
        inner = content.strip(S)
        if self.is_counterpart(inner) and is_header(inner[2:-1]):
            content, inner, closes = "", "", len(line)
        if not inner:
            self.blank = True
            return closes
        named = ELEMENT.sub(r"\n\1:", content).strip() if inner[0] == "<" else content
        self.elements = self.elements or inner[0] == "<"
        sort = self.sort(named)
        heads = sort == "head" and not self.fields
        self.rooted = self.rooted or heads or sort == "root" or inner[0] in "{｛"
        if heads or sort == "rule":
            return closes
        if sort == "root" and inner[0] not in "{｛[":
            content = content[min(at for at in (content.find("{"), content.find("｛")) if at >= 0) :]
        self.names |= {name.casefold() for name in NAMED.findall(re.sub("[,{;|/]", "\n", named))}
        self.fields |= self.names
        if sort in ("field", "key"):
            found = field_of(LINE.match(named)["word"])  # type: ignore[index]
            self.fields |= {found.name} if found else set()
        self.body += content + end
        self.blank = False
        self.listed = inner[-1] in "[［{｛:：|" or bool(self.listed and re.match(r"[-*+•–—−][ \t]", inner))
        self.depth = max(
            0, self.depth + len(re.findall(r"[\[［{｛]", content)) - len(re.findall(r"[\]］}｝]", content))
        )
        return closes

    def tells(self) -> bool:
        return (len(self.names) > 1 and any("_" in name for name in self.names)) or (
            (self.kind == "tagged" or self.elements) and len(self.fields) > 1
        )


def report_at(text: str, pos: int, lines: Lines) -> tuple[int, bool | None]:
    """Where the lines from ``pos`` end, and whether they are closed. None for no report: then where they fail, which is
    below zero when the rest of that line is a line of the story.
    """
    while pos < len(text):
        end = text.find("\n", pos)
        last = end < 0
        line = text[pos:] if last else text[pos:end]
        fence = FENCED.fullmatch(line) if lines.kind == "bare" and lines.headed and not lines.body else None
        if fence and (fence["rest"] or not last):
            lines.kind, lines.closer = "fenced", fence["run"]
            pos += fence.start("rest") if fence["rest"] else len(line) + 1
            continue
        if THINK.search(line.casefold().split(lines.closer)[0] if lines.kind == "tagged" else line):
            return -pos - 1, None
        accepted = lines.accepts(line) or (last and bool(lines.fields) and lines.may_be_cut(line))
        if not accepted:
            return pos, None
        closes = lines.take(line, "" if last else "\n")
        if last and lines.fields:
            word = re.sub(r"^[^\w]*", "", line).strip().casefold()
            lines.names |= {name for name in NAMES if "_" in word and name.startswith(word)}
        if closes is not None:
            return pos + closes, True
        pos = len(text) if last else end + 1
    return len(text), False


WHOLE = re.compile(r"[\s\]})\"'”.。!?]\Z|\b(?:null|none|true|false)\Z|(?:なし|없음|无|無|没有|沒有)\Z", re.I)


def is_parted(shown: str) -> bool:
    """Whether a field may begin a report behind what was shown since the last one."""
    gap = re.search(rf"[{WHITE}]*(?:\n[{WHITE}>]*)?\Z", shown)
    assert gap is not None
    return not shown.strip(WHITE) or gap.group().count("\n") > 1 or bool(re.search(r"</think(ing)?>\s*\Z", shown, re.I))


class Gap(str):
    """Lines that hold nothing but white space and quote marks."""


def pieces(text: str) -> Iterator[str | RawBlock]:
    """The text taken apart: what is shown, and the reports."""
    pos, start, thinking, shown = 0, True, False, ""
    reported = False
    while pos < len(text):
        end = text.find("\n", pos)
        stop = len(text) if end < 0 else end
        line, lines, begin, upto = text[pos:stop], None, pos, stop + 1
        if start and line.strip(S):
            fence, sort = FENCED.fullmatch(line), Lines("bare").sort(line)
            parted = is_parted(shown) or (reported and not shown.strip(WHITE))
            if fence:
                lines = Lines("fenced", fence["run"])
                begin = pos + fence.start("rest") if fence["rest"] else stop + 1
            elif sort in ("head", "root", "rule") or (sort == "field" and (parted or line.lstrip(S)[0] in "{｛")):
                lines = Lines("bare")
        if start and not line.strip(S):
            yield Gap(text[pos:upto])
            shown += text[pos:upto].replace(">", " ")  # a quote mark there is none that the player reads
            pos = upto
            continue
        if lines is None:
            think = THINK.search(text, pos, stop)
            tags = [tag for tag in TAG.finditer(text, pos, think.start() if think else stop) if is_header(tag[1])]
            if not thinking and tags:
                lines, begin, upto = Lines("tagged", f"</{tags[0][1].casefold()}>"), tags[0].end(), tags[0].start()
            elif think:
                thinking, upto = not think[1], think.end()
            start = text[upto - 1 : upto] == "\n" and not thinking
            if start or lines is None or upto > pos:
                yield text[pos:upto]
                shown += text[pos:upto]
            pos = upto
            if lines is None:
                continue
        until, closed = report_at(text, begin, lines)
        passing, until = until < 0, abs(until) - (until < 0)
        if closed is None or not lines.tells():
            yield text[pos:until]
            shown += text[pos:until]
            if until > begin or lines.kind != "bare":
                start = text[until - 1 : until] == "\n"
            start = start and not passing
        else:
            whole = lines.kind == "bare" and bool(WHOLE.search(text[pos:until]))
            yield RawBlock(lines.body, closed or whole, unfenced=True, open=not closed)
            shown, start, reported = "", lines.kind != "tagged" and text[until : until + 1] == "\n", True
            if start:
                yield "\n"
                shown, until = "\n", until + 1
        pos = until


def oracle(text: str) -> Hidden:
    fenced = test_fences.oracle(text)
    visible, gap, joint, joining, thinking = "", "", 0, False, False
    blocks: list[RawBlock] = []
    for piece in pieces(fenced.visible):
        if isinstance(piece, RawBlock):
            blocks.append(piece)
            joint, gap, joining = max(joint, rank(gap)), "", True
            continue
        for tag in THINK.finditer(piece):
            if tag[1] and not thinking:
                blocks = [RawBlock(each.body, each.closed, True, True, each.open) for each in blocks]
            thinking = not tag[1]
        found = re.fullmatch(rf"(?P<lead>[{WHITE}]*)(?P<core>.*?)(?P<tail>[{WHITE}]*(?:\n[{WHITE}>]*)?)", piece, re.S)
        assert found is not None
        if isinstance(piece, Gap) or not found["core"]:
            gap += piece
            continue
        gap += found["lead"]
        if joining:
            between = (" ", " ", "\n", "\n\n")[max(joint, rank(gap))] if visible else ""
            gap = between + (re.split("[\r\n]", gap)[-1] if rank(gap) > 1 else "")
            joint, joining = 0, False
        visible += gap + found["core"]
        gap = found["tail"]
    return Hidden(visible if joining else visible + gap, (*fenced.blocks, *blocks))


def rank(gap: str) -> int:
    ends = len(re.findall(r"\r\n|\r|\n", gap))
    return min(ends, 2) + 1 if ends else int(bool(gap))


# -- every chunking ------------------------------------------------------------------------------------------------

PIECES = [
    *(
        "location: 숲",
        "hp_change: -5",
        "npc_met: [크룩]",
        "items_gained:",
        "- 검",
        "mood: calm",
        "위치: 숲",
        "地点: 森林",
    ),
    *(
        '"location": "x",',
        '"hp_change": -5',
        "{",
        "}",
        '{"state": {',
        "}}",
        "[state]",
        "**상태**",
        "state:",
        "状态",
        "状態:",
    ),
    *(
        "<state>",
        "</state>",
        "<상태>",
        "</상태>",
        "<sta",
        "</st",
        "```json",
        "```",
        "~~~yaml",
        "```state",
        "---",
        "***",
    ),
    *(
        "\n",
        "\n\n",
        " ",
        "  ",
        "> ",
        "\n> ",
        "<think>",
        "</think>",
        "hp_ch",
        "[/state]",
        "[/",
        "loc",
        "그는 걷는다.",
        "weather: rain",
        "<",
        ">",
    ),
    *("• ", "– location: 숲\n", "--- {", "\n...\n", "*hp_change* ", "mood calm", "hp_change 5\n"),
    *("notes: ", "x", "'", '"', ":", "state", "Location is here", "[상태창]"),
    *("\nlocation: 숲\nhp_change: -5\n", "<state>\nlocation: 숲\nhp_change: -5\n</state>", "\n```\n", "\n```json\n"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def stream(chunks: list[str]) -> Hidden:
    block_filter = BlockFilter()
    visible = "".join([block_filter.feed(chunk) for chunk in chunks]) + block_filter.finish()
    assert block_filter.blocks == tuple(block.body for block in block_filter.raw_blocks)
    return Hidden(visible, block_filter.raw_blocks)


@st.composite
def chunked(draw: st.DrawFn) -> list[str]:
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12))) if draw(st.booleans()) else range(len(text))
    return [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]


@given(chunked())
def test_every_chunking_gives_what_the_whole_text_gives(chunks: list[str]) -> None:
    assert stream(chunks) == hide("".join(chunks))


@example("\nlocation: 숲\nhp_change: -5\n[/state]>")
@example("location: 숲\n> }hp_ch")
@example("<상태>\nlocation: 숲\nhp_change: -5\nlocation: 숲<think></상태>")
@example("<state>\nlocation: 숲\nhp_change: -5\n</state>> \nlocation: 숲\nhp_change: -5\n")
@given(texts)
def test_the_grammar_over_whole_lines_agrees(text: str) -> None:
    assert hide(text) == oracle(text)


LINES = "location: {place}\nhp_change: -5\nnpc_met: [{name}]"
JSON = '{{"location": "{place}", "hp_change": -5, "npc_met": ["{name}"]}}'
SHAPES = {
    "tags": "<{head}>\n" + LINES + "\n</{head}>",
    "tags in mid-line": "<{head}>location: {place}, hp_change: -5, npc_met: [{name}]</{head}>",
    "an open tag": "<{head}>\n" + LINES,
    "brackets": "[{head}]\n" + LINES,
    "corner brackets": "【{head}】\n" + LINES,
    "bold": "**{head}**\n" + LINES,
    "bold with colon": "**{head}:**\n\n- " + LINES.replace("\n", "\n- "),
    "a heading": "### {head}\n" + LINES,
    "a root key": "{head}:\n  " + LINES.replace("\n", "\n  "),
    "a rule": "---\n" + LINES,
    "a rule and a heading": "***\n**{head}**\n" + LINES,
    "a json fence with a root": '```json\n{{"{head}": ' + JSON + "}}\n```",
    "a json fence on one line": '```json {{"{head}": ' + JSON + "}}```",
    "a json fence": "```json\n" + JSON + "\n```",
    "a json fence of many lines": "```json\n" + JSON.replace(", ", ",\n  ").replace("{{", "{{\n  ") + "\n```",
    "a yaml fence": "```yaml\n{head}:\n  " + LINES.replace("\n", "\n  ") + "\n```",
    "an open fence": "```yaml\n" + LINES,
    "bare json": '{{"{head}": ' + JSON + "}}",
    "a heading and a fence": "**{head}:**\n```\n" + LINES + "\n```",
    "a heading and a json fence": "[{head}]\n```json\n" + JSON + "\n```",
    "lists below": "[{head}]\n" + LINES.replace(" [{name}]", "\n- {name}"),
    "brackets around": "[{head}]\n" + LINES + "\n[/{head}]",
    "the word as a line": "{head}\n" + LINES,
    "a document": "[{head}]\n---\n" + LINES + "\n...\n[/{head}]",
    "a document on one line": "{head}\n--- {{" + LINES.replace("\n", ", ") + "}}\n...",
    "dashes for bullets": "[{head}]\n– " + LINES.replace("\n", "\n\n– ") + "\n\n[/{head}]",
    "round bullets": "[{head}]\n• " + LINES.replace("\n", "\n• "),
    "lower names": "[{head}]\n" + LINES + "\n메모: x\n备注: y\nメモ: z",
}
TOLD = {
    "en": ("state", "He walks on.", "forest", "Mara"),
    "ko": ("상태", "그는 걷는다.", "숲", "미나"),
    "ja": ("状態", "彼は歩く。", "森", "美咲"),
    "zh": ("状态", "他继续走。", "森林", "苏晚晴"),
}


def cuttings(text: str) -> Iterator[list[str]]:
    yield from ([text[:at], text[at:]] for at in range(len(text) + 1))
    for size in (1, 2, 3, 7):
        yield [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("language", TOLD)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_read_is_hidden_in_every_shape_and_language(shape: str, language: str) -> None:
    head, story, place, name = TOLD[language]
    text = f"{story}\n\n{SHAPES[shape].format(head=head, place=place, name=name)}"
    for chunks in cuttings(text):
        hidden = stream(chunks)
        assert hidden.visible == story
        assert len(hidden.blocks) == 1
    reading = read_reply(text)
    assert (reading.fields.location, reading.fields.hp_change) == (place, -5)
    assert reading.fields.npc_met == (name,) or shape in ("an open tag", "an open fence", "lists below")


@pytest.mark.parametrize("shape", ["tags", "a json fence", "a yaml fence", "brackets around"])
def test_the_story_goes_on_behind_a_closed_report(shape: str) -> None:
    report = SHAPES[shape].format(head="state", place="forest", name="Mara")
    for chunks in cuttings(f"He walks.\n\n{report}\n\nShe waits."):
        assert stream(chunks).visible == "He walks.\n\nShe waits."


@pytest.mark.parametrize(
    "text",
    [
        "<state>Ohio</state> is far.",
        "<state>\nThe state of the union is strong.\n</state>",
        "[state]\nname: Ohio\npeople: many",
        "**State**\nShe signs the form.",
        "[상태]\n이름: 아리아\n위치: 숲\nHP: 85/100",
        "[상태]\n위치: 숲\n기분: 좋음\n체력: 85/100",
        "```\n이름: 아리아\nHP: 85/100\n```\n그는 웃는다.",
        '```json\n{"state": "Ohio", "city": "Columbus"}\n```\nShe types on.',
        '```json\n{"state": {"location": "x", "speed": 3}}\n```',
        "```python\nlocation = 'x'\nhp_change = 3\nprint(location)\n```",
        "state:\n  capital: Columbus\n  governor: none",
        "She wrote:\n\nlocation: the forest\nhp_change: -5\n\nThen she laughed.",
        "[state]\nlocation: forest\nhp_change: -5\n\nand then the rain came.",
        "notes: she hums.\nmood: gay",
        "- 가자.\n- 어디로?",
        "*State your name*, he says.",
        "<think>\nlocation: 숲\nhp_change: -5\n</think>\n그는 웃는다.",
        "{\n",
        "---\n\nThe next day.",
    ],
)
def test_a_story_that_quotes_such_text_keeps_it(text: str) -> None:
    for chunks in cuttings(text):
        assert stream(chunks) == Hidden(text, ())
    assert read_reply(text).status is BlockStatus.FALLBACK


def test_a_draft_before_the_end_of_the_thinking_is_hidden_and_not_read() -> None:
    text = "<state>\nlocation: a\nhp_change: -1\n</state>\nhm</think>He walks."
    hidden = hide(text)
    assert hidden.visible == "hm</think>He walks."
    assert [block.thinking for block in hidden.blocks] == [True]
    assert read_reply(text).status is BlockStatus.FALLBACK


def test_a_block_in_a_fence_of_its_own_precedes_a_loose_report() -> None:
    text = "```state\nlocation: a\n```\n<state>\nlocation: b\nhp_change: -1\n</state>"
    assert hide(text).visible == ""
    assert read_reply(text).fields.location == "a"


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("She opens the door", ""),
        ("State of the art", ""),
        ("Location scouts came", ""),
        ("He says\nLoc", ""),
        ("He says\n\nLoc", "\n\nLoc"),
        ("He says\n\nLocated in", ""),
        ("He says\n\nloot", ""),
        ("He says <sta", " <sta"),
        ("He says <b", ""),
        ("```python\nprint", ""),
        ("```\n이름: 아", ""),
        ("```json\n{", "```json\n{"),
        ("- 가", ""),
        ("**S", "**S"),
        ("**Stop", ""),
        ("[state]\nThe sea", ""),
        ("---\nThe", ""),
        ("notes: x\nS", "notes: x\nS"),
        ("notes: x\nSh", ""),
    ],
)
def test_no_more_waits_than_a_line_that_may_begin_a_report(text: str, held: str) -> None:
    block_filter = BlockFilter()
    sent = "".join(block_filter.feed(char) for char in text)
    assert text.removeprefix(sent) == held
    assert sent + block_filter.finish() == text


@pytest.mark.parametrize(
    ("unit", "step"),
    [
        ("<state>\n", 1 << 20),
        ("<state>", 1 << 20),
        ("<state>location: x", 1 << 20),
        ("<state>location: x", 3),
        ("<sta", 3),
        ("{\n", 1 << 20),
        ("```json\n{", 7),
        ("\n\nnotes: x", 5),
        ("location: x\nhp_change: 1\n", 1),
        ("<state>\nlocation: [", 1 << 20),
        ("- " * 8, 1 << 20),
        ("---\n", 2),
        ("state:\n ", 1 << 20),
        ("word ", 1),
        ("[/SAGA]", 1 << 20),
        ("(Keep in mind for the story: \n", 1 << 20),
        ("\n\nnotes: " + "x" * 30_000, 1 << 20),
    ],
)
def test_the_work_grows_with_the_text_and_no_faster(unit: str, step: int) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.process_time()
        stream([text[at : at + step] for at in range(0, len(text), step)])
        return time.process_time() - began

    # Eight times the text: eight times the time, not sixty-four. A busy machine is asked again.
    large = 1 << (17 if DEEP else 16)
    assert any(seconds(large) < 20 * seconds(large >> 3) + large / 5e6 for _ in range(5))


SLOPPY = (
    "\n\nstate:\nlocation - Brandy Staithe quay\npresent: Odo, Pell\nitems_lost: none\n"
    "npc_separated: Button, Anneke, Mother Gesk\n"
    "notes: Button the ferret has gone missing by the eel stalls; Gesk wants her twelve crowns by Sunday."
)


@pytest.mark.parametrize("report", [SLOPPY, SLOPPY.replace(": ", " - ")])
def test_a_bare_report_with_a_dash_for_the_colon_is_hidden(report: str) -> None:
    whole = f"Odo looks for the ferret.{report}"
    assert hide(whole).visible == stream(list(whole)).visible == "Odo looks for the ferret."
    reading = read_reply(f"Odo looks for the ferret.{SLOPPY}")
    assert (reading.fields.location, reading.fields.present) == ("Brandy Staithe quay", ("Odo", "Pell"))


def test_prose_with_dashes_stays() -> None:
    for prose in (
        "Mood - what is a mood?\nPresent - a gift.",
        "Location - the mill.\nNotes - none, but it rains.\nOdo laughs.",
    ):
        assert hide(f"Odo reads aloud.\n\n{prose}").visible == f"Odo reads aloud.\n\n{prose}"
