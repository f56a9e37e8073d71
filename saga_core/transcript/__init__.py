"""Transcripts: reads the messages of a request and finds their place among known turns."""

from __future__ import annotations

from saga_core.transcript import identities as identities
from saga_core.transcript.dialogue import Elsewhere, Transcript, Utterance, read_request, read_transcript
from saga_core.transcript.evidence import INHERIT, Edit, likeness
from saga_core.transcript.identities import identity, identity_key, prefix_keys
from saga_core.transcript.matching import SHORT, Located, Match, Matcher, UsualNotes, locate, opening_key, words_key
from saga_core.transcript.persona import Persona, next_reply_of, persona_of
from saga_core.transcript.request_kind import next_member
