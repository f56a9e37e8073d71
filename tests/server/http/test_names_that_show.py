"""Names that nobody can see, or tell from others."""

from __future__ import annotations

import pytest

from tests.server.client import Client, words


@pytest.mark.parametrize("name", ["\u3164", "a\u115f", "\u2800\u2800", "x\uffa0y", "\u202eabc", "a\u2066b"])
async def test_a_name_shows_all_it_is(offline: Client, name: str) -> None:
    from urllib.parse import quote

    reply = await offline.chat(words("hi"), headers={"X-SAGA-Session": quote(name)})
    assert reply.status == 400 and "visible" in reply.error["message"]
    assert (await offline.post("/api/sessions", json={"label": name})).status == 400


async def test_emoji_and_scripts_do(offline: Client) -> None:
    for name in ("❤️ 모험", "冒険の書", "Приключение", "مغامرة"):
        assert (await offline.post("/api/sessions", json={"label": name})).status == 201


async def test_what_names_are_written_with_is_kept(offline: Client) -> None:
    for name in ("علی\u200cرضا", "👩🏽\u200d🚀", "\u200eMara", "🏴\U000e0067\U000e0062\U000e007f"):
        made = await offline.post("/api/sessions", json={"label": name})
        assert made.status == 201 and made.json["label"] == name


async def test_what_nobody_writes_on_purpose_makes_no_other_name(offline: Client) -> None:
    for name in ("a\u200bb", "c\u00add", "\ufeffef", "g\u034fh"):
        made = await offline.post("/api/sessions", json={"label": name})
        assert made.json["label"] == name[0].strip("\ufeff") + name[1:].strip("\u200b\u00ad\u034f")
