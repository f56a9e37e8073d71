"""Rehearsals: plays eight turns with a narrator to see how well it reports. Nothing is kept."""

from __future__ import annotations

from saga_server.rehearsal.judging import judge
from saga_server.rehearsal.playing import rehearse
from saga_server.rehearsal.scripts import SCRIPTS

__all__ = ["SCRIPTS", "judge", "rehearse"]
