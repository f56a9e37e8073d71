"""``python -m saga_server.demo``."""

from __future__ import annotations

from saga_server.demo.command import demo

if __name__ == "__main__":
    demo()
