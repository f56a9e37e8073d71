"""Make texts safe for HTTP headers. Every header value of a reply passes through this module."""

from __future__ import annotations

_LONGEST = 400


def header_text(text: str, longest: int = _LONGEST) -> str:
    """Return ``text`` as one line of printable ASCII with at most ``longest`` characters.

    Other characters are escaped; a text that is too long is cut and ends in ``...``.
    """
    line = "".join(
        each if " " <= each <= "~" else each.encode("unicode_escape", "surrogatepass").decode("ascii")
        for each in " ".join(text[: longest * 2].split())
    )
    return line if len(line) <= longest else line[: longest - 3] + "..."
