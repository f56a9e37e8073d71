"""``python -m saga_server``."""

from __future__ import annotations

from saga_server.cli import main

main(prog_name="saga")
