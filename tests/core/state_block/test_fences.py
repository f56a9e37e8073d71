"""The filter that hides fenced state blocks: the same for every chunking, no byte of a block out, no other touched."""

from __future__ import annotations

import codecs
import itertools
import re
import time
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saga_core.state_block import Hidden, RawBlock
from saga_core.state_block import hide as hide_all
from saga_core.state_block.fences import OPENERS, FenceFilter

B = " \t\u00a0\u3000"
NFD = unicodedata.normalize("NFD", "상태")
FENCE = r"(?:(?<!`)`{3,}(?!`)|(?<!~)~{3,}(?!~))"
WORD = rf"(?:[sS][tT][aA][tT][eE]|상태|状态|狀態|状態|{NFD})"
OPENER = re.compile(rf"(?P<fence>{FENCE})[{B}]*{WORD}(?=[{B}\r\n:：]|\Z)")
BLOCK_END = re.compile(rf"(?P<fence>{FENCE})|(?P<tag></[tT][hH][iI][nN][kK](?:[iI][nN][gG])?>)")
TAG = re.compile(r"<(/?)[tT][hH][iI][nN][kK](?:[iI][nN][gG])?>")
GAP_BEFORE = re.compile(rf"[{B}]*(?:[\r\n][{B}\r\n>]*)?\Z")
GAP_AT_START = re.compile(rf"[{B}\r\n>]*\Z")
GAP_BEHIND = re.compile(rf"[{B}]*(?:[\r\n][{B}\r\n>]*)?")
WORD_START = (
    rf"(?:[sS]|[sS][tT]|[sS][tT][aA]|[sS][tT][aA][tT]|{WORD}|상|状|狀|" + "|".join(NFD[:n] for n in range(1, 5)) + ")"
)
HELD = rf"(?:`{{1,2}}|~{{1,2}}|(?:`{{3,}}|~{{3,}})[{B}]*{WORD_START}?)?"

PIECES = [
    *("`", "``", "```", "````", "~", "~~~", "~~~~", "`" * 7),
    *(
        "state",
        "State",
        "STATE",
        "sTaTe",
        "상태",
        "상",
        "状态",
        "状態",
        "状",
        NFD,
        NFD[:2],
        "st",
        "stat",
        "ate",
        "statement",
        "state_machine",
    ),
    *("\n", "\n\n", "\r\n", "\r", " ", "  ", "\t", "\u3000", ":", "：", ">", "> ", ">>", "|"),
    *("python", "location: 숲", "hp_change: -5", "x", "가", "나다", "그녀는 걸었다.", "é", "🙂", "ſtate", "İ"),
    *("<think>", "</think>", "</THINKING>", "<thi", "</thi", "nk>", "<", ">", "/"),
    *("```state\n", "```State:", "~~~ state\n", "\n```", "\n```\n", "\n> ```\n", "```state location: 숲```"),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join)


@st.composite
def chunked(draw: st.DrawFn) -> list[str]:
    """A text cut at arbitrary places; empty pieces included."""
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12))) if draw(st.booleans()) else range(len(text))
    edges = [0, *cuts, len(text)]
    return [text[a:b] for a, b in itertools.pairwise(edges)]


def hide(text: str) -> Hidden:
    return hide_all(text, unfenced=False)


def stream(chunks: list[str]) -> Hidden:
    block_filter = FenceFilter()
    visible = "".join([block_filter.feed(chunk) for chunk in chunks]) + block_filter.finish()
    return Hidden(visible, block_filter.raw_blocks)


# An oracle that shares nothing with the automaton: the grammar as regular expressions over the whole text.


def parts(text: str) -> Iterator[str | tuple[str, bool, bool]]:
    """Visible segments and (body, closed, open), in order, a segment before, between and after all blocks."""
    pos = 0
    while opener := OPENER.search(text, pos):
        yield text[pos : opener.start()]
        start, fence = opener.end(), opener["fence"]
        body_end = pos = len(text)
        closed, ended = False, False
        for end in BLOCK_END.finditer(text, start):
            long_enough = bool(end["fence"]) and end["fence"][0] == fence[0] and len(end["fence"]) >= len(fence)
            reopens = bool(end["fence"]) and OPENER.match(text, end.start()) is not None
            if end["tag"] or reopens or long_enough:
                body_end, closed, ended = end.start(), long_enough, True
                pos = end.start() if end["tag"] or reopens else end.end()
                break
        yield re.sub(rf"\A[{B}]*[:：]?[{B}]*(?:\r\n|\r|\n)?", "", text[start:body_end]), closed, not ended
    yield text[pos:]


def oracle(text: str) -> Hidden:
    found = list(parts(text))
    if len(found) == 1:
        return Hidden(text, ())
    visible, gaps = "", [""]
    blocks: list[RawBlock] = []
    thinking = False
    for index, part in enumerate(found):
        if isinstance(part, tuple):
            blocks.append(RawBlock(part[0], part[1], thinking, open=part[2]))
            continue
        for tag in TAG.finditer(part):
            if tag[1] and not thinking:
                blocks = [RawBlock(block.body, block.closed, True, open=block.open) for block in blocks]
            thinking = not tag[1]
        lead = "" if index == 0 else GAP_BEHIND.match(part).group()  # type: ignore[union-attr]
        core = part[len(lead) :]
        tail = ""
        if index < len(found) - 1:
            pattern = GAP_AT_START if index == 0 and GAP_AT_START.match(part) else GAP_BEFORE
            tail = pattern.search(core).group()  # type: ignore[union-attr]
            core = core[: len(core) - len(tail)]
        gaps += [lead]
        if core:
            strength = max(min(2, len(re.findall(r"\r\n|\r|\n", gap))) for gap in gaps)
            if index:
                joint = ("", "\n", "\n\n")[strength] or " "
                visible += (joint if visible else "") + (
                    re.split(r"[\r\n]", lead)[-1] if re.search(r"[\r\n]", lead) else ""
                )
            visible += core
            gaps = []
        gaps += [tail]
    return Hidden(visible, tuple(blocks))


@given(chunked())
@example(["```", "state\n", "x", "``", "`\n", "다"])
@example(["```state\nx\n```</thi", " ", "nk>"])
@example(list("말.\n> ```state\n> a\n> ```\n> 말"))
@example(list("a\n\n```state\nx\n```state\ny\n~~~\n```\n\nb  "))
def test_every_chunking_gives_what_the_whole_text_gives(chunks: list[str]) -> None:
    assert stream(chunks) == hide("".join(chunks))


@given(texts)
@example("<think>\n```state\nx\n</think>\n말")
@example("```state\nx</think>")
@example(">> \n```state\nx\n```")
def test_the_grammar_as_regular_expressions_agrees(text: str) -> None:
    assert hide(text) == oracle(text)


@given(texts)
def test_the_cut_may_fall_inside_a_character(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
    chunks = [decoder.decode(data[index : index + 1]) for index in range(len(data))] + [decoder.decode(b"", True)]
    assert stream(chunks) == hide(text)


SECRET = "§¶Ω"
stories = st.text(st.sampled_from("가나다 .,!\n\n\t>ab<xyz`"), max_size=20).filter(lambda text: "```" not in text)
bodies = st.lists(st.sampled_from([*SECRET, "``", "~~", "~~~", "\n", " ", "state", ":", "</thin"]), max_size=12).map(
    "".join
)
openers = st.sampled_from(["```state", "``` State", "````STATE", "```상태", "> ```state", "\t````  state"])


@st.composite
def replies(draw: st.DrawFn) -> tuple[list[str], list[str], int]:
    """A chunked reply made of stories and closed blocks; the stories and the number of blocks."""
    kept = [draw(stories)]
    reply = kept[0]
    for _ in range(draw(st.integers(1, 3))):
        opener, ending = draw(openers), draw(st.sampled_from(["\n", " ", ":\n", "\r\n"]))
        closer = draw(st.sampled_from(["", "\n"])) + "`" * draw(st.integers(4, 6))
        body = re.sub("`{3,}", "``", draw(bodies)) + draw(st.sampled_from(SECRET))
        if "state" in body:
            body = re.sub("~{3,}", "~~", body)
        kept.append(draw(stories.filter(lambda text: not text.startswith("`"))))
        reply += draw(st.sampled_from(["\n", " ", "\n\n"])) + opener + ending + body + closer + kept[-1]
    cuts = sorted(draw(st.lists(st.integers(0, len(reply)), max_size=15)))
    edges = [0, *cuts, len(reply)]
    return [reply[a:b] for a, b in itertools.pairwise(edges)], kept, len(kept) - 1


@given(replies())
def test_no_byte_of_a_block_gets_out_and_every_word_of_the_story_does(reply: tuple[list[str], list[str], int]) -> None:
    chunks, kept, count = reply
    hidden = stream(chunks)
    assert not set(hidden.visible) & set(SECRET)
    assert len(hidden.blocks) == count and all(block.closed for block in hidden.blocks)
    assert all(set(block.body) & set(SECRET) for block in hidden.blocks)
    assert re.sub(r"[\s>]", "", hidden.visible) == re.sub(r"[\s>]", "", "".join(kept))


@given(chunked())
def test_a_reply_without_a_block_comes_out_byte_for_byte(chunks: list[str]) -> None:
    openers = {unicodedata.normalize(form, each) for each in OPENERS for form in ("NFC", "NFD")}
    text = re.sub("|".join(openers), "x", "".join(chunks), flags=re.IGNORECASE)
    assert hide(text) == Hidden(text, ())
    assert stream(list(text)) == Hidden(text, ())


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint('state')\n```\n",
        "```\nstate\n```\n\n",
        "```statement\nx\n```",
        "```state_machine\nx\n```",
        "```statefulset\nx\n```",
        "```states\n```",
        "```state-machine\nx\n```",
        "```state.json\n{}\n```",
        "use ```state``` here",
        "``state\nx\n``",
        "~~state\nx\n~~",
        "~~~state~~~ x",
        "```\n\n state\n```",
        "~`~state\n",
        "상태: 좋음\n",
        "```상태창\nx\n```",
        "  \n말  \n\n",
        "``` ",
        "```stat",
        ">\n> \n",
        "",
    ],
)
def test_what_is_no_block_passes(text: str) -> None:
    assert hide(text) == Hidden(text, ())
    assert stream(list(text)) == Hidden(text, ())


@pytest.mark.parametrize(
    ("text", "visible", "bodies"),
    [
        ("말.\n\n```state\na: 1\n```", "말.", ["a: 1\n"]),
        ("말.\n\n```state\na: 1\n```\n\n", "말.", ["a: 1\n"]),
        ("말.  \n \n\t```state\na\n```  \n", "말.", ["a\n"]),
        ("말 ```state\na\n```", "말", ["a\n"]),
        ("말 ```state a: 1```", "말", ["a: 1"]),
        ("```state\na\n```", "", ["a\n"]),
        ("\n\n```state\na\n```\n\n  말.\n", "  말.\n", ["a\n"]),
        ("하나.\n\n```state\na\n```\n\n둘.", "하나.\n\n둘.", ["a\n"]),
        ("하나.\n```state\na\n```\n둘.", "하나.\n둘.", ["a\n"]),
        ("하나.\n```state\na\n```\n\n\n둘.", "하나.\n\n둘.", ["a\n"]),
        ("하나 ```state a``` 둘", "하나 둘", ["a"]),
        ("하나```state a```둘", "하나 둘", ["a"]),
        ("하나\n```state\na\n```\n    둘", "하나\n    둘", ["a\n"]),
        ("하나\r\n\r\n```state\r\na\r\n```\r\n둘\r\n", "하나\n\n둘\r\n", ["a\r\n"]),
        ("> 하나\n>\n> ```state\n> a\n> ```\n>\n> 둘", "> 하나\n\n> 둘", ["> a\n> "]),
        ("> ```state\n> a\n> ```\n", "", ["> a\n> "]),
        ("x > ```state\na\n```", "x >", ["a\n"]),
        ("하나\n```state\na\n```\n\n```state\nb\n```\n둘", "하나\n\n둘", ["a\n", "b\n"]),
        ("하나\n\n```state\na\n```\n```state\nb\n```\n둘", "하나\n\n둘", ["a\n", "b\n"]),
        ("말\n```state\na\n```state\nb\n```", "말", ["a\n", "b\n"]),
        ("말\n```state\na\n~~~  st b\n```", "말", ["a\n~~~  st b\n"]),
        ("말\n````state\na\n```\nb\n````\n끝", "말\n끝", ["a\n```\nb\n"]),
        ("말\n```state\na\n`````\n끝", "말\n끝", ["a\n"]),
        ("말\n~~~state\na\n```\n~~~\n끝", "말\n끝", ["a\n```\n"]),
        ("말\n```state\na\n~~~\nb\n```\n끝", "말\n끝", ["a\n~~~\nb\n"]),
        ("말\n```STATE:\na\n```", "말", ["a\n"]),
        ("말\n```  State  : \na\n```", "말", ["a\n"]),
        ("말\n```상태\na\n```", "말", ["a\n"]),
        ("말\n```상태：\na\n```", "말", ["a\n"]),
        (f"말\n```{NFD}\na\n```", "말", ["a\n"]),
        ("말\n```state", "말", [""]),
        ("말\n```state\na\n", "말", ["a\n"]),
        ("말\n```state\na\n``", "말", ["a\n``"]),
        ("```python\nx\n```state\na\n```\ny\n```\n끝", "```python\nx\ny\n```\n끝", ["a\n"]),
        ("```\nx\n```\n```state\na\n```", "```\nx\n```", ["a\n"]),
        ("a ```stat```state\nb\n```", "a ```stat", ["b\n"]),
        ("<think>\n```state\na\n```\n더\n</think>\n말", "<think>\n더\n</think>\n말", ["a\n"]),
        ("<think>\n```state\na\n</think>\n말\n```state\nb\n```", "<think>\n</think>\n말", ["a\n", "b\n"]),
    ],
)
def test_the_two_sides_of_a_block(text: str, visible: str, bodies: list[str]) -> None:
    for hidden in (hide(text), stream(list(text))):
        assert hidden.visible == visible
        assert [block.body for block in hidden.blocks] == bodies


@pytest.mark.parametrize(
    ("text", "closed", "thinking"),
    [
        ("```state\na\n```", [True], [False]),
        ("```state\na", [False], [False]),
        ("```state\na\n``", [False], [False]),
        ("```state\na\n~~~state\nb\n~~~", [False, True], [False, False]),
        ("<think>```state\na\n```</think>```state\nb\n```", [True, True], [True, False]),
        ("생각 ```state\na\n```</think>```state\nb\n```", [True, True], [True, False]),
        ("<think>```state\na\n```", [True], [True]),
        ("```state\na\n```<think>b</think>", [True], [False]),
        ("<Thinking>```state\na\n</THINKING>말", [False], [True]),
    ],
)
def test_how_a_block_ended(text: str, closed: list[bool], thinking: list[bool]) -> None:
    blocks = stream(list(text)).blocks
    assert [block.closed for block in blocks] == closed
    assert [block.thinking for block in blocks] == thinking
    assert blocks == hide(text).blocks


@given(chunked())
def test_no_more_is_held_back_than_may_belong_to_a_block(chunks: list[str]) -> None:
    block_filter = FenceFilter()
    text = sent = ""
    for chunk in chunks:
        text += chunk
        sent += block_filter.feed(chunk)
        if not hide(text).blocks:
            assert text.startswith(sent)
            held = text[len(sent) :]
            gap = GAP_BEFORE if sent else GAP_AT_START
            tail = re.search(HELD + r"\Z", held, re.IGNORECASE)
            assert tail
            assert gap.fullmatch(held[: tail.start()])
        else:
            tail = re.search(rf"[{B}\r\n>]*{HELD}\Z", text, re.IGNORECASE)
            assert tail
            assert len(hide(text + "x").visible) - len(sent) <= len(tail.group()) + len("\n\nx")


@given(st.text().map(lambda text: re.sub(rf"[`~]|[{B}\r\n>]+\Z", "", text)))
def test_plain_text_is_returned_at_once(text: str) -> None:
    text = text.rstrip(B + "\r\n>")
    assert FenceFilter().feed(text) == text


def test_text_goes_out_as_it_comes_in() -> None:
    block_filter = FenceFilter()
    chunks = ["그녀는", " ", "숲", "에 ", "``", "갔다`", ".\n\n", "``", "`", "st", "ate\nloc", "ation: 숲\n``", "`"]
    sent = [block_filter.feed(chunk) for chunk in chunks]
    assert sent == ["그녀는", "", " 숲", "에", "", " ``갔다", "`.", "", "", "", "", "", ""]
    assert block_filter.raw_blocks == ()  # the closing fence may go on
    assert block_filter.finish() == ""
    assert block_filter.raw_blocks == (RawBlock("location: 숲\n", closed=True),)


def test_a_finished_filter_refuses_more() -> None:
    block_filter = FenceFilter()
    block_filter.finish()
    with pytest.raises(RuntimeError, match="new one"):
        block_filter.feed("말")
    with pytest.raises(RuntimeError, match="new one"):
        block_filter.finish()


def seconds(unit: str, size: int, step: int) -> float:
    text = unit * (size // len(unit))
    chunks = [text[index : index + step] for index in range(0, len(text), step)]
    began = time.process_time()
    stream(chunks)
    return time.process_time() - began


@pytest.mark.parametrize(("unit", "step"), [("`", 5), ("\n> ", 5), ("```stat", 1 << 20), ("```state\nx\n</think>", 50)])
def test_long_texts_take_linear_time(unit: str, step: int) -> None:
    # Eight times the text: eight times the time, not sixty-four. A busy machine is asked again.
    assert any(seconds(unit, 1 << 18, step) < 20 * seconds(unit, 1 << 15, step) + 0.025 for _ in range(5))
