"""Names that nobody can see, or tell from others."""

from __future__ import annotations

import pytest

from tests.server.client import Client, words


@pytest.mark.parametrize("name", ["\u3164", "a\u115f", "\u2800\u2800", "x\uffa0y", "a\u200bb", "\u202eabc", "a\u034f"])
async def test_a_name_shows_all_it_is(offline: Client, name: str) -> None:
    from urllib.parse import quote

    reply = await offline.chat(words("hi"), headers={"X-SAGA-Session": quote(name)})
    assert reply.status == 400 and "visible" in reply.error["message"]
    assert (await offline.post("/api/sessions", json={"label": name})).status == 400


async def test_emoji_and_scripts_do(offline: Client) -> None:
    for name in ("❤️ 모험", "冒険の書", "Приключение", "مغامرة"):
        assert (await offline.post("/api/sessions", json={"label": name})).status == 201
