"""docs/contribute.md, adding an endpoint: what it says to write is answered, described and listed."""

from __future__ import annotations

import pytest

from saga_server.admin import answers, dispatch, endpoint_list, endpoints, openapi, server_handlers
from saga_server.admin.endpoint import Endpoint
from tests.docs.pages import page
from tests.server.client import Client

SECTION = page("docs/contribute.md").text.partition("\n## Adding an endpoint\n")[2].partition("\n## ")[0]
BLOCKS = [
    block.text for block in page("docs/contribute.md").blocks if block.language == "python" and block.text in SECTION
]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The endpoint of the page, where the page says that its pieces belong."""
    answer, handler, row = BLOCKS
    places = (answers, answer, "Worlds"), (server_handlers, handler, "list_worlds")
    for module, text, name in places:
        space = dict(vars(module))
        exec(compile(text, module.__file__ or "", "exec", dont_inherit=False), space)
        monkeypatch.setattr(module, name, space[name], raising=False)
    made: tuple[Endpoint] = eval(row, dict(vars(endpoints)))
    table = (*endpoints.ENDPOINTS, *made)
    for module in (dispatch, endpoint_list):
        monkeypatch.setattr(module, "ENDPOINTS", table)
    return made[0]


async def test_the_endpoint_of_the_page_works(added: Endpoint) -> None:
    async with Client.of({}, {}) as client:
        assert (await client.get("/api/worlds?prefix=har")).json == {"worlds": ["harrow"]}
        assert set((await client.get("/api/worlds")).json["worlds"]) >= {"ersia", "harrow"}
        refused = await client.get("/api/worlds?colour=red")
        assert refused.error["message"] == "colour: unknown parameter; this path takes prefix"
        assert (await client.post("/api/worlds")).status == 405


def test_the_endpoint_of_the_page_is_listed_and_described(added: Endpoint) -> None:
    lists = endpoint_list.with_lists(page("docs/http.md").text)
    assert "| `GET /api/worlds?prefix=har` | `worlds` | The worlds. |\n" in lists
    document = openapi.describe_api(endpoint_list.ENDPOINTS)
    assert document["paths"]["/api/worlds"]["get"]["parameters"][0]["name"] == "prefix"
    assert document["components"]["schemas"]["Worlds"]["required"] == ["worlds"]
