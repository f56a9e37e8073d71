"""Imports files of other tools: cards and lorebooks become worlds, chats become sessions.

Everything is read and planned before anything is written. Each world and each session is then written as a whole or not
at all. Worlds and sessions that were imported before are recognised.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from attrs import define, evolve, field, frozen

from saga_core.errors import BadInput, Conflict, NotFound
from saga_core.imports import (
    Card,
    Chat,
    Found,
    Group,
    Lorebook,
    LoreMode,
    Loss,
    Losses,
    Persona,
    Reading,
    Refused,
    SagaSession,
    Source,
    Story,
    WorldPlan,
    importers,
    plan_stories,
    read_files,
    stem,
    world_of,
)
from saga_core.language import fold_name
from saga_core.maintenance.story_turns import add_story, find_story, grow_story
from saga_core.maintenance.tools import Tools
from saga_core.maintenance.transfer import confined, free_label, import_session, read_file
from saga_core.world import (
    FreeNames,
    LaidOut,
    MacroRoom,
    TooManyMacros,
    World,
    WorldLibrary,
    imported_from,
    lay_out,
    write_world,
)

_TRIES = 8
"""How often to try to record a chat whose name is taken meanwhile."""
State = Literal["new", "grown", "known", "read"]
_STAYS = "memories that other sessions would have been told of stay in this one"
_COPIED = "the story is here already; this is a copy with a number after its name, and the chat goes on in the original"
_STOPPED = "the import was stopped before it; take the file in again to go on"


@frozen(kw_only=True)
class ImportOptions:
    """The options of an import."""

    owner: str = ""
    """The owner of the sessions: the fingerprint of an API key."""
    owner_named: bool = False
    """Whether the owner was given explicitly. If so, a session that ``saga export`` wrote gets this owner as well.
    Otherwise it keeps the owner that its file names."""
    world: str | None = None
    """The world that chats are played in. The default is the world of their character."""
    lore: LoreMode = "auto"
    tell_card: bool = False
    dry_run: bool = False
    """Whether to write nothing."""
    edited: bool = False
    """Whether a session that ``saga export`` wrote was changed on purpose."""


@frozen(kw_only=True)
class ImportedItem:
    """One record that was imported, or in a dry run would be."""

    file: str
    kind: str
    title: str
    state: State
    """``new``; ``grown`` if turns were added to an existing session; ``known`` if it existed; ``read`` if nothing is
    made of it alone."""
    counts: Mapping[str, int] = field(factory=dict)
    world: str | None = None
    session: str | None = None
    label: str = ""
    losses: tuple[Loss, ...] = ()


@frozen
class ImportResult:
    """The result of an import."""

    things: tuple[ImportedItem, ...]
    refused: tuple[Refused, ...]


async def import_files(tools: Tools, files: Sequence[tuple[str, Source]], how: ImportOptions) -> ImportResult:
    """See ``Maintenance.import_files``."""
    under_way = object()
    tools.running_imports.add(under_way)
    try:
        return await _import_files(tools, files, how, under_way)
    finally:
        tools.running_imports.discard(under_way)
        tools.stopped_imports.discard(under_way)


async def _import_files(
    tools: Tools, files: Sequence[tuple[str, Source]], how: ImportOptions, under_way: object
) -> ImportResult:
    worlds = tools.worlds
    await worlds.read_changes()
    if how.world is not None:
        worlds.get(how.world)
    reading = await asyncio.to_thread(read_files, files)
    if failed := importers().failed:
        whys = [f"{name} cannot be loaded: {why}" for name, why in failed.items()]
        tools.counters.degrade("importers", "; ".join(whys))
    if not reading.found and len(files) == 1 and len(reading.refused) == 1:
        raise BadInput(f"{reading.refused[0].file}: {reading.refused[0].why}")
    work = _Work(tools, worlds, how, reading, under_way)
    plans = await asyncio.to_thread(work.plan_worlds)
    async with tools.importing:
        laid_out = await asyncio.to_thread(work.lay_out_worlds, plans)
        if len(reading.found) == 1 and work.refused:
            raise BadInput(f"{work.refused[0].file}: {work.refused[0].why}")
        await work.sessions_of_saga()
        await work.write_worlds(laid_out)
        await work.write_stories()
    work.read_only()
    order = {id(found): at for at, found in enumerate(reading.found)}
    things = sorted(work.things, key=lambda each: order.get(each[0], len(order)))
    return ImportResult(tuple(thing for _, thing in things), (*reading.refused, *work.refused))


def stop_imports(tools: Tools) -> int:
    """See ``Maintenance.stop_imports``."""
    tools.stopped_imports.update(tools.running_imports)
    return len(tools.running_imports)


@frozen
class _Planned:
    """A world that is to be written."""

    found: Found
    plan: WorldPlan
    losses: tuple[Loss, ...]
    source: str
    """A digest of the data that the world is made from."""


@define
class _Work:
    tools: Tools
    worlds: WorldLibrary
    how: ImportOptions
    reading: Reading
    under_way: object
    """The token of this import, by which it can be stopped."""
    things: list[tuple[int, ImportedItem]] = field(factory=list)
    refused: list[Refused] = field(factory=list)
    names: dict[str, str] = field(factory=dict)
    """A character's name to the name of the world that its card became."""
    known: dict[str, World] = field(factory=dict)
    """The worlds that were there and those made since, as ``WorldLibrary.called`` gives them. The library itself would
    look at every folder for each card."""
    chosen: dict[str, World] = field(factory=dict)
    """A character without a card to the world of its chats."""
    made_from: dict[str, str] = field(factory=dict)
    """The digest of the data that a world was made from to the world's name."""
    linked: set[int] = field(factory=set)
    """The ``id()`` of each lorebook that is part of a card's world."""

    def _add(self, found: Found, state: State, title: str = "", **more: Any) -> None:
        item = ImportedItem(file=found.file, kind=found.kind, title=title or found.title, state=state, **more)
        self.things.append((id(found), item))
        done, total = len(self.things) + len(self.refused), len(self.reading.found)
        self.tools.counters.emit("importing", done=min(done, total), total=total)

    def _stopped(self, *files: str) -> bool:
        """Whether the import was stopped. If so, ``files`` are noted as refused."""
        if self.under_way not in self.tools.stopped_imports:
            return False
        self.refused += [Refused(file, _STOPPED) for file in files]
        return True

    async def sessions_of_saga(self) -> None:
        """Import the sessions that SAGA itself exported."""
        for found in self.reading.found:
            if not isinstance(found.record, SagaSession) or self._stopped(found.file):
                continue
            try:
                file = await asyncio.to_thread(read_file, found.record.raw, edited=self.how.edited)
            except BadInput as error:
                if len(self.reading.found) == 1:
                    raise
                self.refused.append(Refused(found.file, str(error)))
                continue
            if self.how.owner_named:
                file = evolve(file, session=evolve(file.session, owner=self.how.owner))
            file, moved = await asyncio.to_thread(confined, file)
            losses = Losses()
            if moved:
                losses.add("namespace", "mapped", _STAYS, file.session.label, moved)
            session = file.session
            with suppress(NotFound):
                await self.tools.journal.session(session.id)
                losses.add("session", "mapped", _COPIED, session.label or session.title)
            if not self.how.dry_run:
                session = await import_session(self.tools, file)
            self._add(
                found,
                "new",
                session.label or session.title or session.id,
                counts={"turns": len(file.turns) - 1},
                world=session.world or None,
                session=None if self.how.dry_run else session.id,
                label=session.label,
                losses=losses.listed(),
            )

    # -- worlds --------------------------------------------------------------------------------------------------

    def plan_worlds(self) -> list[_Planned]:
        """Plan a world for each card, with the lorebook that it names, and for each lorebook that no card names."""
        books = {fold_name(stem(each.file)): each for each in self.reading.found if isinstance(each.record, Lorebook)}
        books |= {fold_name(_book(each).name): each for each in books.values() if _book(each).name}
        plans: list[_Planned] = []
        room = MacroRoom()
        for found in self.reading.found:
            if isinstance(found.record, Card):
                other = books.get(fold_name(found.record.world)) if found.record.world else None
                if other is not None:
                    self.linked.add(id(other))
                plans += self._plan(found, found.record, [_book(other)] if other is not None else [], room)
        for found in self.reading.found:
            if isinstance(found.record, Lorebook) and id(found) not in self.linked:
                plans += self._plan(found, None, [found.record], room)
        return plans

    def _plan(self, found: Found, card: Card | None, books: Sequence[Lorebook], room: MacroRoom) -> list[_Planned]:
        """The planned world, or none if it is refused."""
        losses, how, before = Losses(), self.how, room.left
        try:
            plan = world_of(card, books, stem(found.file), losses, mode=how.lore, tell_card=how.tell_card, room=room)
        except TooManyMacros as error:
            self.refused.append(Refused(found.file, str(error)))
            room.left = before  # its texts are not kept
            return []
        source = hashlib.sha256(repr((evolve(plan.world, name="x"),)).encode()).hexdigest()
        return [_Planned(found, plan, losses.listed(), source)]

    def lay_out_worlds(self, plans: Iterable[_Planned]) -> list[tuple[_Planned, LaidOut | None]]:
        """The files of the new worlds; None for worlds that exist. A world that files cannot hold is refused."""
        self.made_from = imported_from(self.worlds.roots)
        found: list[tuple[_Planned, LaidOut | None]] = []
        for each in plans:
            try:
                found.append((each, None if each.source in self.made_from else lay_out(each.plan.world)))
            except BadInput as error:
                self.refused.append(Refused(each.found.file, f"no world can hold it: {error}"))
        return found

    async def write_worlds(self, plans: Iterable[tuple[_Planned, LaidOut | None]]) -> None:
        """Write the new worlds."""
        root = self.worlds.roots[0]
        free = await asyncio.to_thread(FreeNames.of, self.worlds.roots)
        self.known = await asyncio.to_thread(self.worlds.called)
        for each, laid_out in plans:
            found, plan = each.found, each.plan
            if self._stopped(found.file):
                continue
            known = self.made_from.get(each.source) or self._same_card(plan.world)
            name = self.made_from[each.source] = free.take(plan.world.name) if known is None else known
            free.use(name)
            world = evolve(plan.world, name=name)
            if known is None and laid_out is not None and not self.how.dry_run:
                note = {"source": each.source, "file": found.file, "kind": found.kind}
                files = {asset.name: asset.data for asset in plan.assets}
                folder = await asyncio.to_thread(write_world, root, name, laid_out.texts, files, note)
                # Otherwise the first request that names a large world would read it, and delay all others meanwhile.
                await asyncio.to_thread(self.worlds.written, folder, world, laid_out)
                self.tools.counters.add("worlds.imported")
            if known is None or name not in self.known:
                self.known[name] = world
            for called in (name, *world.aliases):
                self.known.setdefault(fold_name(called), world)
            for called in (*plan.world.match, plan.world.title):
                self.names.setdefault(fold_name(called), name)
            counts = {"entries": len(world.lore)}
            if isinstance(found.record, Card):
                counts |= {"greetings": plan.greetings, "assets": len(plan.assets)}
            state: State = "new" if known is None else "known"
            self._add(found, state, counts=counts, world=name, losses=(*found.losses, *each.losses))

    def _same_card(self, world: World) -> str | None:
        """The name of the world that an earlier import made of this card, if it holds all lore of this one.

        The same card is often exported again without its lorebook; it makes no second character.
        """
        known = self.known.get(world.name) or self.known.get(fold_name(world.name))
        if known is None:
            return None
        persons = [[(each.name, each.body) for each in one.characters] for one in (world, known)]
        lore = [{(each.name, each.text) for each in one.lore} for one in (world, known)]
        return known.name if world.characters and persons[0] == persons[1] and lore[0] <= lore[1] else None

    # -- chats ---------------------------------------------------------------------------------------------------

    async def write_stories(self) -> None:
        """Record the chats."""
        found = [each for each in self.reading.found if isinstance(each.record, Chat)]
        if not found:
            return
        grouped = self._in_groups(found)
        stories, refused = await asyncio.to_thread(plan_stories, [(each.file, chat) for each, chat in grouped])
        self.refused += refused
        by_file: dict[str, list[Found]] = {}
        for each in found:
            by_file.setdefault(each.file, []).append(each)
        await self.worlds.read_changes()
        for story in stories:
            if self._stopped(*dict.fromkeys(story.files)):
                continue
            await self._write_story(story, by_file)

    def _in_groups(self, found: Sequence[Found]) -> list[tuple[Found, Chat]]:
        """The chats, with their group's name if they have one, and by default with their persona's name as player."""
        personas = {each.record.id: each.record.name for each in self.reading.found if isinstance(each.record, Persona)}
        groups = {name: each.record for each in self.reading.found if isinstance(each.record, Group)
                  for name in each.record.chats}  # fmt: skip
        placed = []
        for each in found:
            chat = each.record
            assert isinstance(chat, Chat)
            group = groups.get(chat.name)
            if group is not None:
                parent = chat.parent or group.parents.get(chat.name, "")
                chat = evolve(chat, character=group.name, members=chat.members or (chat.character,), parent=parent)
            if not chat.user and chat.persona:
                chat = evolve(chat, user=personas.get(chat.persona, ""))
            placed.append((each, chat))
        return placed

    async def _write_story(self, story: Story, by_file: Mapping[str, list[Found]]) -> None:
        for left in range(_TRIES, 0, -1):
            try:
                state, session, world, label = await self._told(story)
                break
            except Conflict:
                # Another server imported the same file, or another chat with this name: try again.
                if left == 1:
                    raise
        for number, file in enumerate(dict.fromkeys(story.files)):
            each = by_file[file].pop(0)
            counts = {"turns": len(story.turns) - story.swipes, "swipes": story.swipes, "branches": len(story.branches)}
            self._add(
                each,
                state,
                counts=counts if number == 0 else {},
                world=world or None,
                session=session,
                label=label,
                losses=each.losses,
            )

    async def _told(self, story: Story) -> tuple[State, str | None, str, str]:
        """Record a story, and return its state, session, world and label. Raises ``Conflict`` if the label is taken.

        The label is chosen before the story is looked up. If two servers both find no session, only one gets the label.
        """
        owner, dry_run = self.how.owner, self.how.dry_run
        named = fold_name(story.title).startswith(fold_name(story.character))
        label = story.title if named else f"{story.character} - {story.title}"
        free = await free_label(self.tools, owner, label[:200])
        place = await find_story(self.tools, story, owner)
        if place is not None:
            missing = len(story.turns) - (len(place.known) - 1)
            record = await self.tools.journal.session(place.session)
            if missing and not dry_run:
                await grow_story(self.tools, story, place)
            return "grown" if missing else "known", place.session, record.world, record.label
        chosen = self._world_of(story)
        if dry_run:
            return "new", None, chosen.name, label
        made = await add_story(self.tools, story, owner, chosen, free)
        return "new", made.id, chosen.name, made.label

    def _world_of(self, story: Story) -> World:
        """The world in the options, else that of the character's card, else the one that a request would choose."""
        for character in (story.character, *story.members) if self.how.world is None else ():
            name = self.names.get(fold_name(character)) if character else None
            if name is not None:
                return self.known[name]
        if story.character not in self.chosen:
            default = self.tools.settings.config.session.default_world
            self.chosen[story.character] = self.worlds.choose(self.how.world, story.character, default)
        return self.chosen[story.character]

    def read_only(self) -> None:
        """Report the records of which nothing is made alone: lorebooks in a card's world, personas and groups."""
        for found in self.reading.found:
            if isinstance(found.record, Persona | Group) or id(found) in self.linked:
                self._add(found, "read", losses=found.losses)


def _book(found: Found) -> Lorebook:
    assert isinstance(found.record, Lorebook)
    return found.record
