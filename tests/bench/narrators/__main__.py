"""``python -m tests.bench.narrators --upstream http://127.0.0.1:8090/v1``: plays the stories with a real model.

Each run starts ``saga serve`` on a free port of the loopback address, plays a story of the folder ``stories``, and
prints what came of it. ``--direct`` plays without SAGA, for comparison. ``--raw FILE`` keeps every reply. Not part of
the test suite: it needs a server with a model, and minutes.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import yaml

from tests.bench.narrators.score import Tally
from tests.bench.narrators.story import Story, stories

_MINUTES = 10


@contextmanager
def served(upstream: str, reporting: str, folder: Path) -> Iterator[str]:
    """A server of SAGA in front of ``upstream``; yields its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config: dict[str, Any] = {
        "providers": {"openai": {"base_url": upstream, "api_key": "none"}},
        "storage": {"path": str(folder / "data")},
        "server": {"port": port},
    }
    if reporting != "auto":
        config["extraction"] = {"reporting": reporting}
    path = folder / "saga.yaml"
    path.write_text(yaml.safe_dump(config))
    log = (folder / "log").open("w")
    command = [sys.executable, "-m", "saga_server", "serve", "--config", str(path)]
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            if process.poll() is not None:
                sys.exit((folder / "log").read_text())
            try:
                if httpx.get(f"{base}/readyz").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        yield base
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def play(story: Story, base: str, *, saga: str, seed: int, turns: int, history: int, raw: list[Any]) -> Tally:
    """Play a story; ``saga`` is the admin address, empty without SAGA."""
    tally = Tally()
    chat = [{"role": "assistant", "content": story.greeting}]
    before: dict[str, Any] = {}
    system = [{"role": "system", "content": text} for text in story.system]

    def ask(words: str, limit: int) -> tuple[str, dict[str, str]]:
        body = {
            "model": "narrator",
            "messages": [*system, *chat[-history:], {"role": "user", "content": words}],
            "temperature": 0.8,
            "top_p": 0.95,
            "max_tokens": limit,
            "seed": seed,
        }
        began = time.monotonic()
        answer = httpx.post(f"{base}/chat/completions", json=body, timeout=60 * _MINUTES)
        answer.raise_for_status()
        text = answer.json()["choices"][0]["message"]["content"] or ""
        raw.append(
            {
                "story": story.name,
                "seed": seed,
                "words": words,
                "reply": text,
                "usage": answer.json().get("usage"),
                "seconds": round(time.monotonic() - began, 2),
            }
        )
        return text, dict(answer.headers)

    for number, line in enumerate(story.turns[:turns], 1):
        text, headers = ask(line.say, 320)
        tally.reply(story, number, text)
        chat += [{"role": "user", "content": line.say}, {"role": "assistant", "content": text or "…"}]
        session = headers.get("x-saga-session")
        if saga and session:
            httpx.post(f"{saga}/api/drain?timeout=300", timeout=400)
            now = httpx.get(f"{saga}/api/sessions/{session}/state", timeout=60).json()
            tally.state(story, number, line, now, before)
            before = now
    if turns >= len(story.turns):
        for question, answer in story.questions:
            text, _ = ask(story.ask.format(question=question), 80)
            tally.check("questions", tally.answers(answer, text), f"{question} {text[:80]!r}")
    return tally


def main() -> None:
    """Play, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.narrators", description=__doc__)
    parser.add_argument("--upstream", required=True, help="base URL of an OpenAI-compatible server, with /v1")
    parser.add_argument("--reporting", default="auto", help="auto, block or after")
    parser.add_argument("--direct", action="store_true", help="without SAGA")
    parser.add_argument("--story", action="append", help="only these stories")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--turns", type=int, default=99)
    parser.add_argument("--history", type=int, default=12, help="messages of the chat that are sent")
    parser.add_argument("--raw", type=Path)
    parser.add_argument("--show", action="store_true", help="what was wrong")
    args = parser.parse_args()
    raw: list[Any] = []
    total = Tally()
    for story in stories():
        if args.story and story.name not in args.story:
            continue
        for seed in range(1, args.seeds + 1):
            at = {"seed": seed, "turns": args.turns, "history": args.history, "raw": raw}
            if args.direct:
                tally = play(story, args.upstream, saga="", **at)
            else:
                with (
                    tempfile.TemporaryDirectory() as folder,
                    served(args.upstream, args.reporting, Path(folder)) as base,
                ):
                    tally = play(story, f"{base}/v1", saga=base, **at)
            total.right += tally.right
            total.all += tally.all
            shown = ", ".join(f"{kind} {tally.right[kind]}/{count}" for kind, count in tally.all.items())
            print(f"{story.name} seed {seed}: {shown}", flush=True)
            if args.show:
                print("".join(f"    {each}\n" for each in tally.wrong), end="", flush=True)
            if args.raw:
                args.raw.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in raw))
    print("all: " + ", ".join(f"{kind} {total.right[kind]}/{count}" for kind, count in total.all.items()))


if __name__ == "__main__":
    main()
