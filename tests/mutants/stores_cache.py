"""Wrong MdCaches and curators: each breaks one clause."""

from __future__ import annotations

import asyncio
import re
from itertools import count
from pathlib import Path
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryCurator
from saga_core.errors import BadInput, StoreCorrupt
from saga_core.ids import digest
from saga_core.stores.curator import CurationView
from saga_core.stores.md_cache import Pages
from saga_core.values import PAGE_NAMES, Proposal
from tests.mutants.stores_registry import breaks, renaming

NOTHING = dict.fromkeys(PAGE_NAMES, "")


@breaks("C-1")
class GivesEmptyPages(MemoryCache):
    async def read(self, scope: str) -> Pages | None:
        return await super().read(scope) or Pages(dict(NOTHING))


class Rewriting(MemoryCache):
    """Changes the text of pages."""

    def text(self, text: str) -> str:
        return text

    async def write(self, scope: str, pages: Pages) -> None:
        plain = all(isinstance(text, str) for text in pages.files.values())
        files = {name: self.text(text) for name, text in pages.files.items()} if plain else pages.files
        await super().write(scope, evolve(pages, files=files))


@breaks("C-2")
class ChangesLineEnds(Rewriting):
    def text(self, text: str) -> str:
        return text.replace("\r\n", "\n")


@breaks("C-2")
class EndsEveryPageWithALine(Rewriting):
    def text(self, text: str) -> str:
        return text if text.endswith("\n") else text + "\n"


@breaks("C-2")
class TakesNoWatermarkForNone(MemoryCache):
    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, evolve(pages, watermark=pages.watermark or "none"))


@breaks("C-3")
class KeepsTheFirstWatermark(MemoryCache):
    async def write(self, scope: str, pages: Pages) -> None:
        old = await super().read(scope)
        await super().write(scope, pages if old is None else evolve(pages, watermark=old.watermark))


@breaks("C-3")
class KeepsPagesThatBecameEmpty(MemoryCache):
    async def write(self, scope: str, pages: Pages) -> None:
        old = await super().read(scope)
        kept = {name: text or old.files[name] for name, text in pages.files.items()} if old else pages.files
        await super().write(scope, evolve(pages, files=kept))


@breaks("C-4")
class CleansScopes(MemoryCache):
    pass


renaming(CleansScopes, "read write drop", lambda scope: re.sub(r"\W", "-", scope))


@breaks("C-5")
class ListsScopesAsTheyCame(MemoryCache):
    async def scopes(self) -> list[str]:
        await super().scopes()
        return list(self._scopes)


@breaks("C-6")
class DropsByPrefix(MemoryCache):
    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        for other in [other for other in self._scopes if other.casefold() == scope.casefold()]:
            del self._scopes[other]


@breaks("C-6")
class DropsNothing(MemoryCache):
    async def drop(self, scope: str) -> None:
        await super().read(scope)


@breaks("C-7")
class WritesPageByPage(MemoryCache):
    async def write(self, scope: str, pages: Pages) -> None:
        old = await super().read(scope)
        await super().write(scope, evolve(pages, files=dict(old.files) if old else dict(NOTHING)))
        await super().write(scope, pages) if old is None else None
        for name in PAGE_NAMES:
            await asyncio.sleep(0)
            current = await super().read(scope) or pages
            await super().write(scope, evolve(pages, files={**current.files, name: pages.files[name]}))


@breaks("C-8")
class WritesBytesAsText(MemoryCache):
    async def write(self, scope: str, pages: Pages) -> None:
        files: dict[str, Any] = dict(pages.files)
        text = {name: page.decode() if isinstance(page, bytes) else page for name, page in files.items()}
        await super().write(scope, evolve(pages, files=text))


@breaks("C-8")
class LocatesAnything(MemoryCache):
    def locate(self, scope: str) -> str | None:
        self._alive()
        return None


@breaks("C-9")
class CutsLongPages(Rewriting):
    def text(self, text: str) -> str:
        return text.encode(errors="surrogatepass")[: self.info.limits.value_bytes].decode(errors="ignore")


@breaks("C-10")
class SharesPages(MemoryCache):
    async def read(self, scope: str) -> Pages | None:
        await super().read(scope)
        return self._scopes.get(scope)


@breaks("C-10")
class KeepsTheCallersPages(MemoryCache):
    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        self._scopes[scope] = pages


class FolderCache(MemoryCache):
    """A reference whose pages are files that a person may edit."""

    def begin(self, path: Path) -> None:
        self.path = path

    def folder(self, scope: str) -> Path:
        return self.path / digest(scope)

    def locate(self, scope: str) -> str | None:
        super().locate(scope)
        return str(self.folder(scope))

    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        folder = self.folder(scope)
        folder.mkdir(exist_ok=True)
        for name, text in pages.files.items():
            (folder / name).write_bytes(text.encode())

    async def read(self, scope: str) -> Pages | None:
        held = await super().read(scope)
        if held is None:
            return None
        return evolve(held, files={name: self.text(scope, name) for name in PAGE_NAMES})

    def text(self, scope: str, name: str) -> str:
        try:
            return (self.folder(scope) / name).read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise StoreCorrupt(f"{name}: {error}") from error


@breaks("C-13")
class ReadsAMissingPageAsEmpty(FolderCache):
    def text(self, scope: str, name: str) -> str:
        return super().text(scope, name) if (self.folder(scope) / name).exists() else ""


@breaks("C-13")
class DecodesWithReplacement(FolderCache):
    def text(self, scope: str, name: str) -> str:
        file = self.folder(scope) / name
        return file.read_bytes().decode(errors="replace") if file.exists() else super().text(scope, name)


@breaks("C-11")
class MovesAtEveryWrite(FolderCache):
    generation = 0

    def folder(self, scope: str) -> Path:
        return self.path / f"{digest(scope)}-{self.generation}"

    async def write(self, scope: str, pages: Pages) -> None:
        self.generation += 1
        await super().write(scope, pages)


@breaks("C-11")
class LeavesOldFiles(FolderCache):
    async def write(self, scope: str, pages: Pages) -> None:
        old = await MemoryCache.read(self, scope)
        await super().write(scope, pages)
        if old is not None:
            (self.folder(scope) / "story.md").write_bytes(old.files["story.md"].encode())


@breaks("C-12")
class IgnoresEdits(FolderCache):
    async def read(self, scope: str) -> Pages | None:
        return await MemoryCache.read(self, scope)


def _proposal(view: CurationView, **changes: Any) -> Proposal:
    turns = (view.turns[-1].id,) if view.turns else ()
    return evolve(Proposal("lore", "크룩은 살아 있다", turns), **changes)


@breaks("U-1")
class GivesAList(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        return list(await super().review(view))  # type: ignore[return-value]


@breaks("U-1")
class HasAKindOfItsOwn(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        return (_proposal(view, kind="opinion"),)


@breaks("U-1")
class SaysNothing(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        return (_proposal(view, summary=" "),)


@breaks("U-2")
class NamesTurnsItNeverSaw(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        return (_proposal(view, turns=("t1",)),)


@breaks("U-2")
class NamesAStranger(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        return (_proposal(view, entities=("e99",)),)


@breaks("U-3")
class CountsItsReviews(MemoryCurator):
    numbers = count()

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        return (_proposal(view, data={"number": str(next(self.numbers))}),)


@breaks("U-4")
class TidiesTheState(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        entities: Any = view.state.entities
        entities.pop("e2", None)
        return await super().review(view)


@breaks("U-5")
class NeedsAPlayer(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        if view.state.player not in view.state.entities:
            raise BadInput("view.state.player: nobody")
        return await super().review(view)


@breaks("U-5")
class NeedsATurn(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        if not view.turns[-1].reply:
            return ()
        return await super().review(view)
