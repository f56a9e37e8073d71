"""The language of whoever sits at this machine, for commands that speak to a person."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""In the order in which POSIX has them count."""
_NAMES = {"korean": "ko", "japanese": "ja", "chinese": "zh", "english": "en"}
"""What Windows calls a language in ``Korean_Korea.949``."""


def spoken(
    among: Sequence[str], environ: Mapping[str, str] | None = None, of_system: Callable[[], str] | None = None
) -> str:
    """The tag among ``among`` of the language that the locale names, else the first.

    The environment says it, in the order of POSIX: ``LC_ALL``, ``LC_MESSAGES``, ``LANG``. ``C`` and ``POSIX`` name
    none. Where the environment says nothing, ``of_system`` is asked: Windows' own setting, as ``ko_KR``.
    """
    variables = os.environ if environ is None else environ
    told = next((variables[name] for name in _VARIABLES if variables.get(name)), "")
    tag = _tag(told or (_of_windows if of_system is None else of_system)())
    return tag if tag in among else among[0]


def _tag(locale: str) -> str:
    """``ko`` of ``ko_KR.UTF-8``, ``ko-KR`` or ``Korean_Korea.949``."""
    language = locale.replace("-", "_").partition(".")[0].partition("_")[0].lower()
    return _NAMES.get(language, language)


def _of_windows() -> str:
    if sys.platform == "win32":
        import ctypes
        from locale import windows_locale

        return windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    return ""
