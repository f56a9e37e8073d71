"""docs/configuration.md says what the code does: every key, default and rule, and what has no effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest

from saga_core import registry
from saga_core.config import Config, load_config
from saga_core.config.load import _REPLACED
from saga_core.config.model import ModuleConfig, Profile, ProviderConfig, StrategyConfig
from saga_core.config.rules import Rule, RuleBroken
from saga_core.errors import BadInput, ConfigError
from saga_core.registry import OpenOptions
from tests.docs.pages import ROOT, Block, page, pages

CONFIGURATION = page("docs/configuration.md")
STORES = ("state", "graph", "vector", "cache")
KINDS = (*STORES, "embedder")
UNUSED = "Accepted, not used"

# Keys whose value is read in another way than as ``<section>.<key>``.
_READ_AS = {
    "token_budget": ("budget", "token_budget"),
    "dynamic_lorebook": ("lorebook", "config"),
    "modules.rpg": ("rpg",),
    "modules.map": ("map",),
}


# Keys that only the check of the budgets against each other reads.
_CHECKED = ("token_budget.total_context_max", "token_budget.state_block_instruction")


def settings() -> dict[str, tuple[str, str]]:
    """Every key of the configuration to its default and what it takes, as the page writes them."""
    found: dict[str, tuple[str, str]] = {}

    def walk(value: Any, path: str) -> None:
        for attribute in attrs.fields(type(value)):
            if attribute.name in ("base", "warnings", "providers", "memory_strategies", "modules"):
                continue
            here = f"{path}.{attribute.name}" if path else attribute.name
            entry = getattr(value, attribute.name)
            if attrs.has(type(entry)):
                walk(entry, here)
            else:
                plain = list(entry) if isinstance(entry, tuple) else entry
                key = re.sub(rf"^storage\.({'|'.join(STORES)})\.", "storage.<store>.", here)
                row = (f"`{json.dumps(plain)}`", takes(attribute.validator))
                assert found.setdefault(key, row) == row, f"the stores differ in {here}: the page has one row for all"

    walk(Config(), "")
    walk(ProviderConfig(), "providers.<name>")
    walk(StrategyConfig(), "memory_strategies.<name>")
    walk(ModuleConfig(), "modules.<name>")
    return found


def takes(rule: Any) -> str:
    """A rule's own words for what it allows."""
    assert isinstance(rule, Rule)
    with pytest.raises(RuleBroken) as refused:
        rule.read(object())
    return refused.value.remedy.removeprefix("give ")


def rows() -> dict[str, tuple[str, str, str]]:
    """The page's rows: key to default, takes and meaning."""
    found: dict[str, tuple[str, str, str]] = {}
    for row in CONFIGURATION.rows:
        if len(row) == 4 and re.fullmatch(r"`(?:trackers|profile|tools|plugins)`|`[a-z_]+(\.[a-z_<>]+)+`", row[0]):
            key = row[0].strip("`")
            assert key not in found, f"{key} stands twice"
            found[key] = (row[1], row[2], row[3])
    return found


def test_every_key_stands_in_the_page_with_its_default_and_its_rule() -> None:
    assert {key: row[:2] for key, row in rows().items()} == settings()


def test_every_key_is_explained() -> None:
    short = [key for key, (_, _, meaning) in rows().items() if not re.match(r"[A-Z`].{8,}\.$", meaning)]
    assert short == []


def source_files() -> Iterator[Path]:
    for package in ("saga_core", "saga_backends", "saga_server"):
        for path in (ROOT / package).rglob("*.py"):
            if "config" not in path.relative_to(ROOT).parts:
                yield path


def test_what_is_called_unused_is_read_nowhere_and_the_rest_is() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in source_files())
    all_read = set(re.findall(r"\b(\w+)\.(?=(\w+)\b)", code))
    wrong = []
    for key, (_, _, meaning) in rows().items():
        section, _, name = key.rpartition(".")
        if "<" in section or key in _CHECKED:
            continue  # stores and providers are opened by name
        holders = _READ_AS.get(section, (section.rpartition(".")[2],))
        read = any(each == name and (holder in holders or not section) for holder, each in all_read)
        if read == meaning.startswith(UNUSED):
            wrong.append(f"{key}: the code {'reads' if read else 'does not read'} it; the page says: {meaning}")
    assert wrong == []


def test_replaced_keys_are_listed_with_their_replacement() -> None:
    listed = {key for row in CONFIGURATION.rows if len(row) == 2 for key in re.findall(r"`([a-z_.]+)", row[0])}
    assert set(_REPLACED) <= listed


def test_every_replaced_key_that_is_listed_warns() -> None:
    old: dict[str, dict[str, Any]] = {
        "dynamic_lorebook": {"decay_threshold": 5},
        "session": {"auto_save": True, "auto_save_interval": 5},
        "graph": {"mode": "on-disk", "db_path": "db/graph.kuzu"},
        "md_cache": {"atomic_write": False},
    }
    warnings = " ".join(load_config(old, environ={}).warnings)
    for section, entries in old.items():
        for name in entries:
            assert f"{section}.{name}" in warnings


def yaml_blocks() -> list[Block]:
    return [block for found in pages() for block in found.blocks if block.language in ("yaml", "yml")]


@pytest.mark.parametrize("block", yaml_blocks(), ids=str)
def test_every_yaml_block_is_a_configuration_that_loads(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "saga.yaml"
    file.write_text(block.text, encoding="utf-8")
    config = load_config(file, environ={"OPENROUTER_API_KEY": "sk-test"})
    assert config != Config(), "a block that sets nothing shows nothing"
    for store in STORES:
        backend = getattr(config.storage, store).backend
        assert backend is None or backend in registry.names(store) or not block.runs
    assert config.recall.embedder in registry.names("embedder")


def test_the_message_that_is_shown_is_the_message() -> None:
    (shown,) = (block for block in CONFIGURATION.blocks if block.language == "text")
    with pytest.raises(ConfigError) as error:
        load_config({"server": {"prot": 8000}, "recall": {"top_k": 0}}, environ={})
    assert shown.text.strip() == str(error.value).replace("config: ", "saga.yaml: ", 1)


def test_the_profiles_are_those_that_can_be_opened() -> None:
    from saga_core.storage.opening import PROFILES

    table = next(row for row in CONFIGURATION.rows if row[:2] == ["store", "what it keeps"])
    assert [cell.strip("`") for cell in table[2:]] == list(PROFILES) == list(get_args(Profile))
    shown = [row for row in CONFIGURATION.rows if len(row) == len(table) and row[0] in STORES]
    assert [row[0] for row in shown] == list(STORES)
    for row in shown:
        for profile, cell in zip(PROFILES, row[2:], strict=True):
            choice = PROFILES[profile][row[0]]
            assert re.findall(r"`([^`]+)`", cell) == [choice.backend, *([choice.place] if choice.place else [])]


def test_the_included_backends_are_those_that_can_be_loaded() -> None:
    listed = {row[0]: set(re.findall(r"`([^`]+)`", row[1])) for row in CONFIGURATION.rows if row[0] in KINDS}
    for kind in KINDS:
        found = set()
        for name in registry.names(kind):
            module = next(
                point for point in entry_points(group=registry.GROUP) if point.name == f"{kind}.{name}"
            ).module
            if module.startswith("saga_backends.") and find_spec(module) is not None:
                found.add(name)
        assert listed[kind] == found, kind


def test_the_included_stores_with_an_address_are_named() -> None:
    named = re.findall(r"`([^`]+)`", rows()["storage.<store>.url"][2])
    paths = [path for path in (ROOT / "saga_backends").rglob("*.py") if path.parent.name != "resident"]
    assert {path.parent.name for path in paths if "options.url" in path.read_text(encoding="utf-8")} == {"postgres"}
    points = {point.name.partition(".")[2] for point in entry_points(group=registry.GROUP) if "postgres" in point.value}
    assert points == set(named) - {"storage.url"}


def test_the_engines_with_a_language_of_their_own_are_named() -> None:
    from saga_core.storage.opening import _ASKED_BY_OPTION

    declaring = {
        path.stem
        for path in (ROOT / "saga_backends").rglob("*.py")
        if path.parent.name != "resident" and "Capability.RAW_QUERY" in path.read_text(encoding="utf-8")
    }
    assert declaring == {"kuzu"}, "the adapter of both engines"
    meaning = rows()["graph.raw_query"][2]
    assert {name for name in registry.names("graph") if f"`{name}`" in meaning} == _ASKED_BY_OPTION


async def test_the_options_of_stores_are_those_that_they_take(tmp_path: Path) -> None:
    """The table of options against what a backend says when it is given another."""
    shown: dict[tuple[str, str], dict[str, str]] = {}
    for row in CONFIGURATION.rows:
        for found in (re.match(r"(state|graph|vector|cache) (`.+`)$", part) for part in row[0].split("; ")):
            if found is None or len(row) != 4:
                continue
            for name in re.findall(r"`([^`]+)`", found[2]):
                shown.setdefault((found[1], name), {})[row[1].strip("`")] = row[2].strip("`")
    taken = set()
    for kind in STORES:
        for name in registry.names(kind):
            module = next(p for p in entry_points(group=registry.GROUP) if p.name == f"{kind}.{name}").module
            if not module.startswith("saga_backends."):
                continue
            options = OpenOptions(path=tmp_path / kind / name, options={"no_such_option": 1})
            with pytest.raises(BadInput) as refused:
                await registry.load(kind, name).open(options)
            allowed = str(refused.value).partition("this backend takes: ")[2]
            taken.update((kind, name, each) for each in allowed.split(", ") if each != "none")
    assert {(kind, name, each) for (kind, name), options in shown.items() for each in options} == taken
