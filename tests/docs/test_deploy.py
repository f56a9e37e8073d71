"""docs/deploy: the commands, options and paths in it exist, and its settings load."""

from __future__ import annotations

import json
import re
import shlex
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from saga_core.config import load_config
from saga_core.config.model import ServerConfig
from saga_server.cli.saga_command import main
from saga_server.cli.settings import USAGE
from saga_server.hosting.joint_metrics import UP
from saga_server.http.exchange import COMMIT_SECONDS
from saga_server.process.event_loop import LoopWatch
from saga_server.process.listening import check_listening
from saga_server.process.metrics import LoopMetrics, Metrics
from saga_server.server import CLOSING_SECONDS, LONGEST_CLOSING
from tests.docs.pages import ROOT, page

DEPLOY = ROOT / "docs" / "deploy"
LONGEST = ServerConfig().drain_timeout + COMMIT_SECONDS + LONGEST_CLOSING


def check_command(words: list[str]) -> click.Command:
    """The command of SAGA that ``words`` name, with options that it has."""
    command: click.Command = main
    context = click.Context(main)
    rest = words[1:]
    while rest and isinstance(command, click.Group) and not rest[0].startswith("-"):
        found = command.get_command(context, rest[0])
        assert found is not None, words
        command, rest = found, rest[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= known, words
    return command


def docker() -> list[tuple[str, str]]:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def unit() -> ConfigParser:
    found = ConfigParser(interpolation=None, strict=False)
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read(DEPLOY / "saga.service", encoding="utf-8")
    return found


def test_the_unit_starts_what_there_is() -> None:
    service = unit()["Service"]
    words = shlex.split(service["ExecStart"])
    assert words[0].endswith("/bin/saga")
    assert check_command(words).name == "serve"
    assert service["KillSignal"] == "SIGTERM"
    assert service["ExecReload"].split()[1:] == ["-HUP", "$MAINPID"]
    assert float(service["TimeoutStopSec"]) > LONGEST
    assert service["NoNewPrivileges"] == "true"


def test_the_unit_is_told_when_turns_are_taken() -> None:
    service = unit()["Service"]
    assert service["Type"] == "notify"
    assert service["RestartPreventExitStatus"] == str(USAGE), "settings that are wrong stay wrong"


def test_the_page_says_how_long_stopping_takes() -> None:
    prose = " ".join(page("docs/operate.md").prose.split())
    more = COMMIT_SECONDS + LONGEST_CLOSING
    assert f"within `server.drain_timeout` ({ServerConfig().drain_timeout:g} seconds)" in prose
    assert f"takes {more:g} seconds longer at most" in prose
    assert f"{COMMIT_SECONDS:g} for recording" in prose
    assert f"{CLOSING_SECONDS:g} each" in prose


def test_the_unit_can_write_where_its_settings_put_the_data() -> None:
    service = unit()["Service"]
    config = load_config(DEPLOY / "saga.yaml", environ={"SAGA_KEY": "k" * 16})
    assert str(config.data_dir).startswith(service["ReadWritePaths"] + "/")


def test_the_command_is_that_of_the_unit() -> None:
    text = (DEPLOY / "saga-command").read_text(encoding="utf-8")
    service = unit()["Service"]
    words = shlex.split(service["ExecStart"])
    assert f'exec runuser -u {service["User"]} -- {words[0]} "$@"' in text
    assert words[words.index("--config") + 1] in text
    assert service["EnvironmentFile"].removeprefix("-") in text
    assert f"cd {service['WorkingDirectory']}\n" in text
    assert f"umask {service['UMask'][1:]}\n" in text, "what commands write is for nobody else either"


def test_the_settings_have_a_key() -> None:
    config = load_config(DEPLOY / "saga.yaml", environ={"SAGA_KEY": "k" * 16})
    assert config.server.api_keys == ("k" * 16,)
    check_listening(ServerConfig(host="0.0.0.0", api_keys=config.server.api_keys))


def test_the_image_is_built_from_what_there_is() -> None:
    for word, rest in docker():
        if word == "COPY":
            *sources, _ = rest.split()
            for source in sources:
                assert (ROOT / source).exists(), source
    needed = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file() and path.name != "tests"}
    copied = {name for word, rest in docker() if word == "COPY" for name in rest.split()}
    assert needed | {"worlds", "constraints.txt", "pyproject.toml"} <= copied


def test_the_image_starts_what_there_is() -> None:
    found = dict(docker())
    words: list[str] = yaml.safe_load(found["CMD"])
    assert check_command(words).name == "serve"
    assert words[words.index("--host") + 1] == "0.0.0.0"
    assert words[words.index("--port") + 1] == found["EXPOSE"] == str(ServerConfig().port)
    assert found["USER"] == "saga"
    assert "/readyz" in found["HEALTHCHECK"]


def test_the_composition() -> None:
    tree: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    saga = tree["services"]["saga"]
    assert (DEPLOY / saga["build"]["context"] / saga["build"]["dockerfile"]).is_file()
    assert saga["ports"] == [f"127.0.0.1:{ServerConfig().port}:{ServerConfig().port}"]
    assert int(saga["stop_grace_period"].removesuffix("s")) > LONGEST
    mounted = dict(volume.split(":")[:2] for volume in saga["volumes"])
    assert (DEPLOY / "saga.yaml").is_file() and mounted["./saga.yaml"] == saga["environment"]["SAGA_CONFIG"]
    assert mounted["saga-data"] == dict(docker())["VOLUME"]
    names = set(re.findall(r"\$\{(\w+)", (DEPLOY / "saga.yaml").read_text(encoding="utf-8")))
    assert names <= set(saga["environment"])


@pytest.mark.parametrize("name", ["operate", "threat-model"])
def test_the_pages_name_commands_that_exist(name: str) -> None:
    found = page(f"docs/{name}.md")
    lines = [line for block in found.blocks if block.language == "sh" for line in block.text.splitlines()]
    lines += [code for code in found.code if code.startswith("saga ")]
    for line in lines:
        if line.strip().startswith("saga "):
            check_command(shlex.split(line, comments=True))


def metric_names() -> set[str]:
    """Every name that ``/metrics`` has, as a query writes it."""
    metrics = Metrics()
    metrics.registry.register(LoopMetrics(LoopWatch()))
    found = set()
    for line in metrics.render({}).decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            ends = ("_bucket", "_count", "_sum") if kind == "histogram" else ("",)
            found |= {name + end for end in ends if not name.endswith("_created")}
    return found


def plain(names: set[str]) -> set[str]:
    return {re.sub("_(bucket|count|sum)$", "", name) for name in names}


def test_the_dashboard_names_all_metrics_and_no_other() -> None:
    panels = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    named = {name for each in expressions for name in re.findall(r"\bsaga_\w+", each)}
    assert named <= metric_names()
    assert plain(named) == plain(metric_names())
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len(places)


def test_the_metrics_to_watch_are_there() -> None:
    rows = [row[0] for row in page("docs/operate.md").rows if row[0].startswith("`saga_")]
    watched = {name for each in rows for name in re.findall(r"\bsaga_\w+", each)}
    assert watched
    assert watched <= plain(metric_names()) | {UP}


def pins(file: Path) -> dict[str, str]:
    """Names, as registries compare them, to versions."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^ ;\n]+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_every_pinned_version_has_hashes_and_the_image_installs_by_them() -> None:
    pinned, hashed, image = (
        pins(ROOT / name) for name in ("constraints.txt", "hashes.txt", "docs/deploy/requirements.txt")
    )
    assert hashed == pinned, "make hashes.txt anew: docs/dependencies.md says how"
    assert {name: version for name, version in image.items() if pinned.get(name, version) != version} == {}
    for name in ("hashes.txt", "docs/deploy/requirements.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        entries = re.split(r"\n(?=[A-Za-z0-9])", text)
        assert all("--hash=sha256:" in entry for entry in entries) and "://" not in text
    installs = [rest for word, rest in docker() if word == "RUN" and "pip install" in rest]
    assert "--require-hashes -r requirements.txt" in installs[0]
    assert "--no-deps --no-build-isolation" in installs[1]
