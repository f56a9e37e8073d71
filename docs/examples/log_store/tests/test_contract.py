"""All that an author has to write to have the store tested."""

from __future__ import annotations

from saga_log_state.harness import HARNESS

from conformance import conforms

test_log_state = conforms(HARNESS, profile="quick")
