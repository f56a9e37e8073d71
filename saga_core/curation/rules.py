"""Rules: contradictions that need no model to be seen, each with the turns that prove it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import define, field

from saga_core.curation import prose
from saga_core.curation.replay import Step, replay
from saga_core.ids import digest
from saga_core.language import language_of, mentions
from saga_core.language.texts import Findings
from saga_core.model import Entity, Kind, Relation, WorldState, deltas
from saga_core.stores import CurationView
from saga_core.values import Proposal

DEAD_ACT = "dead_act"
DOWN_FIGHTS = "down_fights"
TWO_PLACES = "two_places"
TWO_HANDS = "two_hands"
FORGOTTEN_EVENT = "forgotten_event"
SUDDEN_TURN = "sudden_turn"
RULES = (DEAD_ACT, DOWN_FIGHTS, TWO_PLACES, TWO_HANDS, FORGOTTEN_EVENT, SUDDEN_TURN)

PATIENCE = 20
"""Turns for which a due event without an end may wait before it counts as forgotten."""
_STRONG = 3
_CAUSES = 2
"""Turns before a change of heart in which its cause may lie."""
_STACKED = re.compile(
    r"물약|포션|화살|동전|금화|은화|구리|골드|돈|빵|약초|횃불|식량|붕대|탄환|총알|사과|고기|물\b|술|식료|재료"
    r"|광석|씨앗|부적|폭탄|보석"
    r"|\b(?:potions?|arrows?|coins?|gold|silver|bread|herbs?|torch(?:es)?|rations?|bandages?|bolts?|bullets?"
    r"|food|water|ale|wine|gems?|apples?"
    r"|money|meat|ore|seeds?|bombs?|keys? copies|rope|candles?)\b",
    re.I,
)
_HOSTILE = re.compile(
    r"적대|적의|원수|증오|혐오|배신|앙숙|원한|살의|위협|hostil|enem|hate|hatred|foe|nemesis|rival|betray|despis"
    r"|loath|vengeful|resent",
    re.I,
)
_FRIENDLY = re.compile(
    r"우호|우정|친구|동료|동맹|연인|사랑|신뢰|애정|호의|은인|충성|존경|friend|ally|allied|allies|love|lover"
    r"|trust|loyal|devot|affection|companion|admir|grateful",
    re.I,
)
_REASONS = re.compile(
    r"때문|덕분|덕택|용서|배신|배반|속[였아이]|구[했해하]|살려|도와|도왔|사과|화해|고백|진실|비밀|거짓|누명"
    r"|오해|폭로|정체|선물|보답|은혜|복수|죽[였인]|모욕|조롱"
    r"|훔[쳤친]|빼앗|협박|맹세|약속|감사|고마|저주|세뇌|매혹|조종|마법에|감동|눈물|결투|인정[했한]|공격|찔렀"
    r"|베었|때렸|버[렸리]"
    r"|\b(?:because|since|forg(?:ive|ave|iven)|betray\w*|sav(?:e|ed|es|ing)|rescue\w*|help\w*|apolog\w*"
    r"|confess\w*|truth|secret|lied?|lies|lying|reveal\w*"
    r"|gift|debt|reveng\w*|kill\w*|insult\w*|mock\w*|stole|steal\w*|threat\w*|swear|sw?ore|promis\w*|thank\w*"
    r"|curs\w*|charm\w*|enchant\w*|tears?"
    r"|duel|recogni[sz]\w*|attack\w*|stab\w*|hit|struck|abandon\w*|misunderst\w*|spare[ds]?|defend\w*"
    r"|protect\w*|reconcil\w*)\b",
    re.I,
)


def review(view: CurationView) -> tuple[Proposal, ...]:
    """What is wrong in the view's turns: at most one finding of a rule for whom or what it concerns in a turn.

    What was found before (``view.state.findings``) is not found again. Deterministic, and changes nothing.
    """
    return tuple(proposal for found in review_by_turn(view) for proposal in found)


def review_by_turn(view: CurationView) -> Iterator[tuple[Proposal, ...]]:
    """``review`` turn by turn, so that others can have their turn in between; last what no turn says by itself."""
    seen = {finding.key for finding in view.state.findings}
    for found in _Review(view, replay(view)).all():
        fresh = []
        for proposal in found:
            if proposal.data["key"] not in seen:
                seen.add(proposal.data["key"])
                fresh.append(proposal)
        yield tuple(fresh)


@define
class _Review:
    view: CurationView
    steps: tuple[Step, ...]
    _parted: dict[str, tuple[int, str, str]] = field(factory=dict)
    """Character -> the turn (depth), the place and the turn's id where the player left them."""

    def all(self) -> Iterator[list[Proposal]]:
        """Everything, turn by turn."""
        died: dict[str, str] = {}
        for step in self.steps:
            yield [
                *self._dead(step, died),
                *self._down(step),
                *self._places(step),
                *self._hands(step),
                *self._hearts(step),
            ]
        yield [*self._deadlines()]

    @property
    def _words(self) -> Findings:
        return language_of(self.view.language).texts.findings

    def _finding(
        self, rule: str, about: Sequence[str], text: str, turns: Sequence[str], *, at: str = "", quote: str = ""
    ) -> Proposal:
        shown = {turn.id for turn in self.view.turns}
        proof = tuple(dict.fromkeys(turn for turn in turns if turn in shown))
        entities = tuple(id_ for id_ in about if id_ in self.view.state.entities)
        data = {"rule": rule, "key": f"{rule}:{digest(rule, *about, at, size=6)}"}
        if quote:
            data["quote"] = quote[:200]
        return Proposal("contradiction", text, proof, entities, data)

    # -- the dead ----------------------------------------------------------------------------------------------

    def _dead(self, step: Step, died: dict[str, str]) -> Iterator[Proposal]:
        """Who was dead before the turn acts in it. ``died`` keeps who died when, as far as the prose alone tells."""
        turn, before = step.turn, step.before
        told = turn.reply
        dead = [each for each in before.of_kind(Kind.CHARACTER) if each.dead or each.id in died]
        if dead and prose.revives(told):
            for each in dead:
                if any(mentions(told, name) for name in _distinct(each, before, told)):
                    died.pop(each.id, None)
                    dead = [other for other in dead if other.id != each.id]
        if dead and not prose.unreal(told):
            for each in dead:
                how = _acts_in(step, each) or prose.acts(told, _distinct(each, before, told))
                if how:
                    yield self._finding(
                        DEAD_ACT,
                        [each.id],
                        self._words.dead_act(name=each.name, turn=turn.depth),
                        [died.get(each.id, ""), self._death(each), turn.id],
                        at=turn.id,
                        quote=how,
                    )
                    died.pop(each.id, None)
        for each in step.after.of_kind(Kind.CHARACTER):
            if not each.dead and each.id not in died and prose.dies(told, _distinct(each, step.after, told)):
                died[each.id] = turn.id
            elif not each.dead and any(
                isinstance(event, deltas.StatusChanged) and event.who == each.id for event in turn.delta.events
            ):
                died.pop(each.id, None)

    def _death(self, who: Entity) -> str:
        """The id of the turn in which somebody died, if it is shown."""
        since = who.get("status_since")
        return next((turn.id for turn in self.view.turns if turn.depth == since), "")

    # -- hit points --------------------------------------------------------------------------------------------

    def _down(self, step: Step) -> Iterator[Proposal]:
        """Who has no hit points left, and none back, fights."""
        turn = step.turn
        for each in step.before.of_kind(Kind.CHARACTER):
            now = step.after.entities.get(each.id)
            if each.get("hp") != 0 or each.dead or now is None or now.get("hp") != 0:
                continue
            if prose.helpless(turn.reply) or prose.unreal(turn.reply):
                continue
            names = _distinct(each, step.before, turn.reply)
            if each.id == step.before.player:
                how = prose.you_fight(turn.reply, names, turn.user)
            else:
                how = prose.acts(turn.reply, names, fighting=True)
            if how:
                yield self._finding(
                    DOWN_FIGHTS,
                    [each.id],
                    self._words.down_fights(name=each.name, turn=turn.depth),
                    [turn.id],
                    at=turn.id,
                    quote=how,
                )

    # -- places ------------------------------------------------------------------------------------------------

    def _places(self, step: Step) -> Iterator[Proposal]:
        """Who is in two places: left behind and met again far away at once, or with the player and told elsewhere."""
        turn, after = step.turn, step.after
        gone = {event.who for event in turn.delta.events if isinstance(event, deltas.Separated)}
        met = {event.who for event in turn.delta.events if isinstance(event, deltas.Met)}
        moved: dict[str, set[str]] = {}
        for event in turn.delta.events:
            if isinstance(event, deltas.Moved):
                moved.setdefault(event.who, set()).add(event.to)
        here = after.location or ""
        for who in sorted(met):
            left = self._parted.get(who)
            same = who in gone and step.before.location not in (None, here)
            place = step.before.location if same else (left[1] if left and turn.depth - left[0] <= 1 else None)
            if place and here and _apart(after, place, here) and not _travels(turn.reply, after, who):
                yield self._two_places(step, who, place, here, [left[2] if left else "", turn.id])
        for who, places in moved.items():
            if len(places) > 1:
                one, other = sorted(places)[:2]
                yield self._two_places(step, who, one, other, [turn.id])
        places_named = [(each.id, name) for each in after.of_kind(Kind.LOCATION) for name in each.names]
        for who in after.present:
            entity = after.entities.get(who)
            if entity is None or who in gone or who not in step.before.present or not here:
                continue
            for there, how in prose.stays_at(turn.reply, _distinct(entity, after, turn.reply), places_named):
                if _apart(after, there, here):
                    yield self._two_places(step, who, here, there, [turn.id], quote=how)
                    break
        for who in gone:
            where = step.before.location
            if where:
                self._parted[who] = (turn.depth, where, turn.id)
        for who in met:
            self._parted.pop(who, None)

    def _two_places(
        self, step: Step, who: str, one: str, other: str, turns: Sequence[str], quote: str = ""
    ) -> Proposal:
        name, first, second = (step.after.name(id_) for id_ in (who, one, other))
        return self._finding(
            TWO_PLACES,
            [who, one, other],
            self._words.two_places(name=name, turn=step.turn.depth, first=first, second=second),
            turns,
            at=step.turn.id,
            quote=quote,
        )

    # -- belongings --------------------------------------------------------------------------------------------

    def _hands(self, step: Step) -> Iterator[Proposal]:
        """A single thing that came into one hand and lies in another still."""
        gained = [
            (event.item, event.owner if isinstance(event, deltas.ItemGained) else event.receiver)
            for event in step.turn.delta.events
            if isinstance(event, deltas.ItemGained | deltas.ItemTransferred)
        ]
        for item, owner in gained:
            thing = step.after.entities.get(item)
            holders = {who: hands[item].quantity for who, hands in step.after.belongings.items() if item in hands}
            if thing is None or owner not in holders or len(holders) < 2 or max(holders.values()) > 1:
                continue
            if any(_STACKED.search(name) for name in thing.names):
                continue
            held = {who for who, hands in step.before.belongings.items() if item in hands}
            other = next((who for who in sorted(holders) if who != owner and who in held), None)
            if other is None:
                continue
            one, two = step.after.name(owner), step.after.name(other)
            yield self._finding(
                TWO_HANDS,
                [item, *sorted((owner, other))],
                self._words.two_hands(thing=thing.name, one=one, two=two),
                [step.turn.id],
            )

    # -- hearts ------------------------------------------------------------------------------------------------

    def _hearts(self, step: Step) -> Iterator[Proposal]:
        """A relation that turns into its opposite though nothing happened that could be the reason."""
        for event in step.turn.delta.events:
            if not isinstance(event, deltas.RelationChanged):
                continue
            pair = event.source, event.target
            old, new = step.before.relations.get(pair), step.after.relations.get(pair)
            if old is None or new is None or not _opposite(old, new) or self._reason(step, pair):
                continue
            one, other = (step.after.name(id_) for id_ in pair)
            yield self._finding(
                SUDDEN_TURN,
                pair,
                self._words.sudden_turn(
                    one=one,
                    other=other,
                    old=old.type,
                    old_strength=old.strength,
                    new=new.type,
                    new_strength=new.strength,
                ),
                [step.turn.id],
                at=step.turn.id,
            )

    def _reason(self, step: Step, pair: tuple[str, str]) -> bool:
        at = self.steps.index(step)
        for each in self.steps[max(0, at - _CAUSES) : at + 1]:
            for event in each.turn.delta.events:
                if isinstance(event, deltas.EventTriggered | deltas.StatusChanged):
                    return True
                if isinstance(event, deltas.HpChanged) and event.who in pair and each is step:
                    return True
                if isinstance(event, deltas.ItemTransferred) and {event.giver, event.receiver} == set(pair):
                    return True
                if (
                    isinstance(event, deltas.RelationChanged)
                    and each is not step
                    and pair == (event.source, event.target)
                ):
                    return True  # it has been turning
            said = f"{each.turn.user}\n{each.turn.reply}" + "".join(
                f"\n{event.text}" for event in each.turn.delta.events if isinstance(event, deltas.Noted)
            )
            if _REASONS.search(said) and any(
                mentions(said, name) for id_ in pair for name in _names(each.after, id_) if id_ != each.after.player
            ):
                return True
        return False

    # -- events ------------------------------------------------------------------------------------------------

    def _deadlines(self) -> Iterator[Proposal]:
        """Scheduled events whose last turn is over, or that are due for long, and never happened."""
        state = self.view.state
        for each in state.schedule.values():
            late = each.expires if each.expires is not None else None
            if late is None and each.due is not None and not each.place and not each.who:
                late = max(each.due, each.since) + PATIENCE
            if late is not None and state.depth > late:
                yield self._forgotten(each.event, each.name, late)
        happened = {happening.event for happening in state.happenings}
        for entity in state.of_kind(Kind.EVENT):
            deadline = entity.get("deadline")
            if not isinstance(deadline, int) or isinstance(deadline, bool) or entity.id in happened:
                continue
            if entity.id not in state.schedule and state.depth > deadline:
                yield self._forgotten(entity.id, entity.name, deadline)

    def _forgotten(self, event: str, name: str, deadline: int) -> Proposal:
        passed = next((turn.id for turn in self.view.turns if turn.depth > deadline), "")
        return self._finding(
            FORGOTTEN_EVENT,
            [event],
            self._words.forgotten_event(name=name, deadline=deadline),
            [passed],
        )


def _acts_in(step: Step, who: Entity) -> str:
    """What the turn's own report says that the dead does, in a word; "" for nothing."""
    if prose.of_a_body(step.turn.reply):
        return ""
    for event in step.turn.delta.events:
        if isinstance(event, deltas.Met) and event.who == who.id:
            return "npc_met"
        if isinstance(event, deltas.Moved) and event.who == who.id:
            return "location"
        if isinstance(event, deltas.ItemGained | deltas.ItemLost) and event.owner == who.id:
            return "items"
        if isinstance(event, deltas.StatusChanged) and event.who == who.id and event.status == "alive":
            return "status"
    return ""


def _distinct(entity: Entity, state: WorldState, text: str) -> list[str]:
    """The names in ``text`` by which a sentence means this character and nobody else, the longest first; parts of names
    too."""
    lowered = text.lower()
    found = {name for name in _parts(entity) if len(name) > 1 and name.lower() in lowered}
    if not found:
        return []  # most of a large cast: nobody else's names need be looked through
    others = {part for each in state.of_kind(Kind.CHARACTER) if each.id != entity.id for part in _parts(each)}
    return sorted(found - others, key=lambda name: (-len(name), name))


_TITLES = frozenset("captain lady lord sir old young mother father the doctor master mistress king queen reeve".split())


def _parts(entity: Entity) -> set[str]:
    """The names of somebody, with the last word of a Korean one, and first and last names of an English one."""
    found = set(entity.names)
    for name in entity.names:
        words = name.split(" ")
        if len(words) < 2:
            continue
        if prose.korean(name):
            found.add(words[-1])
        else:
            found.update(word for word in words if word[:1].isupper() and word.casefold() not in _TITLES)
    return found


def _names(state: WorldState, id_: str) -> tuple[str, ...]:
    entity = state.entities.get(id_)
    return entity.names if entity else ()


def _apart(state: WorldState, one: str, other: str) -> bool:
    """Whether two places are not the same and not next to each other."""
    pair = {one, other}
    return len(pair) == 2 and not any(
        type_ == "ADJACENT" and {source, target} == pair for source, type_, target in state.links
    )


_TRAVEL = re.compile(
    r"따라[왔온오와잡]|뒤쫓|쫓아|뒤따|합류|달려[왔온와]|도착|찾아[왔온와]|되돌아|돌아[왔온와]|먼저 와|앞질"
    r"|순간이동|텔레포트|마차|말을 타"
    r"|\b(?:follow\w*|caught up|catches up|catch up|arriv\w*|join\w*|came after|hurried|returned|teleport\w*"
    r"|rode|rides|ahead of|already there|portal)\b",
    re.I,
)


def _travels(reply: str, state: WorldState, who: str) -> bool:
    """Whether the reply says how somebody came along."""
    return _TRAVEL.search(reply) is not None and any(mentions(reply, name) for name in _names(state, who))


def _leaning(relation: Relation) -> int:
    """-1 for enmity, 1 for friendship, 0 for neither: by the word, else by a strong number."""
    if _HOSTILE.search(relation.type):
        return -1
    if _FRIENDLY.search(relation.type):
        return 1
    return 0 if abs(relation.strength) < _STRONG else (1 if relation.strength > 0 else -1)


def _opposite(old: Relation, new: Relation) -> bool:
    return _leaning(old) * _leaning(new) < 0
