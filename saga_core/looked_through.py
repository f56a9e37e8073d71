"""The two ends of a text that is longer than anybody says: of a book, what matters stands where it begins or ends."""

from __future__ import annotations

from typing import Final

LONG: Final = 64_000
"""Characters of a text that are looked through by whatever reads it on the event loop."""


def looked_through(text: str, most: int = LONG) -> str:
    """``text``; of what has more than ``most`` characters its beginning and its end, with a line end between.

    So reading takes no longer, however long the text is: nobody else is served meanwhile.
    """
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"
