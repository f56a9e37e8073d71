"""Items as stored by an engine without suitable types, with 32-bit components and metadata as canonical JSON."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from saga_core.stores import Scalar, ScopeSpec, VectorItem
from saga_core.stores.validate import check_dimension


@frozen
class PackedItem:
    """A checked item. JSON distinguishes 1, 1.0, true and null, which engines do not."""

    id: str
    vector: array[float]
    text: str
    metadata: str

    @classmethod
    def of(cls, item: VectorItem, vector: array[float]) -> PackedItem:
        """Pack ``item`` with its 32-bit vector."""
        metadata = json.dumps(dict(item.metadata), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return cls(item.id, vector, item.text, metadata)


def read_metadata(
    ids: Sequence[str], texts: Sequence[str], damaged: Callable[[str], Exception]
) -> list[Mapping[str, Scalar]]:
    """Parse the metadata of the items ``ids``. For an invalid one, raises ``damaged(message)``.

    All texts are parsed together, so that the items share the strings of their field names.
    """
    try:
        found = json.loads(f"[{','.join(texts)}]")
    except ValueError:
        found = []
    if len(found) == len(texts) and all(type(fields) is dict for fields in found):
        return found  # type: ignore[no-any-return]
    return [_fields(item_id, text, damaged) for item_id, text in zip(ids, texts, strict=True)]


def _fields(item_id: str, text: str, damaged: Callable[[str], Exception]) -> Mapping[str, Scalar]:
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise damaged(f"item {item_id!r} is damaged: its metadata is no JSON: {error}") from error
    if type(fields) is not dict:
        raise damaged(f"item {item_id!r} is damaged: its metadata is no JSON object")
    return fields


def latest(items: Sequence[PackedItem], scope: str, spec: ScopeSpec) -> list[PackedItem]:
    """Return the items to upsert, the last one for each id. Raises ``ScopeMismatch`` for a wrong dimension."""
    for index, item in enumerate(items):
        check_dimension(f"items[{index}].vector", item.vector, scope, spec)
    return list({item.id: item for item in items}.values())
