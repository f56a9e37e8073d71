"""docs/deploy/scale: its pieces fit each other, and its settings load."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from saga_core.config import Config, load_config
from saga_core.config.model import ServerConfig
from saga_server.process.listening import check_listening
from tests.docs.pages import ROOT
from tests.docs.test_deploy import DEPLOY, LONGEST, docker, pins

SCALE = DEPLOY / "scale"
PORT = ServerConfig().port


@pytest.fixture
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((SCALE / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return found


def settings() -> Config:
    return load_config(SCALE / "saga.yaml", environ={"SAGA_KEY": "k" * 16, "SAGA_DB_PASSWORD": "secret"})


def servers(services: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in services.items() if name.startswith("saga-")}


def test_there_are_three_servers_that_drain_and_reach_each_other(services: dict[str, Any]) -> None:
    found = servers(services)
    assert len(found) == 3
    for name, saga in found.items():
        assert saga["hostname"] == name, "what the others are told to reach it by"
        assert int(saga["stop_grace_period"].removesuffix("s")) > LONGEST
        assert (SCALE / saga["build"]["context"] / saga["build"]["dockerfile"]).is_file()
        assert (DEPLOY / saga["build"]["args"]["MORE"]).is_file()
        assert saga["depends_on"]["database"]["condition"] == "service_healthy"
        mounted = dict(volume.split(":")[:2] for volume in saga["volumes"])
        assert mounted["./saga.yaml"] == saga["environment"]["SAGA_CONFIG"]
        assert mounted[name] == dict(docker())["VOLUME"], "each has a folder of its own"
    names = set(re.findall(r"\$\{(\w+)", (SCALE / "saga.yaml").read_text(encoding="utf-8")))
    assert all(names <= set(saga["environment"]) for saga in found.values())


def test_the_settings_lead_to_the_database(services: dict[str, Any]) -> None:
    config, database = settings(), services["database"]
    check_listening(ServerConfig(host="0.0.0.0", api_keys=config.server.api_keys))
    assert config.storage.profile == "scale"
    user, name = (database["environment"][f"POSTGRES_{each}"] for each in ("USER", "DB"))
    assert config.storage.url == f"postgresql://{user}:secret@database:5432/{name}"
    assert {"-U", user, "-d", name} <= set(database["healthcheck"]["test"])
    assert "SAGA_DB_PASSWORD" in database["environment"]["POSTGRES_PASSWORD"]


def test_the_balancer_knows_all_servers_and_their_health(services: dict[str, Any]) -> None:
    text = (SCALE / "Caddyfile").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "reverse_proxy" in line)
    assert line.split()[1:-1] == [f"{name}:{PORT}" for name in servers(services)]
    assert set(services["balancer"]["depends_on"]) == set(servers(services))
    assert services["balancer"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"] and f":{PORT} {{" in text
    assert "health_uri /readyz\n" in text
    assert "flush_interval -1\n" in text, "streams are passed on as they come"
    assert text.count("{") == text.count("}")


def test_the_image_gets_the_driver_by_its_hashes() -> None:
    found = pins(DEPLOY / "requirements-scale.txt")
    pinned = pins(ROOT / "constraints.txt")
    assert found == {name: pinned[name] for name in ("psycopg", "psycopg-binary", "psycopg-pool")}
    text, hashed = ((ROOT / each).read_text(encoding="utf-8") for each in
                    ("docs/deploy/requirements-scale.txt", "hashes.txt"))  # fmt: skip
    assert text in hashed or all(entry.strip() in hashed for entry in re.split(r"\n(?=[a-z])", text))
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {re.split(r"[\[>]", each)[0] for each in wanted["postgres"]} <= found.keys()
    (install,) = [rest for word, rest in docker() if word == "RUN" and "--require-hashes" in rest]
    assert "${MORE:+-r $MORE}" in install and ("ARG", "MORE=") in docker()
