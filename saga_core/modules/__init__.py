"""Modules: rules, trackers, lines and pictures that a developer adds to stories."""

from __future__ import annotations

from saga_core.modules.fields import LONGEST, check_fields, is_line
from saga_core.modules.module import NO_MODULES, Module, Modules, ModuleTurn, modules_that_fail, open_modules

__all__ = [
    "LONGEST",
    "NO_MODULES",
    "Module",
    "ModuleTurn",
    "Modules",
    "check_fields",
    "is_line",
    "modules_that_fail",
    "open_modules",
]
