"""The settings that hold are in one place, so that other settings reach every part at once."""

from __future__ import annotations

from saga_core.config import Settings, load_config


def test_who_holds_the_settings_sees_others_at_once() -> None:
    settings = Settings(load_config({}))
    holders = [settings, settings]
    settings.config = load_config({"server": {"port": 9_001}})
    assert [each.config.server.port for each in holders] == [9_001, 9_001]
