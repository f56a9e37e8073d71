"""``python -m conformance.runner``: the worker process that loads a harness. ``run_isolated`` starts it."""

from __future__ import annotations

import sys

from conformance.runner import serve

if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
