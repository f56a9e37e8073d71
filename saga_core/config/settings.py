"""The settings that hold: one place for all parts, so that other settings reach every part at once."""

from __future__ import annotations

from attrs import define

from saga_core.config.model import Config


@define
class Settings:
    """Holds the configuration. ``Saga.reconfigure`` alone replaces it."""

    config: Config
