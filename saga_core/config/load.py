"""Build a ``Config`` from a YAML file or values. All errors are reported at once, with path, value and remedy."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import attrs
from attrs import evolve, frozen
from cattrs import (
    AttributeValidationNote,
    ClassValidationError,
    Converter,
    ForbiddenExtraKeysError,
    IterableValidationNote,
)
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn, override

from saga_core.config.model import Config, ModuleConfig, ProviderConfig, StoreConfig, StrategyConfig, TokenBudget
from saga_core.config.rules import Rule, RuleBroken, show
from saga_core.errors import ConfigError

_REFERENCE = re.compile(
    r"\$(?P<escape>\$(?=\{))|\$\{file:(?P<file>[^}]+)\}|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}"
)
_LARGEST_FILE = 65_536
_WHOLE = re.compile(r"[-+]?[0-9]+\Z")
_DECIMAL = re.compile(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?\Z")


class Unset(LookupError):
    """A referenced environment variable is not set and has no default."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class UnreadableFile(Exception):
    """A referenced file cannot be used. The message says why, but never includes the file's content."""


def refers(text: str) -> bool:
    """Whether ``text`` contains a reference."""
    return "${" in text and _REFERENCE.search(text) is not None


def required(text: str) -> list[str]:
    """Return the references in ``text`` without a default: names of variables, and files as ``file:/path``."""
    found = _REFERENCE.finditer(text)
    return [
        f"file:{match['file']}" if match["file"] else match["name"]
        for match in found
        if not match["escape"] and match["default"] is None
    ]


def expand(text: str, environ: Mapping[str, str]) -> str:
    """Return ``text`` with its references replaced. ``$${`` stands for a literal ``${``.

    A variable that is set but empty takes the default, as in a shell. A file is replaced by its text without trailing
    line ends. Raises ``Unset`` and ``UnreadableFile``.
    """

    def replace(match: re.Match[str]) -> str:
        if match["escape"]:
            return "$"
        if match["file"]:
            return _text_of(match["file"])
        value = environ.get(match["name"])
        if not value and match["default"] is not None:
            return match["default"]
        if value is None:
            raise Unset(match["name"])
        return value

    return _REFERENCE.sub(replace, text) if "${" in text else text


def _text_of(name: str) -> str:
    path = Path(name).expanduser()
    if not path.is_absolute():
        raise UnreadableFile(f"{name} is no whole path; give one that begins with /")
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
        text = raw.decode("utf-8").rstrip("\r\n")
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read ({error.strerror}); fix that, or name another file") from error
    except UnicodeDecodeError:
        raise UnreadableFile(f"{path} is not UTF-8 text; name another file") from None
    if len(raw) > _LARGEST_FILE:
        raise UnreadableFile(f"{path} is larger than {_LARGEST_FILE} bytes; name another file")
    return text


def expand_all(value: Any, environ: Mapping[str, str]) -> Any:
    """Return ``value`` with every text in its lists and mappings expanded. Raises ``Unset`` and ``UnreadableFile``."""
    if isinstance(value, str):
        return expand(value, environ)
    if isinstance(value, list | tuple):
        return [expand_all(entry, environ) for entry in value]
    if isinstance(value, Mapping):
        return {key: expand_all(entry, environ) for key, entry in value.items()}
    return value


def scalar(text: str) -> Any:
    """Return the number, truth value or None that an expanded text spells, else the text itself."""
    if _WHOLE.match(text):
        return int(text)
    if _DECIMAL.match(text):
        return float(text)
    return {"true": True, "false": False, "null": None}.get(text.lower(), text)


_DEEPEST = 16


@frozen
class ConfigSource:
    """Raw settings: their name in messages, their tree, and the base of their relative paths."""

    name: str
    tree: Mapping[str, Any]
    base: Path


def read_source(source: Mapping[str, Any] | str | os.PathLike[str] | None) -> ConfigSource:
    """Return the raw settings of ``source``. Raises ``ConfigError`` for a file that cannot be read as settings."""
    if source is None:
        return ConfigSource("config", {}, Path.cwd())
    if isinstance(source, Mapping):
        _check_shape("config", source)
        return ConfigSource("config", source, Path.cwd())
    given: Any = source
    if not isinstance(given, str | os.PathLike):
        raise ConfigError("config", (f"is {given!r:.80}; give a mapping of sections, or the path of a YAML file",))
    path = Path(source).expanduser()
    tree = _read_yaml(path)
    if tree is None:
        tree = {}
    if not isinstance(tree, Mapping):
        kind = "list" if isinstance(tree, list) else "single value"
        raise ConfigError(path.name, (f"the file holds a {kind}; give sections such as 'server:'",))
    _check_shape(path.name, tree)
    return ConfigSource(path.name, tree, path.resolve().parent)


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

    from saga_core.yaml_text import BoundedLoader, problem_of

    class Loader(BoundedLoader):
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

    try:
        return yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ConfigError(name, (f"{where}this is not valid YAML: {problem_of(error)}",)) from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(name, (f"this is not valid YAML: {type(error).__name__}",)) from None


_INSIDE_DYNAMIC = (
    "md_cache_max",
    "lorebook_max",
    "state_briefing_max",
    "graph_context_max",
    "recall_max",
    "memories_max",
)

_STRATEGIES = 5
"""The largest number of memory strategies."""
_PROVIDER = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")

_REPLACED = {
    "dynamic_lorebook.decay_threshold": "each layer has its own decay; set dynamic_lorebook.decay instead",
    "session.auto_save": "every turn is saved before its reply ends",
    "session.auto_save_interval": "every turn is saved before its reply ends",
    "graph.mode": "storage.graph.backend chooses the engine; it keeps its data on disk if it can",
}


def load_config(
    source: Config | Mapping[str, Any] | str | os.PathLike[str] | None,
    *,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Return the configuration in ``source``: a YAML file, a mapping of the same shape, a ``Config``, or None.

    ``${NAME}`` and ``${NAME:-default}`` in texts are taken from ``environ`` (default: the process environment). A
    secret whose variable is not set stays unset. For any other setting that is a problem, and also if it leaves no
    entry in ``server.api_keys``. Relative paths are relative to the file's folder, or to the working directory without
    a file. None means defaults. Raises ``ConfigError`` with one line for each problem.
    """
    if isinstance(source, Config):
        return source
    found = read_source(source)
    variables = _environ.set(os.environ if environ is None else environ)
    try:
        config = _converter().structure(found.tree, Config)
    except BaseValidationError as error:
        raise ConfigError(found.name, tuple(_culprits(error, "", found.tree))) from None
    finally:
        _environ.reset(variables)
    _check_keys(config, found)
    config = evolve(config, base=found.base, token_budget=_fit(config.token_budget, found))
    return evolve(config, warnings=tuple(_warnings(config, found.tree)))


# -- structuring -------------------------------------------------------------------------------------------------


_environ: ContextVar[Mapping[str, str]] = ContextVar("environ")
"""The variables of the running call. The converter is created once, so its hooks read them from here."""


@cache
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)

    def section(cls: type[Any]) -> Callable[[Any, Any], Any]:
        @cache
        def reader() -> Callable[[Any, Any], Any]:
            """Build the reader of a section at its first use. Building the readers of all sections takes 15 ms."""
            hooks: dict[str, Any] = {
                attribute.name: override(omit=True)
                if attribute.name in ("base", "warnings")
                else override(struct_hook=_leaf(attribute.validator))
                if isinstance(attribute.validator, Rule)
                else override()
                for attribute in attrs.fields(cls)
            }
            return make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True, **hooks)

        def structure(value: Any, kind: Any) -> Any:
            if value is None:
                return cls()
            if cls is StoreConfig and isinstance(value, str):
                value = {"backend": value}
            if not isinstance(value, Mapping):
                raise RuleBroken(f"give a section with keys such as {next(_keys(cls))}")
            return reader()(value, kind)

        return structure

    converter.register_structure_hook_factory(attrs.has, section)

    def by_name(kind: type[Any], what: str, most: int | None = None) -> None:
        """Read a mapping of names to values of a ``kind``. ``what`` is what to give, such as "modules, such as map"."""
        thing = {ProviderConfig: "provider", StrategyConfig: "strategy"}.get(kind)
        read = converter.get_structure_hook(dict[str, kind])  # type: ignore[valid-type]

        def structure(value: Any, _: Any) -> Any:
            if value is None:
                return {}
            if not isinstance(value, Mapping):
                raise RuleBroken(f"give {what}")
            for name in value if thing else ():
                if not _PROVIDER.match(str(name)):
                    raise RuleBroken(f"name the {thing} {name!r} with letters, digits, '-' and '_' only")
            if most is not None and len(value) > most:
                raise RuleBroken(f"give at most {most} memory strategies")
            return read(value, dict[str, kind])  # type: ignore[valid-type]

        converter.register_structure_hook_func(lambda given: given == Mapping[str, kind], structure)  # type: ignore[valid-type]

    by_name(ProviderConfig, "providers by name, such as openai, each with base_url or api_key")
    by_name(StrategyConfig, "memory strategies by name, such as facts, each with its settings or nothing", _STRATEGIES)
    by_name(ModuleConfig, "modules by name, such as map, each with enabled: true")
    return converter


def _leaf(rule: Rule) -> Callable[[Any, Any], Any]:
    def read(value: Any, _: Any) -> Any:
        try:
            return rule.read(_expanded(value, rule, _environ.get()))
        except Unset as unset:
            name = unset.name
            raise RuleBroken(
                f"the environment variable {name} is not set; set it, or write ${{{name}:-default}}", hidden=rule.hidden
            ) from None
        except UnreadableFile as error:
            raise RuleBroken(str(error), hidden=rule.hidden) from None

    return read


def _expanded(value: Any, rule: Rule, environ: Mapping[str, str]) -> Any:
    if rule.secret:
        if isinstance(value, list | tuple):
            found = [_secret(entry, environ) for entry in value]
            return [
                new for old, new in zip(value, found, strict=True) if new or not isinstance(old, str) or not refers(old)
            ]
        return _secret(value, environ)
    if isinstance(value, str) and refers(value) and not rule.textual:
        return scalar(expand(value, environ))
    return expand_all(value, environ)


def _secret(value: Any, environ: Mapping[str, str]) -> Any:
    try:
        return expand(value, environ) if isinstance(value, str) else value
    except Unset:
        return None


# -- error messages ----------------------------------------------------------------------------------------------


def _culprits(error: BaseException, path: str, tree: Any) -> Iterator[str]:
    if isinstance(error, BaseValidationError):
        for cause in error.exceptions:
            step = next((note for note in getattr(cause, "__notes__", ()) if isinstance(note, _NOTES)), None)
            name = "" if step is None else step.name if isinstance(step, AttributeValidationNote) else str(step.index)
            cls = error.cl if isinstance(error, ClassValidationError) else None
            if isinstance(cause, ForbiddenExtraKeysError):
                yield from (_unknown(path, key, cls) for key in sorted(cause.extra_fields))
            else:
                yield from _culprits(cause, f"{path}.{name}" if path and name else path or name, tree)
    else:
        assert isinstance(error, RuleBroken)  # the hooks raise nothing else
        yield f"{path}: {show(_at(tree, path), hidden=error.hidden)} is not allowed; {error.remedy}"


_NOTES = (AttributeValidationNote, IterableValidationNote)


def _at(tree: Any, path: str) -> Any:
    """Return the raw value at ``path``, with ``${NAME}`` unexpanded, so that no message reveals a variable's value."""
    for name in path.split("."):
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def _keys(cls: type[Any]) -> Iterator[str]:
    return (attribute.name for attribute in attrs.fields(cls) if attribute.name not in ("base", "warnings"))


def _unknown(path: str, key: str, cls: type[Any] | None) -> str:
    here = f"{path}.{key}" if path else key
    known = list(_keys(cls)) if cls is not None else []
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    if close:
        return f"{here}: unknown key; did you mean {f'{path}.' if path else ''}{close[0]}?"
    elsewhere = _places().get(key)
    if elsewhere:
        return f"{here}: unknown key here; it belongs to {' or '.join(elsewhere)}"
    return f"{here}: unknown key; known here: {', '.join(known)}"


@cache
def _places() -> dict[str, list[str]]:
    """Return the paths of every setting name."""
    found: dict[str, list[str]] = {}

    def walk(value: Any, path: str) -> None:
        for name in _keys(type(value)):
            here = f"{path}.{name}" if path else name
            found.setdefault(name, []).append(here)
            entry = getattr(value, name)
            if attrs.has(type(entry)):
                walk(entry, here)

    walk(Config(), "")
    return found


# -- rules over several settings ---------------------------------------------------------------------------------


def _fit(budget: TokenBudget, source: ConfigSource) -> TokenBudget:
    section = source.tree.get("token_budget")
    written = set(section) if isinstance(section, Mapping) else set()
    whole = budget.dynamic_context_max
    problems = []
    fixed = whole + budget.state_block_instruction
    if fixed > budget.total_context_max:
        problems.append(
            f"token_budget.total_context_max: {budget.total_context_max} cannot hold dynamic_context_max {whole} and "
            f"state_block_instruction {budget.state_block_instruction}; give at least {fixed} or lower those"
        )
    shrunk: dict[str, Any] = {}
    for name in _INSIDE_DYNAMIC:
        ceiling = getattr(budget, name)
        if ceiling > whole and name in written:
            problems.append(
                f"token_budget.{name}: {ceiling} does not fit into dynamic_context_max {whole}; "
                f"give at most {whole} or raise token_budget.dynamic_context_max"
            )
        elif ceiling > whole:
            shrunk[name] = whole
    if problems:
        raise ConfigError(source.name, tuple(problems))
    return evolve(budget, **shrunk)


def _check_keys(config: Config, source: ConfigSource) -> None:
    """Refuse ``server.api_keys`` in which no variable is set. Otherwise the server would be open by accident."""
    server = source.tree.get("server")
    written = server.get("api_keys") if isinstance(server, Mapping) else None
    if config.server.api_keys or not written:
        return
    unset = [name for entry in written if isinstance(entry, str) for name in required(entry)]
    if unset:
        names = ", ".join(dict.fromkeys(unset))
        raise ConfigError(
            source.name, (f"server.api_keys: none of them is set ({names}); set it, or leave server.api_keys out",)
        )


def _warnings(config: Config, tree: Mapping[str, Any]) -> Iterator[str]:
    for path, instead in _REPLACED.items():
        section, name = path.split(".")
        entries = tree.get(section)
        if isinstance(entries, Mapping) and name in entries:
            yield f"{path} has no effect any more: {instead}"
    if config.models.embedding and config.recall.embedder != "openai":
        yield "models.embedding is used by recall.embedder: openai only"
    for name, provider in config.providers.items():
        key = tree["providers"][name].get("api_key") if tree["providers"][name] else None
        if isinstance(key, str) and provider.api_key is None and (unset := required(key)):
            yield f"providers.{name}.api_key: {', '.join(unset)} is not set, so the file gives it no key"
    graph = tree.get("graph")
    if isinstance(graph, Mapping) and "db_path" in graph and config.storage.graph.backend not in ("kuzu", "ladybug"):
        yield "graph.db_path is used by storage.graph.backend kuzu and ladybug only"
    if not config.md_cache.atomic_write:
        yield "md_cache.atomic_write: false has no effect: the pages are always swapped as a set"
    if config.server.api_keys and any(provider.passthrough_key for provider in config.providers.values()):
        yield "providers.*.passthrough_key has no effect while server.api_keys are set: clients show SAGA's keys then"
