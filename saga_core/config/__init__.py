"""Configuration: its values, and how they are read from YAML files."""

from __future__ import annotations

from saga_core.config.load import load_config, read_source, scalar
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
    Settings,
    StorageConfig,
    StoreConfig,
    StrategyConfig,
    TokenBudget,
    Tools,
)
from saga_core.config.rules import BrowserOrigins, Flag, Number, OneOf, Rule, RuleBroken, Whole

__all__ = [
    "BrowserOrigins",
    "Config",
    "Flag",
    "Identify",
    "LogFormat",
    "LogLevel",
    "LoggingConfig",
    "LorebookConfig",
    "Markers",
    "Number",
    "OneOf",
    "Profile",
    "ProviderConfig",
    "Reporting",
    "Review",
    "Rule",
    "RuleBroken",
    "ServerConfig",
    "SessionConfig",
    "Settings",
    "StorageConfig",
    "StoreConfig",
    "StrategyConfig",
    "TokenBudget",
    "Tools",
    "Whole",
    "load_config",
    "read_source",
    "scalar",
]
