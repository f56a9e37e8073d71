"""Items as the rows of a LanceDB table, in Arrow's terms. ``arrow`` is the module ``pyarrow``."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from saga_backends.scoring import Singles
from saga_backends.vector.packed_item import PackedItem, read_metadata
from saga_core.errors import SagaError
from saga_core.stores import ScopeSpec, VectorItem


def schema(arrow: Any, spec: ScopeSpec) -> Any:
    """The columns of a scope's table; none may be null."""
    kinds = {
        "id": arrow.string(),
        "vector": arrow.list_(arrow.float32(), spec.dimension),
        "text": arrow.string(),
        "metadata": arrow.string(),
    }
    return arrow.schema([arrow.field(name, kind, nullable=False) for name, kind in kinds.items()])


def rows(arrow: Any, items: Sequence[PackedItem], spec: ScopeSpec) -> Any:
    """An Arrow table of the items."""
    numbers = np.frombuffer(b"".join(item.vector for item in items), dtype=np.float32)
    columns = [
        arrow.array([item.id for item in items], arrow.string()),
        arrow.FixedSizeListArray.from_arrays(arrow.array(numbers), spec.dimension),
        arrow.array([item.text for item in items], arrow.string()),
        arrow.array([item.metadata for item in items], arrow.string()),
    ]
    return arrow.table(columns, schema=schema(arrow, spec))


def vectors(block: Any, spec: ScopeSpec) -> Singles:
    """The vectors of a block of rows, one a row."""
    numbers: Singles = block.column("vector").flatten().to_numpy(zero_copy_only=False)
    return numbers.reshape(-1, spec.dimension)


def items(block: Any, spec: ScopeSpec, corrupt: Callable[[str], SagaError]) -> list[VectorItem]:
    """The items of a block of rows. Raises what ``corrupt`` makes for metadata that are no JSON."""
    ids = block.column("id").to_pylist()
    fields = read_metadata(ids, block.column("metadata").to_pylist(), corrupt)
    return [
        VectorItem(item_id, array("f", row.tobytes()), text, each)
        for item_id, row, text, each in zip(
            ids, vectors(block, spec), block.column("text").to_pylist(), fields, strict=True
        )
    ]
