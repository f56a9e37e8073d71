"""Views: updates stores to the current turn of a session, and reads the contents of a session."""

from __future__ import annotations

from saga_core.views.projector import Projector, scope_of, session_of_scope
from saga_core.views.reading import Views
from saga_core.views.vector_views import OF_EMBEDDER, alike, passages
