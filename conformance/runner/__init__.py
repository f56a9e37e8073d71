"""The runner, which runs the checks on a harness, in this process or in a separate one, and returns a report."""

from __future__ import annotations

from conformance.runner.in_process import DEFAULT_SEED, applicable, run, run_check
from conformance.runner.isolated import run_isolated
from conformance.runner.worker import serve

__all__ = ["DEFAULT_SEED", "applicable", "run", "run_check", "run_isolated", "serve"]
