"""``python -m conformance``."""

from __future__ import annotations

from conformance.cli import main

if __name__ == "__main__":
    main(prog_name="python -m conformance")
