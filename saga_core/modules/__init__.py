"""Modules: rules, trackers, lines and pictures that a developer adds to stories."""

from __future__ import annotations

from saga_core.modules.fields import check_fields
from saga_core.modules.module import NO_MODULES, Module, Modules, ModuleTurn, modules_that_fail, open_modules

__all__ = ["NO_MODULES", "Module", "ModuleTurn", "Modules", "check_fields", "modules_that_fail", "open_modules"]
