"""``python -m tests.bench``."""

from __future__ import annotations

from tests.bench.command import bench

if __name__ == "__main__":
    bench(prog_name="python -m tests.bench")
