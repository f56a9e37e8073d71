"""The web pages at ``/ui/``, on which users read and correct the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.web.serving import web_routes

__getattr__ = lazy_face(__name__)
