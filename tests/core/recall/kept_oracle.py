"""A second reading of the rules in docs/import.md: slow, plain, and with chance and room, which ``lore_page`` has not.

It shares nothing with the engine but the dice (``saga_core.world.draw``).
"""

from __future__ import annotations

import re

from saga_core.recall.lorebook import LoreMoment
from saga_core.world import LoreEntry, draw


def standing_rules(entry: LoreEntry, moment: LoreMoment) -> bool:
    """May the entry be told at all?"""
    rule = entry.rule
    checks = [
        rule.enabled,
        rule.triggers == () or any(each in moment.triggers for each in rule.triggers),
        rule.only_characters == () or any(each.casefold() in moment.characters for each in rule.only_characters),
        not any(each.casefold() in moment.characters for each in rule.not_characters),
    ]
    if entry.name in moment.told:
        checks.append(not rule.not_after_match)
        if rule.keep_after_match:
            return all(checks)
        ago = moment.count - moment.told[entry.name]
        if rule.cooldown > 0:
            rests_from = rule.sticky if rule.sticky % 2 == 0 else rule.sticky + 1
            checks.append(ago < rests_from or ago >= rests_from + rule.cooldown)
    checks += [
        moment.count >= rule.delay,
        moment.replies + 1 >= rule.only_after,
        rule.only_every == 0 or (moment.replies + 1) % rule.only_every == 0,
    ]
    return all(checks)


def found(key: str, text: str, rule) -> bool:
    if key.startswith("/"):
        body, _, flags = key[1:].rpartition("/")
        return re.search(body, text, re.I if "i" in flags else 0) is not None
    if not rule.case_sensitive:
        key, text = key.lower(), text.lower()
    if not rule.whole_words or " " in key:
        return key in text
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text, re.ASCII) is not None


def counted(keys: tuple[str, ...], text: str, rule) -> int:
    return len([key for key in keys if found(key, text, rule)])


def matches(entry: LoreEntry, text: str) -> bool:
    rule = entry.rule
    if counted(rule.exclude_keys, text, rule) or not counted(rule.keys, text, rule):
        return False
    if rule.additional_keys and not counted(rule.additional_keys, text, rule):
        return False
    second = counted(rule.second_keys, text, rule)
    if not rule.second_keys:
        return True
    return {
        "and_any": second >= 1,
        "and_all": second == len(rule.second_keys),
        "not_any": second == 0,
        "not_all": second != len(rule.second_keys),
    }[rule.logic]


def score(entry: LoreEntry, text: str) -> int:
    rule = entry.rule
    first, second = counted(rule.keys, text, rule), counted(rule.second_keys, text, rule)
    if first and (rule.logic == "and_any" or (rule.logic == "and_all" and second == len(rule.second_keys))):
        return first + second
    return first


def told_entries(entries: list[LoreEntry], moment: LoreMoment) -> set[str]:
    """The names of the entries that are told."""
    able = [entry for entry in entries if standing_rules(entry, moment)]
    told: dict[str, LoreEntry] = {}
    gone: set[str] = set()
    spoken: list[str] = []
    spent = 0
    overflown = False
    waiting = sorted({entry.rule.recursion_level for entry in entries if entry.rule.recursion_level > 0})
    rounds = 0
    level = waiting.pop(0) if waiting else 0
    while True:
        wanted: dict[str, tuple[LoreEntry, str, str]] = {}
        for entry in able:
            rule = entry.rule
            last = moment.told.get(entry.name)
            sticky = last is not None and moment.count - last < rule.sticky
            kept = last is not None and rule.keep_after_match
            if entry.name in told or entry.name in gone:
                continue
            if rule.recursion_level > 0 and (rounds == 0 or rule.recursion_level > level) and not (sticky or kept):
                continue
            if rounds > 0 and rule.no_recursion_into:
                continue
            depth = 2 if rule.scan_depth is None else rule.scan_depth
            text = "\n".join([*moment.messages[:depth], *(spoken if rounds > 0 else [])])
            if sticky:
                wanted[entry.name] = (entry, "sticky", text)
            elif kept:
                wanted[entry.name] = (entry, "kept", text)
            elif entry.constant:
                wanted[entry.name] = (entry, "constant", text)
            elif matches(entry, text):
                wanted[entry.name] = (entry, "key", text)
        by_order = sorted(wanted.values(), key=lambda row: (-row[0].rule.order, row[0].name))
        for group in dict.fromkeys(group for entry, _, _ in by_order for group in entry.rule.groups):
            rivals = {name: row for name, row in wanted.items() if group in row[0].rule.groups}
            stay = {name for name, row in rivals.items() if row[1] == "sticky"}
            if rivals and not stay and not any(group in entry.rule.groups for entry in told.values()):
                stay = {winner(group, rivals, moment)}
            for name in rivals:
                if name not in stay:
                    del wanted[name]
        line = sorted(
            wanted.values(),
            key=lambda row: (
                -(row[0].rule.priority if row[0].rule.priority is not None else 1),
                not row[0].constant, -row[0].rule.order, row[0].name,
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
        if not talk:
            if not waiting:
                return set(told)
            level = waiting.pop(0)
        rounds += 1


def winner(group: str, rivals: dict[str, tuple[LoreEntry, str, str]], moment: LoreMoment) -> str:
    if any(row[0].rule.group_scoring for row in rivals.values()):
        scores = {name: score(row[0], row[2]) for name, row in rivals.items()}
        most = max(scores.values())
        rivals = {name: row for name, row in rivals.items() if not row[0].rule.group_scoring or scores[name] == most}
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
