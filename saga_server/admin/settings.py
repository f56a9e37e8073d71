"""The settings that players change: shown with what they take, and written into the settings file line by line."""

from __future__ import annotations

import asyncio
import difflib
import os
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import attrs
import yaml
from aiohttp import web

from saga_core.config import Config, Flag, Number, OneOf, Rule, RuleBroken, Whole, load_config, read_source
from saga_core.errors import BadInput, ConfigError, NotSupported
from saga_server.admin import answers
from saga_server.admin.mounting import to_its_end
from saga_server.admin.parameters import SETTINGS, ChangedSettings, MaybeBodyText, YesOrNo
from saga_server.http import RELOADING
from saga_server.process import Reloading, Scalar, applies_at_once, changed_text, write_private

_PRICES: Final = ("input", "output")


async def show_settings(request: web.Request) -> answers.Settings:
    """List the settings that players change, as the file has them, with what they take and when they apply."""
    reloading = request.app[RELOADING]
    if reloading.read is None:
        return answers.Settings(None, False, _rows(reloading.holding()))
    config = await asyncio.to_thread(reloading.read)
    file = reloading.file
    return answers.Settings(str(file) if file else None, file is not None and _is_writable(file), _rows(config))


async def change_settings(
    request: web.Request,
    fields: ChangedSettings,
    price_model: MaybeBodyText = None,
    price_input: MaybeBodyText = None,
    price_output: MaybeBodyText = None,
    dry_run: YesOrNo = False,
) -> answers.SettingsChanged:
    """Change settings in the file and reload them. A dry run only checks them and shows the lines that would change."""
    reloading = request.app[RELOADING]
    for name, text in (*fields.items(), ("price_model", price_model or "")):
        if "${" in text:  # it would be replaced by a secret, a file or a variable of this machine
            raise BadInput(f"{name}: {text[:80]!r} has a reference; references are written in the settings file alone")
    changes = {tuple(name.split(".")): _value(name, text) for name, text in fields.items()}
    if price_model:
        prices = zip(_PRICES, (price_input, price_output), strict=True)
        changes |= {("models", "facts", price_model, name): _price(name, text) for name, text in prices}
    return await to_its_end(request, _changed(reloading, changes, dry_run=dry_run))


async def _changed(
    reloading: Reloading, changes: Mapping[tuple[str, ...], Scalar], *, dry_run: bool
) -> answers.SettingsChanged:
    if reloading.read is None or reloading.file is None:
        raise NotSupported("the settings of this server come from a program; change them there")
    async with reloading.changing:
        return await _written(reloading, reloading.file.resolve(), changes, dry_run=dry_run)


async def _written(
    reloading: Reloading, file: Path, changes: Mapping[tuple[str, ...], Scalar], *, dry_run: bool
) -> answers.SettingsChanged:
    before = await asyncio.to_thread(_text_of, file)
    after = changed_text(before, changes)
    try:
        await asyncio.to_thread(_check, after)
    except ConfigError as error:
        raise BadInput(f"nothing was changed; {'; '.join(error.problems)}") from None
    names = [".".join(path[:2]) for path in changes]
    restart = tuple(dict.fromkeys(name for name in names if not applies_at_once(name)))
    diff = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0))[2:]
    lines = [line for line in diff if not line.startswith("@@")]
    if dry_run or not lines:
        return answers.SettingsChanged(str(file), lines, (), restart if lines else ())
    await asyncio.to_thread(_write, file, after)
    found = await reloading.reload()
    return answers.SettingsChanged(str(file), lines, found.applied, found.restart)


def _rows(config: Config) -> list[dict[str, Any]]:
    return [_row(config, name) for name in sorted(SETTINGS)]


def _row(config: Config, name: str) -> dict[str, Any]:
    rule, default = _rule(name)
    kinds: dict[type, str] = {Flag: "flag", Whole: "whole", Number: "number", OneOf: "choice"}
    return {
        "name": name,
        "kind": kinds.get(type(rule), "text"),
        "choices": list(rule.of) if isinstance(rule, OneOf) else [],
        "least": rule.least if isinstance(rule, Whole) else None,
        "value": attrgetter(name)(config),
        "default": default,
        "at_once": applies_at_once(name),
    }


def _rule(name: str) -> tuple[Rule | None, Any]:
    """The rule and the default of a setting."""
    above, _, last = name.rpartition(".")
    holder = attrgetter(above)(Config()) if above else Config()
    found = attrs.fields_dict(type(holder))[last].validator
    return found if isinstance(found, Rule) else None, getattr(holder, last)


def _value(name: str, text: str) -> Scalar:
    """The value that a text gives; None, so that the default holds, for an empty one. Raises ``BadInput``."""
    rule, _ = _rule(name)
    plain: Scalar = text.strip() or None
    if plain is None:
        return None
    if isinstance(rule, Flag):
        plain = {"true": True, "false": False}.get(text, text)
    elif isinstance(rule, Whole | Number):
        plain = _number(name, text)
    if rule is not None:
        try:
            rule.read(plain)
        except RuleBroken as error:
            raise BadInput(f"{name}: {text[:80]!r} does not fit; {error.remedy}") from None
    return plain


def _number(name: str, text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{name}: {text[:80]!r} is no number") from None


def _price(name: str, text: str | None) -> Scalar:
    price = _number(name, (text or "").strip())
    if not 0 <= price <= 1_000_000:
        raise BadInput(f"price_{name}: {price!r} is no price; give US dollars for a million tokens, 0 or more")
    return price


def _text_of(file: Path) -> str:
    """Return the text of the file, which may be missing. Raises ``ConfigError`` if it is not valid YAML."""
    if not file.exists():
        return ""
    read_source(file)
    return file.read_text(encoding="utf-8-sig")


def _check(text: str) -> None:
    load_config(yaml.safe_load(text) or {})


def _is_writable(file: Path) -> bool:
    return os.access(file if file.exists() else file.parent, os.W_OK)


def _write(file: Path, text: str) -> None:
    try:
        write_private(file, text, keep_form=True)
    except OSError as error:
        raise NotSupported(f"{file} cannot be written ({error.strerror}); check its permissions") from error
