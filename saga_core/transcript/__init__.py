"""Transcripts: reads the messages of a request and finds their place among known turns."""

from __future__ import annotations

from saga_core.transcript import identities as identities
from saga_core.transcript.dialogue import Transcript, Utterance, read_transcript
from saga_core.transcript.identities import identity, identity_key, prefix_keys
from saga_core.transcript.locating import Located, locate
from saga_core.transcript.matching import SHORT, Match, Matcher, opening_key, words_key
from saga_core.transcript.persona import Persona, persona_of
from saga_core.transcript.reading import Elsewhere, read_request
from saga_core.transcript.similarity import INHERIT, likeness
from saga_core.transcript.usual_notes import UsualNotes

__all__ = [
    "INHERIT",
    "SHORT",
    "Elsewhere",
    "Located",
    "Match",
    "Matcher",
    "Persona",
    "Transcript",
    "UsualNotes",
    "Utterance",
    "identities",
    "identity",
    "identity_key",
    "likeness",
    "locate",
    "opening_key",
    "persona_of",
    "prefix_keys",
    "read_request",
    "read_transcript",
    "words_key",
]
