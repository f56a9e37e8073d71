"""``saga sillytavern`` and ``saga risuai``: SAGA's panel in a frontend."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import click
import yaml

from saga_core.config import BrowserOrigins, RuleBroken
from saga_core.errors import BadInput, ConfigError
from saga_server.cli.settings import DEFAULT_FILE, Place, settings
from saga_server.process import changed_text, write_private
from saga_server.terminal import say

_WEB = Path(__file__).parents[1] / "web"
_PLACE = Path("public", "scripts", "extensions", "third-party", "saga")
"""Where SillyTavern finds extensions of all its users."""
_MARK = "installed.json"
"""A file that every installed panel has. It says where SAGA is."""
_ADDRESS = "http://127.0.0.1:8000"
"""Where SillyTavern is unless it was configured otherwise."""


@click.group()
def sillytavern() -> None:
    """Put SAGA's panel into SillyTavern's extensions drawer, or take it out."""


@sillytavern.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--address",
    default=_ADDRESS,
    show_default=True,
    help="The address at which you open SillyTavern. Its pages may then read and correct the memory.",
)
@settings
def install(folder: Path, address: str, place: Place) -> None:
    """Copy the panel into the SillyTavern in FOLDER, and allow its pages to use the API."""
    config = place.config()
    origin = _origin(address)
    panel = _inside(folder)
    if panel.exists():
        shutil.rmtree(panel)
    shutil.copytree(_WEB / "sillytavern", panel)
    own = {"address": f"http://127.0.0.1:{config.server.port}"}
    (panel / _MARK).write_text(json.dumps(own), encoding="utf-8")
    say(f"The panel is in {panel}. Reload SillyTavern's page; the panel is in its extensions drawer.")
    if origin not in config.server.origins:
        _allow(place.file or Path(DEFAULT_FILE), origin)
    say(f"`saga sillytavern remove {folder}` takes it out again. Without it, everything works as before.")


@sillytavern.command()
@click.argument("folder", type=click.Path(path_type=Path))
def remove(folder: Path) -> None:
    """Take the panel out of the SillyTavern in FOLDER. Memory and chats stay as they are."""
    panel = _inside(folder)
    if not panel.exists():
        raise BadInput(f"FOLDER: there is no panel in {folder}")
    shutil.rmtree(panel)
    say(f"{panel} is gone. server.origins in your settings still names SillyTavern; delete it there if you like.")


def _inside(folder: Path) -> Path:
    """Return the folder of the panel. Raises ``BadInput`` for one without a SillyTavern, or with another extension."""
    if not (folder / "public" / "scripts" / "extensions").is_dir():
        raise BadInput(f"FOLDER: {folder} has no SillyTavern; give the folder with its server.js and public/scripts")
    panel = folder.absolute() / _PLACE
    if panel.is_symlink() or (panel.exists() and not (panel / _MARK).is_file()):
        raise BadInput(f"FOLDER: {panel} was not written by SAGA; move it away first")
    return panel


def _origin(address: str) -> str:
    try:
        found = urlsplit(address)
        if found.scheme in ("http", "https") and found.hostname and not (found.path.strip("/") or found.query):
            [origin] = BrowserOrigins().read([f"{found.scheme}://{found.netloc}"])
            return str(origin)
    except (ValueError, RuleBroken):
        pass
    raise BadInput(f"--address: {address!r} is no address of a server; give one such as {_ADDRESS}")


def _allow(file: Path, origin: str) -> None:
    """Add ``origin`` to ``server.origins`` in the settings, or say how where the file is written in another way."""
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    new = with_origin(old, origin)
    if new is None:
        say(f"Add this to {file}, and then POST /api/reload or start SAGA again:")
        say(f'server:\n  origins: ["{origin}"]')
        return
    write_private(file, new, keep_form=True)
    say(f"{file} names {origin} in server.origins. Start SAGA again, so that it counts.")


def with_origin(text: str, origin: str) -> str | None:
    """Return settings in YAML with one more origin. None if they are written so that a person should do it."""
    try:
        server = (yaml.safe_load(text) or {}).get("server") or {}
        return changed_text(text, {("server", "origins"): [origin, *server.get("origins", [])]})
    except (ConfigError, yaml.YAMLError, AttributeError, TypeError):
        return None


# -- RisuAI ----------------------------------------------------------------------------------------------------

_HEAD = """//@name saga
//@display-name SAGA
//@api 3.0
//@version 1.0.0
//@arg on int 1: tell SAGA which chat this is, and show its memory
//@arg address string SAGA's address
//@arg key string SAGA's key, if it wants one
"""
_OF_MODULES = re.compile(r"^(?:import .*\n|export )", re.MULTILINE)


@click.command()
@click.argument("plugin", type=click.Path(path_type=Path, dir_okay=False))
@settings
def risuai(plugin: Path, place: Place) -> None:
    """Write SAGA's panel for RisuAI to PLUGIN, a file that ends in .js."""
    if plugin.is_file() and not plugin.read_bytes().startswith(_HEAD.partition("\n")[0].encode()):
        raise BadInput(f"PLUGIN: {plugin} was not written by SAGA; give another file")
    plugin.write_text(as_plugin(place.config().server.port), encoding="utf-8")
    say(f"{plugin} is written. In RisuAI, open Settings > Plugins, import it, and open SAGA in the menu.")


def as_plugin(port: int) -> str:
    """Return the plugin for a SAGA at ``port`` of this machine."""
    style = "".join((_WEB / name).read_text(encoding="utf-8") for name in ("sillytavern/style.css", "risuai/style.css"))
    own = f"const SAGA = {json.dumps(f'http://127.0.0.1:{port}')};\nconst STYLE = {json.dumps(style)};\n"
    parts = ("sillytavern/words.js", "sillytavern/panel.js", "risuai/plugin.js")
    return _HEAD + own + "".join(_OF_MODULES.sub("", (_WEB / name).read_text(encoding="utf-8")) for name in parts)
