"""The form of a state block that the narrator is shown. The slots in braces are filled with words of each language."""

from __future__ import annotations

import re

FORM = """\
```state
location: <{place}>
location_moved: <true|false>
present: [<{name}>, <{name}>]
hp_change: <-15|0|+5>
items_gained: [<{item}>, <{item}> x2]
items_lost: []
items_transferred: [{{item: <{item}>, from: <{name}>, to: <{name}>}}]
npc_met: [<{name}>]
npc_separated: []
relationship_changes: [{{from: <{name}>, to: <{name}>, type: hostile, delta: -2}}]
status_changes: [{{name: <{name}>, status: dead}}]
mood: <{mood}>
event_trigger: null
notes: <{notes}>
```"""

_LINE = re.compile(r"^(?P<field>\w+): (?P<value>.*)$", re.M)
_SLOT = re.compile(r"<\{(\w+)\}>")
SLOTS = {found["field"]: tuple(dict.fromkeys(_SLOT.findall(found["value"]))) for found in _LINE.finditer(FORM)}
"""The slots in the line of each field."""
