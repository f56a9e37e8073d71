"""Configuration: its values, and how they are read from YAML files."""

from __future__ import annotations

from saga_core.config.load import load_config, scalar
from saga_core.config.model import (
    Config,
    Identify,
    LogFormat,
    LoggingConfig,
    LogLevel,
    LorebookConfig,
    Markers,
    Profile,
    ProviderConfig,
    Reporting,
    Review,
    ServerConfig,
    SessionConfig,
    StorageConfig,
    StoreConfig,
    StrategyConfig,
    TokenBudget,
)
from saga_core.config.settings import Settings

__all__ = [
    "Config",
    "Identify",
    "LogFormat",
    "LogLevel",
    "LoggingConfig",
    "LorebookConfig",
    "Markers",
    "Profile",
    "ProviderConfig",
    "Reporting",
    "Review",
    "ServerConfig",
    "SessionConfig",
    "Settings",
    "StorageConfig",
    "StoreConfig",
    "StrategyConfig",
    "TokenBudget",
    "load_config",
    "scalar",
]
