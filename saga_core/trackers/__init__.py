"""Trackers: what a world, a card, a chat or the configuration declares to be counted, and how its values are read."""

from __future__ import annotations

from saga_core.trackers.clock import DAY, is_relative
from saga_core.trackers.declaring import declaration_of, tracker_in_line, tracker_of
from saga_core.trackers.genres import guessed_profile, trackers_of
from saga_core.trackers.profiles import ADVENTURE, AUTO, HEALTH, PROFILES, ROMANCE, UNTOLD, checked_profile
from saga_core.trackers.reading import (
    UnreadableValue,
    moved_items,
    overdue_from,
    read_value,
    says_nothing,
    shown_due,
    shown_value,
    start_value,
    time_in,
)
from saga_core.trackers.table import read_table, write_table
from saga_core.trackers.threads import Move, ThreadReport, read_threads
from saga_core.trackers.tracker import (
    MOST_TRACKERS,
    NO_TRACKERS,
    RESERVED,
    Count,
    Secrecy,
    Telling,
    Tracker,
    TrackerKind,
    Trackers,
    Whose,
    ends,
    pair,
    same_words,
)

__all__ = [
    "ADVENTURE",
    "AUTO",
    "DAY",
    "HEALTH",
    "MOST_TRACKERS",
    "NO_TRACKERS",
    "PROFILES",
    "RESERVED",
    "ROMANCE",
    "UNTOLD",
    "Count",
    "Move",
    "Secrecy",
    "Telling",
    "ThreadReport",
    "Tracker",
    "TrackerKind",
    "Trackers",
    "UnreadableValue",
    "Whose",
    "checked_profile",
    "declaration_of",
    "ends",
    "guessed_profile",
    "is_relative",
    "moved_items",
    "overdue_from",
    "pair",
    "read_table",
    "read_threads",
    "read_value",
    "same_words",
    "says_nothing",
    "shown_due",
    "shown_value",
    "start_value",
    "time_in",
    "tracker_in_line",
    "tracker_of",
    "trackers_of",
    "write_table",
]
