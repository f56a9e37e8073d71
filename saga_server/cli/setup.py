"""``saga setup``: asks six questions, writes a settings file, checks it, and says how to connect the frontend."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import define

from saga_core.errors import BadInput
from saga_core.language import known, language_of
from saga_core.trackers import AUTO, PROFILES
from saga_server.cli.settings import DEFAULT_FILE, SURROUNDINGS
from saga_server.process import write_private
from saga_server.setup import (
    FRONTENDS,
    OFFLINE,
    OTHER,
    PROVIDERS,
    WORDINGS,
    Answers,
    ProviderChoice,
    Wording,
    keep_key,
    set_aside,
    settings_text,
)
from saga_server.spoken import spoken
from saga_server.terminal import say

if TYPE_CHECKING:
    from saga_core.config import Config

_NO_WORLD = "none"
_USUAL_FRONTEND, _USUAL_PROVIDER = "sillytavern", "koboldcpp"


@click.command()
@click.option("--file", type=click.Path(dir_okay=False, path_type=Path), default=DEFAULT_FILE, show_default=True,
              help="Settings file to write.")  # fmt: skip
@click.option("--frontend", type=click.Choice(list(FRONTENDS)), help="Frontend that you chat in.")
@click.option("--provider", type=click.Choice(list(PROVIDERS)), help="Provider of the model.")
@click.option("--base-url", help="Base URL of the provider, if it is not the usual one.")
@click.option("--model", help="Model; if empty, the one that you choose in the frontend.")
@click.option("--key-file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="File with the provider's key. The settings refer to it.")  # fmt: skip
@click.option("--language", type=click.Choice(list(known())), help="Language that you play in.")
@click.option("--world", help=f"The world in which chats begin: its name, or {_NO_WORLD}.")
@click.option("--profile", type=click.Choice((AUTO, *PROFILES)), help="Sort of story, which decides what is counted.")
@click.option("--talk", type=click.Choice(list(WORDINGS)), help="Language of the questions.")
@click.option("--yes", is_flag=True, help="Ask nothing, and use the proposed answers.")
@click.option("--replace", is_flag=True, help="Replace an existing settings file. A copy of it is kept.")
@click.option("--no-doctor", is_flag=True, help="Do not run saga doctor afterwards.")
def setup(
    file: Path,
    frontend: str | None,
    provider: str | None,
    base_url: str | None,
    model: str | None,
    key_file: Path | None,
    language: str | None,
    world: str | None,
    profile: str | None,
    talk: str | None,
    yes: bool,
    replace: bool,
    no_doctor: bool,
) -> None:
    """Ask six questions, write saga.yaml, check it, and say what to enter in the frontend.

    Each option answers a question. A key is not shown while you type it, and is stored in a file of its own. The
    environment variable of the provider takes precedence over that file.
    """
    words = WORDINGS[talk or spoken(tuple(WORDINGS))]
    ask = _Asking(words, yes)
    if file.exists() and not replace:
        if yes:
            raise BadInput(f"{file}: exists; give --replace to replace it, or --file for another")
        if not click.confirm(words.exists.format(file=file), default=False):
            say(words.unchanged)
            return
    if not yes:
        say(words.welcome)
    shown = FRONTENDS[ask.one(words.frontend, dict(words.frontends), frontend, _USUAL_FRONTEND)]
    chosen = PROVIDERS[ask.one(words.provider, _providers(words), provider, _usual_provider())]
    address, named = _address(ask, chosen, base_url), ""
    if chosen.name != OFFLINE:
        named = ask.text(words.model, model, "").strip()
    secret = _key(ask, chosen, key_file)
    played = ask.one(words.language, _languages(words), language, spoken(known()))
    place = ask.one(words.world, _worlds(words, played, file), world, _NO_WORLD)
    genre = ask.one(words.genre, {name: words.genres[name] for name in (AUTO, *PROFILES)}, profile, AUTO)
    reference = keep_key(secret, file, chosen.section) if secret is not None else _reference(chosen, key_file)
    answers = Answers(
        frontend=shown,
        provider=chosen,
        model=named,
        base_url=address,
        key=reference,
        world=None if place == _NO_WORLD else place,
        profile=genre,
    )
    config = _write(answers, file, words)
    if secret is not None:
        say(words.key_kept.format(place=file.absolute().with_name(f"{file.stem}.{chosen.section}.key")))
    well = no_doctor or _examine(config, words)
    option = "" if str(file) == DEFAULT_FILE else f" --config {file}"
    say("")
    if not well:
        say(words.unwell.format(option=option))
    if chosen.keyed and reference is None and not _set_here(chosen):
        say(words.key_missing.format(variable=chosen.variable))
    say(words.start.format(option=option))
    say(words.connect[shown.name].format(url=f"http://127.0.0.1:{config.server.port}"))
    say(words.any_key)
    say(words.switch_off)
    sys.exit(0 if well else SURROUNDINGS)


@define
class _Asking:
    """Asks the questions. A ``given`` answer is taken without asking, and with ``silent`` so is the ``usual`` one."""

    words: Wording
    silent: bool

    def one(self, question: str, choices: Mapping[str, str], given: str | None, usual: str) -> str:
        """Return the name of one of the ``choices``. The user types its number or its name.

        Raises ``BadInput`` when ``given`` is not one of them.
        """
        names = list(choices)
        if given is not None:
            if given not in names:
                raise BadInput(f"{given}: there is none of this name; give one of {', '.join(names)}")
            return given
        usual = usual if usual in names else names[0]
        if self.silent:
            return usual
        say(question)
        for number, name in enumerate(names, 1):
            say(f"     {number:>2}  {choices[name]}")

        def read(text: str) -> str:
            text = text.strip()
            if text in names:
                return text
            if text.isascii() and text.isdigit() and 1 <= int(text) <= len(names):
                return names[int(text) - 1]
            raise click.BadParameter(self.words.number_wrong.format(last=len(names)))

        default = str(names.index(usual) + 1)
        found: str = click.prompt(self.words.number, default=default, value_proc=read)
        return found

    def text(self, question: str, given: str | None, usual: str, *, check: Callable[[str], str] = str) -> str:
        """Return a text. Raises ``BadInput`` when ``check`` refuses the given text."""
        if given is not None:
            return check(given)
        if self.silent:
            return check(usual)

        def read(text: str) -> str:
            try:
                return check(text)
            except BadInput as error:
                wrong = self.words.address_wrong.format(text=text.strip() or '""')
                raise click.BadParameter(wrong) from error

        found: str = click.prompt(question, default=usual, show_default=bool(usual), value_proc=read)
        return found

    def secret(self, question: str) -> str | None:
        """Ask for a text without showing it. Returns None for an empty one."""
        if self.silent:
            return None
        found: str = click.prompt(question, default="", show_default=False, hide_input=sys.stdin.isatty())
        return found.strip() or None


def _providers(words: Wording) -> dict[str, str]:
    own = {OTHER: words.other_provider, OFFLINE: words.offline}
    return {name: own.get(name, choice.title) for name, choice in PROVIDERS.items()}


def _usual_provider() -> str:
    """Return the first provider whose key is in the environment, or else a server on this machine."""
    return next((name for name, choice in PROVIDERS.items() if _set_here(choice)), _USUAL_PROVIDER)


def _set_here(choice: ProviderChoice) -> bool:
    return choice.variable is not None and bool(os.environ.get(choice.variable))


def _address(ask: _Asking, chosen: ProviderChoice, given: str | None) -> str | None:
    if chosen.base_url is None:
        return given
    return ask.text(ask.words.address, given, chosen.base_url, check=_checked_address)


def _checked_address(text: str) -> str:
    from saga_core.config import load_config

    address = text.strip()
    if not address:
        raise BadInput("--base-url: this provider's address is not known; give it, such as http://127.0.0.1:5001/v1")
    if re.match(r"[\w.-]+:\d+(/|$)", address):
        address = f"http://{address}"  # users often leave out the scheme of a local server
    load_config({"providers": {"other": {"base_url": address}}}, environ={})
    return address


def _key(ask: _Asking, chosen: ProviderChoice, key_file: Path | None) -> str | None:
    """Ask for the key. Returns None when the key comes from elsewhere or is not needed."""
    if not chosen.keyed or key_file is not None:
        if not ask.silent and key_file is None:
            say(ask.words.key_none)
        return None
    if _set_here(chosen):
        if not ask.silent:
            say(ask.words.key_found.format(variable=chosen.variable))
        return None
    variable = chosen.variable or "SAGA_PROVIDER_KEY"
    return ask.secret(ask.words.key.format(title=chosen.title or chosen.name, variable=variable))


def _reference(chosen: ProviderChoice, key_file: Path | None) -> str | None:
    if key_file is not None:
        return f"${{file:{key_file.absolute().as_posix()}}}"
    if chosen.keyed and chosen.variable is None:
        return "${SAGA_PROVIDER_KEY}"
    return None


def _languages(words: Wording) -> dict[str, str]:
    """Return the known languages, those without a name in the wording by their English name."""
    return {**words.languages, **{tag: language_of(tag).texts.name for tag in known() if tag not in words.languages}}


def _worlds(words: Wording, language: str, file: Path) -> dict[str, str]:
    """Return the worlds that can be read, with those in ``language`` first."""
    from saga_core.language import primary
    from saga_core.world import WorldLibrary, default_roots

    library = WorldLibrary(default_roots(file.absolute().parent))
    broken = library.broken()
    found = {name: primary(library.get(name).language) for name in library.names() if name not in broken}
    ordered = sorted(found, key=lambda name: (found[name] != language, name))
    named = _languages(words)
    return {_NO_WORLD: words.no_world} | {name: f"{name} ({named[found[name]]})" for name in ordered}


def _write(answers: Answers, file: Path, words: Wording) -> Config:
    """Write the settings, and load them as the server will. An existing file is renamed and kept."""
    from saga_core.config import load_config

    text = settings_text(answers)
    if file.exists():
        say(words.set_aside.format(old=set_aside(file)))
    file.parent.mkdir(parents=True, exist_ok=True)
    write_private(file, text)
    say(words.written.format(file=file))
    return load_config(file)


def _examine(config: Config, words: Wording) -> bool:
    from saga_server.doctor import examine
    from saga_server.process import log_errors_only

    say("")
    say(words.examined)
    log_errors_only(config)
    return asyncio.run(examine(config, say))
