"""What the doctor says of models that are named in the settings."""

from __future__ import annotations

import pytest

from saga_core.config import load_config
from saga_server.cli.doctor import examine
from tests.server.upstream import Upstream


@pytest.mark.parametrize(("listed", "told"), [(["tale-7b", "small-1b"], False), (["tale-7b"], True), ([], False)])
async def test_a_model_that_its_provider_does_not_list(upstream: Upstream, listed: list[str], told: bool) -> None:
    upstream.models = listed
    config = load_config(
        {
            "storage": {"profile": "memory"},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up"}},
            "models": {"narration": "openai/tale-7b", "fallback": ["small-1b"]},
        },
        environ={},
    )
    said: list[str] = []
    assert await examine(config, said.append), "some answer under names that they do not list"
    assert any("does not list 'small-1b'" in line for line in said) == told
    assert not any("'tale-7b'" in line for line in said)
