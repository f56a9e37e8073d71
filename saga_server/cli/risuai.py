"""``saga risuai``: writes SAGA's panel for RisuAI, as one file that RisuAI imports as a plugin."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from saga_server.cli.settings import Place, settings
from saga_server.terminal import say

_WEB = Path(__file__).parents[1] / "web"
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
    plugin.write_text(as_plugin(place.config().server.port), encoding="utf-8")
    say(f"{plugin} is written. In RisuAI, open Settings > Plugins, import it, and open SAGA in the menu.")


def as_plugin(port: int) -> str:
    """Return the plugin for a SAGA at ``port`` of this machine."""
    style = "".join((_WEB / name).read_text(encoding="utf-8") for name in ("sillytavern/style.css", "risuai/style.css"))
    own = f"const SAGA = {json.dumps(f'http://127.0.0.1:{port}')};\nconst STYLE = {json.dumps(style)};\n"
    parts = ("sillytavern/words.js", "sillytavern/panel.js", "risuai/plugin.js")
    return _HEAD + own + "".join(_OF_MODULES.sub("", (_WEB / name).read_text(encoding="utf-8")) for name in parts)
