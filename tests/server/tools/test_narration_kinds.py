"""What SAGA offers beside a client's own tools, however these are written."""

from __future__ import annotations

from typing import Any

import pytest

from saga_server.tools import NARRATOR_TOOLS


@pytest.mark.parametrize("name", [None, 5, ["f"], {"a": 1}])
def test_a_name_of_another_kind_takes_none_of_them(name: Any) -> None:
    tools = [{"type": "function", "function": {"name": name}}, {"type": "function", "function": {"name": "roll"}}]
    assert [each["function"]["name"] for each in NARRATOR_TOOLS.beside({"tools": tools})] == ["recall"]
