"""Model providers, the routes to them, and their slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.providers.automatic import AutomaticExtraction, is_own
    from saga_server.providers.background import BackgroundModels
    from saga_server.providers.context_size import context_refusal
    from saga_server.providers.narrators import KEY_VARIABLES, OFFLINE, Narrators
    from saga_server.providers.route import Route

# Names are imported on first use, so that each command imports only what it needs.
__getattr__ = lazy_face(__name__)
