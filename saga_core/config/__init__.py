"""Configuration: values, and how a YAML file becomes them."""

from __future__ import annotations

from saga_core.config.load import load_config
from saga_core.config.model import Config

__all__ = ["Config", "load_config"]
