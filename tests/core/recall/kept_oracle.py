"""A second reading of the rules in docs/import.md, written without a look at the engine: slow, plain, and by the page.

It shares nothing with the engine but the dice (``saga_core.world.draw``).
"""

from __future__ import annotations

import re

from saga_core.recall.kept_lore import KeptMoment
from saga_core.world import LoreEntry, draw


def standing_rules(entry: LoreEntry, moment: KeptMoment) -> bool:
    """May the entry be told at all?"""
    rule = entry.rule
    checks = [
        rule.enabled,
        moment.count >= rule.delay,
        moment.replies >= rule.only_after,
        rule.only_every == 0 or (moment.replies + 1) % rule.only_every == 0,
        rule.triggers == () or any(each in moment.triggers for each in rule.triggers),
        rule.only_characters == () or any(each.casefold() in moment.characters for each in rule.only_characters),
        not any(each.casefold() in moment.characters for each in rule.not_characters),
    ]
    if entry.name in moment.told:
        ago = moment.count - moment.told[entry.name]
        checks.append(not rule.not_after_match)
        if rule.cooldown > 0:
            rests_from, rests_to = rule.sticky, rule.sticky + rule.cooldown
            checks.append(ago < rests_from or ago >= rests_to)
    return all(checks)


def found(key: str, text: str, rule) -> bool:
    if key.startswith("/"):
        body, _, flags = key[1:].rpartition("/")
        return re.search(body, text if rule.case_sensitive else text.lower(), re.I if "i" in flags else 0) is not None
    if not rule.case_sensitive:
        key, text = key.lower(), text.lower()
    if not rule.whole_words:
        return key in text
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text) is not None


def matches(entry: LoreEntry, text: str) -> int:
    rule = entry.rule
    if not text or any(found(key, text, rule) for key in rule.exclude_keys):
        return 0
    primary = [key for key in rule.keys if found(key, text, rule)]
    if not primary:
        return 0
    if not rule.second_keys:
        return len(primary)
    second = [key for key in rule.second_keys if found(key, text, rule)]
    if rule.logic == "and_any":
        good = len(second) >= 1
    elif rule.logic == "and_all":
        good = set(second) == set(rule.second_keys)
    elif rule.logic == "not_any":
        good = second == []
    else:
        good = set(second) != set(rule.second_keys)
    return len(primary) + len(second) if good else 0


def told_entries(entries: list[LoreEntry], moment: KeptMoment) -> set[str]:
    """The names of the entries that are told."""
    able = [entry for entry in entries if standing_rules(entry, moment)]
    told: dict[str, LoreEntry] = {}
    gone: set[str] = set()
    spoken: list[str] = []
    spent = 0
    overflown = False
    waiting = sorted({entry.rule.recursion_level for entry in able if entry.rule.recursion_level > 0})
    rounds = 0
    level = 0
    while True:
        wanted: dict[str, tuple[LoreEntry, str, int]] = {}
        for entry in able:
            rule = entry.rule
            if entry.name in told or entry.name in gone or rule.recursion_level > level:
                continue
            if rounds > 0 and rule.no_recursion_into:
                continue
            depth = 2 if rule.scan_depth is None else rule.scan_depth
            text = "\n".join([*moment.messages[:depth], *(spoken if rounds > 0 else [])])
            hits = matches(entry, text)
            last = moment.told.get(entry.name)
            if last is not None and moment.count - last < rule.sticky:
                wanted[entry.name] = (entry, "sticky", hits)
            elif last is not None and rule.keep_after_match:
                wanted[entry.name] = (entry, "kept", hits)
            elif entry.constant:
                wanted[entry.name] = (entry, "constant", hits)
            elif hits:
                wanted[entry.name] = (entry, "key", hits)
        for group in sorted({group for entry, _, _ in wanted.values() for group in entry.rule.groups}):
            rivals = {name: row for name, row in wanted.items() if group in row[0].rule.groups}
            if not rivals:
                continue
            keep = None
            if not any(group in entry.rule.groups for entry in told.values()):
                keep = winner(group, rivals, moment)
            for name in rivals:
                if name != keep:
                    del wanted[name]
                    gone.add(name)
        line = sorted(
            wanted.values(),
            key=lambda row: (
                -(row[0].rule.priority if row[0].rule.priority is not None else 1), -row[0].rule.order, row[0].name
            ),
        )  # fmt: skip
        fresh = []
        for entry, why, _ in line:
            rolled = draw(moment.seed, f"chance:{entry.name}", 100)
            if why in ("constant", "key") and rolled >= entry.rule.probability:
                gone.add(entry.name)
                continue
            if moment.budget is not None:
                cost = moment.tokens(entry.text)
                if not entry.rule.ignore_budget and (overflown or spent + cost > moment.budget):
                    overflown = True
                    continue
                spent += cost
            told[entry.name] = entry
            fresh.append(entry)
        talk = [entry.text for entry in fresh if not entry.rule.no_recursion_from]
        spoken += talk
        if rounds == 0:
            level = waiting.pop(0) if waiting else 0
            if not talk and level == 0:
                return set(told)
        elif not talk:
            if not waiting:
                return set(told)
            level = waiting.pop(0)
        rounds += 1


def winner(group: str, rivals: dict[str, tuple[LoreEntry, str, int]], moment: KeptMoment) -> str:
    stuck = {name: row for name, row in rivals.items() if row[1] == "sticky"}
    rivals = stuck or rivals
    if any(row[0].rule.group_scoring for row in rivals.values()):
        most = max(hits for _, _, hits in rivals.values())
        rivals = {name: row for name, row in rivals.items() if not row[0].rule.group_scoring or row[2] == most}
    strong = sorted((-row[0].rule.order, name) for name, row in rivals.items() if row[0].rule.group_override)
    if strong:
        return strong[0][1]
    names = sorted(rivals)
    weights = [rivals[name][0].rule.group_weight for name in names]
    if sum(weights) == 0:
        return names[0]
    mark = draw(moment.seed, f"group:{group}", sum(weights))
    passed = 0
    for name, weight in zip(names, weights, strict=True):
        passed += weight
        if mark < passed:
            return name
    raise AssertionError("the mark is below the sum")
