"""``python -m saga_server.bench``."""

from __future__ import annotations

from saga_server.bench.command import bench

if __name__ == "__main__":
    bench(prog_name="saga bench")
