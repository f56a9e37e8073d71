"""The current settings, shared by all parts, so that changes reach every part at once."""

from __future__ import annotations

from attrs import define

from saga_core.config.model import Config


@define
class Settings:
    """Holds the configuration. Only ``Saga.reconfigure`` replaces it."""

    config: Config
