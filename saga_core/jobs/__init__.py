"""The jobs that the supervisor runs, and what players and administrators can ask of them."""

from __future__ import annotations

from saga_core.jobs.asking import Asking
from saga_core.jobs.backfill import Backfill, BackfillState
from saga_core.jobs.background import Background
from saga_core.jobs.background_bills import BackgroundBills
from saga_core.jobs.cards import CardsJob
from saga_core.jobs.chapters import CHAPTER_TOKENS, Chapters
from saga_core.jobs.collection import CollectionJob
from saga_core.jobs.doubts import DoubtsJob
from saga_core.jobs.edits import EditsJob
from saga_core.jobs.extraction import ExtractionJob
from saga_core.jobs.personas import PersonasJob
from saga_core.jobs.remote_state import ForgettingJob
from saga_core.jobs.reviews import Pace, ReviewsJob
from saga_core.jobs.vectors import VectorsJob
from saga_core.jobs.views import ViewsJob
