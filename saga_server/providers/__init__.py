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

__all__ = [
    "KEY_VARIABLES",
    "OFFLINE",
    "AutomaticExtraction",
    "BackgroundModels",
    "Narrators",
    "Route",
    "context_refusal",
    "is_own",
]

# Names are imported on first use, so that each command imports only what it needs.
__getattr__ = lazy_face(
    {
        "AutomaticExtraction": "saga_server.providers.automatic:AutomaticExtraction",
        "BackgroundModels": "saga_server.providers.background:BackgroundModels",
        "context_refusal": "saga_server.providers.context_size:context_refusal",
        "KEY_VARIABLES": "saga_server.providers.narrators:KEY_VARIABLES",
        "OFFLINE": "saga_server.providers.narrators:OFFLINE",
        "Narrators": "saga_server.providers.narrators:Narrators",
        "Route": "saga_server.providers.route:Route",
        "is_own": "saga_server.providers.automatic:is_own",
    }
)
