"""``saga keys`` and ``saga audit``: manage the API keys of a server, and list who did what."""

from __future__ import annotations

import json
from typing import Any

import click

from saga_core.values import date_of
from saga_server.cli.data.data_access import Asking, as_json, reached, segment
from saga_server.cli.settings import Place, server_settings
from saga_server.terminal import counted, say, say_json


@click.group(invoke_without_command=True)
@server_settings
@as_json
@click.pass_context
def keys(context: click.Context, place: Place, plain: bool) -> None:
    """List, create, change, rotate and revoke the keys of a server.

    The keys in server.api_keys and server.chat_keys belong to the settings and are not listed.
    """
    if context.invoked_subcommand is not None:
        return
    found = reached(place, Asking("GET", "/api/keys", {"fresh": "1"}))
    if plain:
        say_json(found)
        return
    for each in found["keys"]:
        _tell(each)
    say(counted(len(found["keys"]), "key"))


def _quotas(command: Any) -> Any:
    """Add the options that set the quotas of a key."""
    for name, kind, text in reversed(
        (
            ("--turns-a-minute", click.IntRange(0), "Turns a minute."),
            ("--tokens-a-day", click.IntRange(0), "Tokens a day, of prompts and replies together."),
            ("--dollars-a-day", click.FloatRange(0), "US dollars a day."),
            ("--sessions", click.IntRange(0), "Sessions."),
            ("--bytes", click.IntRange(0), "Bytes of the journal."),
        )
    ):
        command = click.option(name, type=kind, help=f"{text} 0: no limit.")(command)
    return command


def _given(quotas: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in quotas.items() if value is not None}


@keys.command("create")
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["chat", "player", "admin"]),
    default="player",
    show_default=True,
    help="chat may play; player may also manage their own sessions; admin may do everything.",
)
@click.option("--owner", help="An existing owner, by the fingerprint in saga sessions --json.")
@_quotas
@server_settings
@as_json
def create(place: Place, name: str, role: str, owner: str | None, plain: bool, **quotas: Any) -> None:
    """Create a key for NAME and show it. It is shown only this once, because only its hash is stored."""
    given = _given(quotas)
    body = {"name": name, "role": role, **({"owner": owner} if owner else {}), **given}
    _show_secret(reached(place, Asking("POST", "/api/keys", body=json.dumps(body).encode())), plain)


@keys.command("show")
@click.argument("key")
@server_settings
@as_json
def show(place: Place, key: str, plain: bool) -> None:
    """Show what the key with the id KEY is allowed to use, and what it used today."""
    found = reached(place, Asking("GET", f"/api/keys/{segment(key)}"))
    say_json(found) if plain else _tell(found)


@keys.command("change")
@click.argument("key")
@click.option("--name", help="New name.")
@_quotas
@server_settings
@as_json
def change(place: Place, key: str, name: str | None, plain: bool, **quotas: Any) -> None:
    """Change the name or the quotas of the key with the id KEY. Options that are not given keep their values."""
    given = _given(quotas)
    body = {**({"name": name} if name else {}), **given}
    found = reached(place, Asking("POST", f"/api/keys/{segment(key)}", body=json.dumps(body).encode()))
    say_json(found) if plain else _tell(found)


@keys.command("rotate")
@click.argument("key")
@click.option(
    "--grace", type=click.FloatRange(0, 2_592_000), default=0.0, help="Seconds for which the old key stays valid."
)
@server_settings
@as_json
def rotate(place: Place, key: str, grace: float, plain: bool) -> None:
    """Create a new key for the owner of the key with the id KEY, and show it."""
    asking = Asking("POST", f"/api/keys/{segment(key)}/rotate", {"grace": f"{grace:g}"})
    _show_secret(reached(place, asking), plain)


@keys.command("revoke")
@click.argument("key")
@server_settings
@as_json
def revoke(place: Place, key: str, plain: bool) -> None:
    """Revoke the key with the id KEY. The sessions of its owner stay."""
    found = reached(place, Asking("DELETE", f"/api/keys/{segment(key)}"))
    say_json(found) if plain else say(f"revoked: {found['id']} ({found['name']}); its sessions stay")


@click.command()
@click.option(
    "--limit", type=click.IntRange(1, 1_000), default=100, show_default=True, help="Number of entries, latest first."
)
@click.option("--key", help="Only actions of this key, by its id or its owner's fingerprint.")
@click.option("--session", help="Only actions on this session, by its id.")
@server_settings
@as_json
def audit(place: Place, limit: int, key: str | None, session: str | None, plain: bool) -> None:
    """Show who read and changed what, latest first. The log contains nothing of any story."""
    asking = Asking("GET", "/api/audit", {"limit": str(limit), "key": key, "session": session})
    found = reached(place, asking)
    if plain:
        say_json(found)
        return
    for each in found["entries"]:
        who = each["key"] or each["owner"] or "-"
        times = f" x{each['times']}" if each["times"] > 1 else ""
        about = " ".join(part for part in (each["session"], each["turn"]) if part)
        say(f"{_when(each['at'])}  {each['status']}  {who}  {each['source'] or '-'}  {each['what']}{times}  {about}")
    say(counted(len(found["entries"]), "entry", "entries"))


def _show_secret(found: dict[str, Any], plain: bool) -> None:
    if plain:
        say_json(found)
        return
    say(f"{found['secret']}\n")
    say(f"the {found['role']} key {found['id']} of {found['name']}; it is shown this once, and kept as a hash")


def _tell(each: dict[str, Any]) -> None:
    state = f"  revoked {_when(each['revoked'])}" if each["revoked"] else ""
    say(f"{each['id']}  {each['prefix']}…  {each['role']}  {each['name']}  owner {each['owner']}{state}")
    use, quotas = each["use"], each["quotas"]
    shown = (
        ("turns this minute", use["turns_in_minute"], quotas["turns_a_minute"], "{:,}"),
        ("tokens today", use["tokens"], quotas["tokens_a_day"], "{:,}"),
        ("dollars today", use["dollars"], quotas["dollars_a_day"], "{:,.2f}"),
        ("sessions", use["sessions"], quotas["sessions"], "{:,}"),
        ("bytes", use["bytes"], quotas["bytes"], "{:,}"),
    )
    parts = []
    for name, used, most, form in shown:
        of = f" of {form.format(most)}" if most else ""
        parts.append(f"{name} {'?' if used is None else form.format(used)}{of}")
    say(f"    {', '.join(parts)}; turns today {use['turns']:,}")


def _when(seconds: float) -> str:
    return date_of(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")
