"""Values are compared by type, and errors by class."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import CheckFailed
from conformance.assertions import refused, require, same, typed
from saga_core.errors import BadInput, NotFound


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0, 0.0),
        (0, False),
        (0.0, -0.0),
        (1, True),
        ("1", 1),
        (None, "None"),
        ((), []),
        ({"a": 1}, {"a": 1.0}),
        (b"", ""),
        ("\u1100\u1161", "\uac00"),
    ],
)
def test_values_of_two_types_are_two_values(one: Any, other: Any) -> None:
    assert typed(one) == typed(one)
    assert typed(one) != typed(other)
    with pytest.raises(CheckFailed):
        same(one, other, "it")


async def test_refused_wants_the_very_error() -> None:
    async def raises(error: Exception) -> None:
        raise error

    async def gives() -> int:
        return 0

    assert isinstance(await refused(BadInput, raises(BadInput("x")), "it"), BadInput)
    for made in (raises(NotFound("x")), gives()):
        with pytest.raises(CheckFailed, match="expected BadInput"):
            await refused(BadInput, made, "it")
    with pytest.raises(KeyError):
        await refused(BadInput, raises(KeyError("x")), "it")
    with pytest.raises(CheckFailed, match="because"):
        require(False, "because")
