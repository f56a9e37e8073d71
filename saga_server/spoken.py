"""Finds the language of the user of this machine, for commands with translated output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""In the order of precedence of POSIX."""
_NAMES = {"korean": "ko", "japanese": "ja", "chinese": "zh", "english": "en"}
"""Names of languages in locales of Windows such as ``Korean_Korea.949``."""


def spoken(
    among: Sequence[str], environ: Mapping[str, str] | None = None, of_system: Callable[[], str] | None = None
) -> str:
    """Return the language of the locale if it is in ``among``, or else the first tag in ``among``.

    The locale is the first of ``LC_ALL``, ``LC_MESSAGES`` and ``LANG`` that is set, in the order of POSIX. ``C`` and
    ``POSIX`` name no language. If none is set, ``of_system`` is called; by default it reads the setting of Windows,
    such as ``ko_KR``.
    """
    variables = os.environ if environ is None else environ
    told = next((variables[name] for name in _VARIABLES if variables.get(name)), "")
    tag = _tag(told or (_of_windows if of_system is None else of_system)())
    return tag if tag in among else among[0]


def _tag(locale: str) -> str:
    """Return the language of a locale: ``ko`` for ``ko_KR.UTF-8``, ``ko-KR`` or ``Korean_Korea.949``."""
    language = locale.replace("-", "_").partition(".")[0].partition("_")[0].lower()
    return _NAMES.get(language, language)


def _of_windows() -> str:
    if sys.platform == "win32":
        import ctypes
        from locale import windows_locale

        return windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    return ""
