"""`python -m tests.bench recall --embedder`: by name with options, or as a configuration has it."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.bench.command import bench
from tests.bench.recall.embedder_choice import embedder_config


def test_options_go_over_those_of_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "saga.yaml"
    file.write_text("recall: {embedder: onnx, options: {path: e5, threads: 2}}\n", encoding="utf-8")
    plain = embedder_config(file, None, ())
    assert (plain.recall.embedder, plain.recall.options) == ("onnx", {"path": "e5", "threads": 2})
    over = embedder_config(file, "onnx", ("threads=4", "query_prefix=Q: a=b", "baseline=0.5"))
    assert over.recall.options == {"path": "e5", "threads": 4, "query_prefix": "Q: a=b", "baseline": 0.5}
    assert over.base == tmp_path, "paths are relative to the file"
    other = embedder_config(file, "ngram", ("dimension=64",))
    assert (other.recall.embedder, other.recall.options) == ("ngram", {"dimension": 64})


@pytest.mark.parametrize("option", ["path", "=e5", ""])
def test_an_option_without_a_value(option: str) -> None:
    with pytest.raises(click.BadParameter, match="give a name and a value"):
        embedder_config(None, "onnx", (option,))


def test_the_command_takes_them(tmp_path: Path) -> None:
    said = {
        "turns": [{"id": "1", "speaker": "Ann", "text": "I found the key."}],
        "questions": [{"text": "What did Ann find?", "evidence": ["1"]}],
    }
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(said), encoding="utf-8")
    run = CliRunner().invoke(bench, ["recall", "--file", str(file), "--option", "dimension=64", "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["embedder"] == "ngram-1/64"
    run = CliRunner().invoke(bench, ["recall", "--embedder", "onnx", "--option", f"path={tmp_path}"])
    assert run.exit_code == 1 and "has no model.onnx or onnx/model.onnx" in run.output
