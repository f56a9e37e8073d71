"""Generate the list of endpoints in docs/http.md from the table.

``python -m saga_server.admin.endpoint_list`` writes it.

The last cell of a row explains the request. It is edited by hand on the page; a new endpoint starts with its summary.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from attrs import fields

from saga_server.admin.endpoint import JSON, Endpoint
from saga_server.admin.endpoints import ENDPOINTS
from saga_server.admin.openapi import document_text
from saga_server.admin.parameters import ANY_BYTES, JSON_LINES, PICTURE
from saga_server.admin.read_params import params_of

PAGE: Final = Path("docs/http.md")
DOCUMENT: Final = Path("docs/openapi.json")
_HEADS: Final = {"| request | fields of the answer | meaning |": "/api/", "| request | meaning |": "/"}
"""The head line of each list, and the prefix of the paths in it."""
_ROW: Final = re.compile(r"\| `((?:GET|POST|DELETE) [^`?]*)[^`]*` \|(?:.*[^\\]\|)? (.+) \|")


def with_lists(page: str) -> str:
    """Return the page with its lists updated from the table. The explanations and all other text stay."""
    lines = page.split("\n")
    meanings = {found[1]: found[2] for line in lines if (found := _ROW.fullmatch(line))}
    made: list[str] = []
    at = 0
    while at < len(lines):
        made.append(lines[at])
        begins = _HEADS.get(lines[at])
        at += 1
        if begins is None or "/chat/completions" in lines[at + 1]:
            continue
        made.append(lines[at])  # the rule below the head
        made += [_row(each, meanings) for each in ENDPOINTS if each.path.startswith("/api/") == (begins == "/api/")]
        while lines[at].startswith("|"):
            at += 1
    return "\n".join(made)


def _row(endpoint: Endpoint, meanings: dict[str, str]) -> str:
    meaning = meanings.get(endpoint.request, f"{endpoint.summary}.")
    if not endpoint.path.startswith("/api/"):
        return f"| `{endpoint.request}` | {meaning} |"
    fields_cell = f" {_answer(endpoint)} |".replace("  ", " ")
    return f"| `{endpoint.request}{_query(endpoint)}` |{fields_cell} {meaning} |"


def _query(endpoint: Endpoint) -> str:
    shown = [each for each in params_of(endpoint.handler) if each.spec.example is not None]
    return "?" + "&".join(f"{each.name}={each.spec.example}" for each in shown) if shown else ""


def _answer(endpoint: Endpoint) -> str:
    if endpoint.media != JSON:
        return {JSON_LINES: "JSON lines", ANY_BYTES: "a file", PICTURE: "a picture"}.get(endpoint.media, "")
    return ", ".join(f"`{each.name}`" for each in fields(endpoint.answer))


def main() -> None:
    """Write the lists and the OpenAPI document. Runs in the project's folder."""
    PAGE.write_text(with_lists(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    DOCUMENT.write_text(document_text(ENDPOINTS), encoding="utf-8")


if __name__ == "__main__":
    main()
