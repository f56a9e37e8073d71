"""Names for parametrised cases that are the same in every process."""

from __future__ import annotations

import re


def named(value: object) -> str:
    """``repr`` without addresses, so that parallel workers collect the same tests."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
