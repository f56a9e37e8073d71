"""Dress: what a block's body wears without meaning anything by it, taken off before it is read."""

from __future__ import annotations

import html
import re

_INVISIBLE = re.compile("[\u200b\u2060\ufeff\u00ad]")
_ENTITY = re.compile(r"&(?:quot|amp|lt|gt|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
_ROW = re.compile(r"^(?P<indent>[ \t]*)\|(?P<key>[^|\n]+)\|(?P<value>[^|\n]*)\|[ \t]*$", re.M)
_RULER = re.compile(r"^[ \t]*\|(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t]*$", re.M)


def undressed(body: str) -> str:
    """``body`` without invisible characters, with HTML's entities resolved, and table rows of two cells as lines."""
    body = _INVISIBLE.sub("", body)
    if "&" in body and _ENTITY.search(body):
        body = html.unescape(body)
    if "|" in body and _ROW.search(body):
        body = _ROW.sub(
            lambda row: f"{row['indent']}{row['key'].strip()}: {row['value'].strip()}", _RULER.sub("", body)
        )
    return body
