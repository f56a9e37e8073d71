"""Maintenance: verifying and repairing, export and import, backups, forgetting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_core.maintenance.forget import Gone
    from saga_core.maintenance.importing import ImportOptions
    from saga_core.maintenance.lists import (
        BackupCopy,
        OlderCopy,
        add_to_index,
        brought_back,
        note_forgotten,
        read_index,
    )
    from saga_core.maintenance.maintenance import Maintenance
    from saga_core.maintenance.move import begin_move, catch_up, mark_moved, move_journal
    from saga_core.maintenance.remains import make_whole
    from saga_core.maintenance.story_path import StoryPath
    from saga_core.maintenance.tools import Tools
    from saga_core.maintenance.transfer import read_file
    from saga_core.maintenance.trash import TrashedSession, empty_trash, list_trash
    from saga_core.maintenance.verify import Verification

# Imported on first use, because a start does not need them.
__getattr__ = lazy_face(
    {
        "BackupCopy": "saga_core.maintenance.lists:BackupCopy",
        "add_to_index": "saga_core.maintenance.lists:add_to_index",
        "read_index": "saga_core.maintenance.lists:read_index",
        "Gone": "saga_core.maintenance.forget:Gone",
        "OlderCopy": "saga_core.maintenance.lists:OlderCopy",
        "brought_back": "saga_core.maintenance.lists:brought_back",
        "note_forgotten": "saga_core.maintenance.lists:note_forgotten",
        "Maintenance": "saga_core.maintenance.maintenance:Maintenance",
        "make_whole": "saga_core.maintenance.remains:make_whole",
        "begin_move": "saga_core.maintenance.move:begin_move",
        "catch_up": "saga_core.maintenance.move:catch_up",
        "mark_moved": "saga_core.maintenance.move:mark_moved",
        "move_journal": "saga_core.maintenance.move:move_journal",
        "StoryPath": "saga_core.maintenance.story_path:StoryPath",
        "ImportOptions": "saga_core.maintenance.importing:ImportOptions",
        "Tools": "saga_core.maintenance.tools:Tools",
        "empty_trash": "saga_core.maintenance.trash:empty_trash",
        "list_trash": "saga_core.maintenance.trash:list_trash",
        "TrashedSession": "saga_core.maintenance.trash:TrashedSession",
        "read_file": "saga_core.maintenance.transfer:read_file",
        "Verification": "saga_core.maintenance.verify:Verification",
    }
)
