"""Items as a Chroma collection keeps them: each whole in one metadata value, read back as it was given."""

from __future__ import annotations

import base64
import binascii
import json
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from saga_backends.scoring import Singles
from saga_backends.vector.packed_item import PackedItem
from saga_core.errors import SagaError
from saga_core.stores import VectorItem


@frozen(eq=False)
class Block:
    """Some items of a scope. ``rests`` are text and metadata, as JSON."""

    ids: list[str]
    vectors: Singles
    rests: list[str]


def pack(item: PackedItem) -> str:
    """Base64 of the vector, then text and metadata as JSON; the first bracket parts them."""
    vector = base64.b64encode(np.frombuffer(item.vector, dtype=np.float32).astype("<f4").tobytes()).decode()
    return f"{vector}[{json.dumps(item.text, ensure_ascii=False)},{item.metadata}]"


def split(found: Any, key: str, dimension: int, corrupt: Callable[[str], SagaError]) -> Block:
    """Items as the engine gave them, kept under ``key``. Raises what ``corrupt`` makes for those that are not as
    ``pack`` makes them."""
    width = dimension * 4
    ids: list[str] = found["ids"]
    vectors, rests = [], []
    for item_id, fields in zip(ids, found["metadatas"] or (), strict=True):
        coded, bracket, rest = str((fields or {}).get(key)).partition("[")
        try:
            vector = binascii.a2b_base64(coded, strict_mode=True)
        except binascii.Error as error:
            raise corrupt(f"item {item_id!r} is damaged: its vector is no base64: {error}") from error
        if len(vector) != width:
            raise corrupt(f"item {item_id!r} is damaged: its vector has {len(vector)} bytes and not {width}")
        vectors.append(vector)
        rests.append(bracket + rest)
    block = np.frombuffer(b"".join(vectors), dtype="<f4").astype(np.float32, copy=False)
    return Block(ids, block.reshape(-1, dimension), rests)


def parse(block: Block, corrupt: Callable[[str], SagaError]) -> list[tuple[str, dict[str, Any]]]:
    """Text and metadata of each item. Raises what ``corrupt`` makes for what is no JSON."""
    try:
        found = json.loads(f"[{','.join(block.rests)}]")
    except ValueError:
        found = []
    if len(found) == len(block.ids) and all(_is_rest(each) for each in found):
        return found  # type: ignore[no-any-return]
    for item_id, rest in zip(block.ids, block.rests, strict=True):
        try:
            whole = _is_rest(json.loads(rest))
        except ValueError:
            whole = False
        if not whole:
            raise corrupt(f"item {item_id!r} is damaged: its text and metadata are no JSON")
    raise corrupt(f"items {block.ids[0]!r} to {block.ids[-1]!r} are damaged")


def items(block: Block, corrupt: Callable[[str], SagaError]) -> list[VectorItem]:
    """The items of the block, whole."""
    return [
        VectorItem(item_id, array("f", vector.tobytes()), text, fields)
        for item_id, vector, (text, fields) in zip(block.ids, block.vectors, parse(block, corrupt), strict=True)
    ]


def _is_rest(found: object) -> bool:
    return type(found) is list and len(found) == 2 and type(found[0]) is str and type(found[1]) is dict
