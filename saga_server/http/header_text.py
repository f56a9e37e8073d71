"""The one door by which a text of somebody else's enters a header."""

from __future__ import annotations

from aiohttp import web

_LONGEST = 400


def header_text(text: str, longest: int = _LONGEST) -> str:
    """``text`` as a header can carry it: one line of printable ASCII, not too long. The rest is escaped."""
    line = "".join(
        each if " " <= each <= "~" else each.encode("unicode_escape", "surrogatepass").decode("ascii")
        for each in " ".join(text[: longest * 2].split())
    )
    return line if len(line) <= longest else line[: longest - 3] + "..."


async def only_header_text(request: web.Request, response: web.StreamResponse) -> None:
    """Bring every header of an answer through the door. The last signal handler of ``on_response_prepare``."""
    for name, value in list(response.headers.items()):
        if not (value.isascii() and value.isprintable()):
            response.headers[name] = header_text(value)
