"""Texts that are cut before patterns look at them: there a character may cost what it costs at that length.

Each bound is tested from outside as well, by ``test_readers_are_linear``.
"""

from __future__ import annotations

from tests.patterns.found import name_of

_BOUNDS = {
    "saga_backends/chat/offline.py": 2_000,  # the player's words
    "saga_core/extraction/here_and_now.py:_remarks": 60,
    "saga_core/extraction/parting.py": 240,  # a sentence
    "saga_core/language/tables.py": 220,  # a window beside fixed words, and lines of tables of ours
    "saga_server/admin/endpoint_list.py": 500,  # a row of a page of ours
    "saga_core/state_block/markup.py": 2_000,  # a line
    "saga_core/state_block/by_names.py:_BEFORE_SUBJECT": 60,
    "saga_core/state_block/records.py": 1_000,  # an element
    "saga_core/state_block/records.py:_gives": 120,
    "saga_core/state_block/records.py:_ended": 240,
    "saga_core/state_block/records.py:_supposed": 240,
    "saga_core/state_block/values.py": 200,  # a flag, a number, a level
    "saga_core/state_block/amounts.py": 200,  # a quantity by itself
    "saga_core/state_block/amounts.py:_amounts": 220,
    "saga_core/state_block/values.py:_REMARK": 2_000,
}


def bound_of(place: str, line: int) -> int:
    """The longest text that the pattern there is given; 0 where there is no bound."""
    return _BOUNDS.get(f"{place}:{name_of(place, line)}", _BOUNDS.get(place, 0))
