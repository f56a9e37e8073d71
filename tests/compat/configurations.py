"""Configuration files as users of commit 18d39bea had them, and what each of their settings meant.

``python -m tests.compat.configurations`` recorded the meaning, and refuses to do so again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from saga_core.config import Config, load_config

FOLDER = Path(__file__).parent / "recorded" / "configurations"
MEANING = FOLDER / "meaning.json"
ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "a-key",
    "OPENAI_API_KEY": "o-key",
    "GOOGLE_API_KEY": "g-key",
    "COMPAT_OWNER": "owner-key",
    "COMPAT_KEY": "provider-key",
}


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.yaml"))


def written(file: Path) -> Iterator[tuple[str, ...]]:
    """The path of every setting that a file gives."""

    def walk(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if isinstance(value, Mapping) and value:
            for name, below in value.items():
                yield from walk(below, (*path, name))
        else:
            yield path

    return walk(yaml.safe_load(file.read_text(encoding="utf-8")), ())


def meaning(config: Config, path: tuple[str, ...]) -> Any:
    """The value that a setting has, as JSON keeps it."""
    value: Any = config
    for name in path:
        value = value[name] if isinstance(value, Mapping) else getattr(value, name)
    if attrs.has(type(value)):
        value = attrs.asdict(value)
    return json.loads(json.dumps(value, default=str))


def record() -> None:
    found = {
        file.name: {".".join(path): meaning(config, path) for path in written(file)}
        for file in files()
        if (config := load_config(file, environ=ENVIRONMENT))
    }
    MEANING.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if MEANING.exists():
        sys.exit(f"{MEANING.name} is recorded, and stays as it is")
    record()
