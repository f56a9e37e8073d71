"""A folder with a tiny embedding model in ONNX form, written byte by byte: a table of vectors for a few words."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

VOCABULARY = ("[UNK]", "[CLS]", "[SEP]", "query:", "passage:", "the", "sword", "flame", "불꽃", "검을", "wolf")
DIMENSION = 8


def table() -> list[list[float]]:
    """The vector of each word: its own component, and a little of all."""
    return [
        [1.0 if place == number % DIMENSION else 0.1 * number for place in range(DIMENSION)] for number in range(11)
    ]


# -- protobuf, as far as it is needed ------------------------------------------------------------------------------


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _tensor(name: str, kind: int, dims: Sequence[int], raw: bytes) -> bytes:
    return b"".join(_number(1, each) for each in dims) + _number(2, kind) + _bytes(8, name) + _bytes(9, raw)


def _value(name: str, kind: int, dims: Sequence[str | int]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, each) if isinstance(each, str) else _number(1, each)) for each in dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _node(kind: str, inputs: Sequence[str], output: str, attributes: bytes = b"") -> bytes:
    return b"".join(_bytes(1, each) for each in inputs) + _bytes(2, output) + _bytes(4, kind) + attributes


def model(*, pooled: bool = False, inputs: Sequence[str] = ("input_ids", "attention_mask")) -> bytes:
    """A model that looks words up; if ``pooled`` it gives their mean besides, as ``sentence_embedding``."""
    rows = table()
    flat = [value for row in rows for value in row]
    graph = _bytes(1, _node("Gather", ("table", "input_ids"), "last_hidden_state"))
    graph += _bytes(2, "tiny") + _bytes(
        5, _tensor("table", 1, (len(rows), DIMENSION), struct.pack(f"<{len(flat)}f", *flat))
    )
    outputs = [_value("last_hidden_state", 1, ("batch", "tokens", DIMENSION))]
    if pooled:
        keep = _bytes(5, _bytes(1, "keepdims") + _number(3, 0) + _number(20, 2))
        graph += _bytes(1, _node("ReduceMean", ("last_hidden_state", "axes"), "sentence_embedding", keep))
        graph += _bytes(5, _tensor("axes", 7, (1,), struct.pack("<q", 1)))
        outputs.append(_value("sentence_embedding", 1, ("batch", DIMENSION)))
    graph += b"".join(_bytes(11, _value(name, 7, ("batch", "tokens"))) for name in inputs)
    graph += b"".join(_bytes(12, each) for each in outputs)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 18))


def tokenizer() -> str:
    """Words between blanks, with ``[CLS]`` in front and ``[SEP]`` behind."""
    ids = {word: number for number, word in enumerate(VOCABULARY)}
    special = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    begin, end = ({"SpecialToken": {"id": name, "type_id": 0}} for name in ("[CLS]", "[SEP]"))
    words = {"Sequence": {"id": "A", "type_id": 0}}
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": {
                "strategy": {"Fixed": 32},
                "direction": "Right",
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[UNK]",
                "pad_to_multiple_of": None,
            },
            "added_tokens": [],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [begin, words, end],
                "pair": [begin, words, end],
                "special_tokens": special,
            },
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": ids, "unk_token": "[UNK]"},
        }
    )


def write_model(folder: Path, *, at: str = "model.onnx", files: dict[str, Any] | None = None, **kind: Any) -> Path:
    """Write the model and its tokenizer, and ``files`` as JSON beside them."""
    for name, raw in ((at, model(**kind)), ("tokenizer.json", tokenizer().encode())):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def pooled(words: Sequence[str], way: str) -> list[float]:
    """What the model should give for tokens, at unit length."""
    rows = [table()[VOCABULARY.index(word)] for word in words]
    values = {
        "mean": lambda: [sum(column) / len(rows) for column in zip(*rows, strict=True)],
        "max": lambda: [max(column) for column in zip(*rows, strict=True)],
        "cls": lambda: rows[0],
        "last": lambda: rows[-1],
    }[way]()
    norm = sum(value * value for value in values) ** 0.5
    return [value / norm for value in values]
