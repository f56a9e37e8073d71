"""The parts of a server process beside requests: logs, metrics, event loop, settings, and sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.process.collector import Tidying, few_arenas, put_off, settle
    from saga_server.process.event_loop import LoopGuard, run_watched, running_watch
    from saga_server.process.helper import Helper, TooMuch
    from saga_server.process.listening import BACKLOG, CannotListen, check_listening, is_loopback, open_sockets
    from saga_server.process.logs import PRIVATE, LogTail, log_errors_only, secrets_of, set_up_logging
    from saga_server.process.masking import Mask
    from saga_server.process.metrics import ADJUSTABLE, LoopMetrics, Metrics
    from saga_server.process.readiness import Readiness
    from saga_server.process.running_server import (
        READY,
        READY_AT,
        STOPPING,
        AnswerLost,
        NotAnswered,
        address_of,
        ask,
        call_api,
        note_of,
        publish_address,
        tell_manager,
        withdraw_address,
    )
    from saga_server.process.settings import Current, Reloaded, Reloading, applies_at_once
    from saga_server.process.settings_file import Scalar, changed_text, write_private

# Each name is imported on first use, so that a command or a start loads only what it needs.
__getattr__ = lazy_face(__name__)
