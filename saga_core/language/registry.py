"""The languages that SAGA knows: the folders beside this file."""

from __future__ import annotations

from functools import cache
from pkgutil import iter_modules

from saga_core.language.language import Language

DEFAULT = "en"
"""The language used for a text in no known language."""
UNSAID = "ko"
"""The language of a ``World`` that code makes without one. World files that state none have that of their script."""


@cache
def known() -> tuple[str, ...]:
    """The tags of the known languages, in order."""
    import saga_core.language as room

    return tuple(sorted(found.name for found in iter_modules(room.__path__) if found.ispkg))


@cache
def every() -> tuple[Language, ...]:
    """The known languages, in the order of their tags."""
    return tuple(map(Language, known()))


def primary(tag: str) -> str:
    """The primary subtag of a tag by BCP 47, in lower case: ``ko`` of "ko-KR" and of "ko_KR"."""
    return tag.replace("_", "-").partition("-")[0].casefold()


def language_of(tag: str) -> Language:
    """The language of a tag, by its primary subtag; English for an unknown tag."""
    found = _by_tag().get(tag)
    return found if found is not None else _by_tag().get(primary(tag), _by_tag()[DEFAULT])


@cache
def _by_tag() -> dict[str, Language]:
    return {each.tag: each for each in every()}
