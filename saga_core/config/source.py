"""The sources of a configuration: a YAML file or a mapping."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from saga_core.errors import ConfigError

_DEEPEST = 16
_LARGEST = 10_000


@frozen
class Source:
    """Raw settings: their name in messages, their tree, and the base of their relative paths."""

    name: str
    tree: Mapping[str, Any]
    base: Path


def read_source(source: Mapping[str, Any] | str | os.PathLike[str] | None) -> Source:
    """Return the raw settings of ``source``. Raises ``ConfigError`` for a file that cannot be read as settings."""
    if source is None:
        return Source("config", {}, Path.cwd())
    if isinstance(source, Mapping):
        _check_shape("config", source)
        return Source("config", source, Path.cwd())
    path = Path(source).expanduser()
    tree = _read_yaml(path)
    if tree is None:
        tree = {}
    if not isinstance(tree, Mapping):
        kind = "list" if isinstance(tree, list) else "single value"
        raise ConfigError(path.name, (f"the file holds a {kind}; give sections such as 'server:'",))
    _check_shape(path.name, tree)
    return Source(path.name, tree, path.resolve().parent)


def _check_shape(name: str, tree: Any) -> None:
    """Refuse keys that are not text, and nesting that is too deep or cyclic."""
    level = [("", tree)]
    for _ in range(_DEEPEST):
        below: list[tuple[str, Any]] = []
        for path, value in level:
            if isinstance(value, Mapping):
                for key, entry in value.items():
                    if not isinstance(key, str):
                        where = path or "the top level"
                        raise ConfigError(name, (f"{where}: the key {key!r} is no text; put it in quotes",))
                    below.append((f"{path}.{key}" if path else key, entry))
            elif isinstance(value, list | tuple):
                below += [(path, entry) for entry in value]
        if not below:
            return
        level = below
    raise ConfigError(name, (f"{level[0][0]}: nested deeper than {_DEEPEST} levels; settings are at most a few deep",))


def _read_yaml(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            str(path), ("there is no such file; check the path given by --config or SAGA_CONFIG",)
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(path.name, (f"the text is not UTF-8 (byte {error.start}); save the file as UTF-8",)) from None
    except OSError as error:
        raise ConfigError(str(path), (f"the file cannot be read ({error.strerror}); check its permissions",)) from None
    return _parse_yaml(path.name, text)


def _parse_yaml(name: str, text: str) -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuses a key that appears twice in a mapping. YAML would silently keep the last one."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in seen and key.value != "<<":
                    line = key.start_mark.line + 1
                    raise ConfigError(name, (f"line {line}: {key.value} appears a second time; remove one",))
                if isinstance(key, yaml.ScalarNode):
                    seen.add(key.value)
            return super().construct_mapping(node, deep)

    def size(node: Any, known: dict[int, int]) -> int:
        """Return the number of values in ``node``. Referenced values are counted at each reference."""
        found = known.get(id(node))
        if found is None:
            known[id(node)] = 1  # a node may contain itself
            inside = node.value if isinstance(node, yaml.CollectionNode) else ()
            parts = (part for each in inside for part in (each if isinstance(each, tuple) else (each,)))
            found = known[id(node)] = 1 + sum(size(part, known) for part in parts)
        return found

    try:
        if "*" in text and size(yaml.compose(text, Loader), {}) > _LARGEST:
            raise ConfigError(name, (f"its references unfold to more than {_LARGEST:,} values; write them out",))
        return yaml.load(text, Loader)
    except RecursionError:
        raise ConfigError(name, ("the settings are nested too deeply",)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ConfigError(name, (f"{where}this is not valid YAML: {error.problem}",)) from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(name, (f"this is not valid YAML: {type(error).__name__}",)) from None
