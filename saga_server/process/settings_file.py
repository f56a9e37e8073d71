"""Changes single settings in the text of a settings file. Comments, order and all other lines stay as they are."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from saga_core.errors import ConfigError
from saga_core.replacing import replace_file

Scalar = str | int | float | bool | list[str] | None
_INDENT = "  "


def changed_text(text: str, changes: Mapping[tuple[str, ...], Scalar]) -> str:
    """Return ``text`` with settings changed, each named by its path (``("models", "narration")``).

    A setting of None is removed, so that its default holds. Raises ``ConfigError`` where the file has a section in a
    form that cannot be changed line by line.
    """
    for path, value in changes.items():
        text = _removed(text, path) if value is None else _set(text, path, value)
    return text


def _set(text: str, path: Sequence[str], value: Scalar) -> str:
    if text and not text.endswith("\n"):
        text += "\n"
    holder, column = _root(text), 0
    for depth, part in enumerate(path):
        if holder is None or not holder.value:
            return text + _lines(path[depth:], value, column)
        known = _entry(holder, part)
        if known is None:
            return _inserted(text, holder, path[depth:], value)
        key, found = known
        if depth == len(path) - 1:
            return text[: found.start_mark.index] + _spaced(text, found, _shown(value)) + text[found.end_mark.index :]
        if isinstance(found, yaml.MappingNode) and found.value:
            holder, column = found, found.start_mark.column
            continue
        if isinstance(found, yaml.MappingNode) or (str(found.tag) == "tag:yaml.org,2002:null"):
            end = text.index("\n", key.end_mark.index) + 1
            head = text[: key.end_mark.index] + ":" + text[found.end_mark.index : end]
            return head + _lines(path[depth + 1 :], value, key.start_mark.column + len(_INDENT)) + text[end:]
        raise _odd(key, "is no section")
    raise AssertionError("a path has at least one part")


def _inserted(text: str, holder: yaml.MappingNode, path: Sequence[str], value: Scalar) -> str:
    """The text with a setting added below the first one of a section."""
    first = holder.value[0][0]
    if holder.flow_style:
        inner = "".join(f"{_key(part)}: {{" for part in path[:-1])
        added = f"{inner}{_key(path[-1])}: {_shown(value)}{'}' * (len(path) - 1)}, "
        return text[: first.start_mark.index] + added + text[first.start_mark.index :]
    at = first.start_mark.index - first.start_mark.column
    return text[:at] + _lines(path, value, first.start_mark.column) + text[at:]


def _removed(text: str, path: Sequence[str]) -> str:
    holder = _root(text)
    for depth, part in enumerate(path):
        known = None if holder is None else _entry(holder, part)
        if holder is None or known is None:
            return text
        key, found = known
        if depth < len(path) - 1:
            holder = found if isinstance(found, yaml.MappingNode) else None
            continue
        if holder.flow_style:
            at = holder.value.index(known)
            begin, end = key.start_mark.index, found.end_mark.index
            if at + 1 < len(holder.value):
                end = holder.value[at + 1][0].start_mark.index
            elif at:
                begin = holder.value[at - 1][1].end_mark.index
            return text[:begin] + text[end:]
        begin = key.start_mark.index - key.start_mark.column
        end = text.find("\n", found.end_mark.index)
        return text[:begin] + (text[end + 1 :] if end >= 0 else "")
    return text


def _root(text: str) -> yaml.MappingNode | None:
    found = yaml.compose(text, yaml.SafeLoader)
    if found is not None and not isinstance(found, yaml.MappingNode):
        raise ConfigError("settings", ("the file holds no sections; edit it by hand",))
    return found


def _entry(holder: yaml.MappingNode, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    found = next(((key, value) for key, value in holder.value if key.value == name), None)
    if found is not None and isinstance(found[1], yaml.SequenceNode) and not found[1].flow_style:
        raise _odd(found[0], "is a list")
    return found


def _odd(key: yaml.Node, why: str) -> ConfigError:
    line = key.start_mark.line + 1
    return ConfigError("settings", (f"line {line}: {key.value} {why}, which cannot be changed here; edit the file",))


def _lines(path: Sequence[str], value: Scalar, column: int) -> str:
    heads = [f"{' ' * column}{_INDENT * depth}{_key(part)}:" for depth, part in enumerate(path)]
    return "\n".join(heads) + f" {_shown(value)}\n"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name, ensure_ascii=False)


def _shown(value: Scalar) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spaced(text: str, node: yaml.Node, shown: str) -> str:
    """A value, with a space in front of it where the file has none because it holds nothing there."""
    before: Any = text[node.start_mark.index - 1 : node.start_mark.index]
    return f" {shown}" if before == ":" else shown


def write_private(place: Path, text: str, *, keep_form: bool = False) -> None:
    """Write ``text`` to ``place`` atomically, readable only by its owner. Raises ``OSError``.

    With ``keep_form``, a file that is there keeps its permissions and its line ends.
    """
    kept = keep_form and place.exists()
    newline = "\r\n" if kept and b"\r\n" in place.read_bytes() else "\n"
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline=newline) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if kept:
            shutil.copymode(place, part)
        replace_file(part, place)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
