"""Threads: quests, promises and plans, from the report of a narrator to what the next prompt says."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput
from saga_core.trackers import Move, read_threads
from tests.core.frontend import Frontend

TRACKERS = {"plans": {"kind": "threads"}, "time": {"kind": "clock", "start": "Monday 08:00"}}


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": TRACKERS})) as opened:
        yield opened


@pytest.fixture
def chat(saga: Saga) -> Frontend:
    return Frontend(saga, greeting="The town wakes.", system="You narrate.", note="")


async def told(chat: Frontend, words: str, block: str) -> str:
    """Play one turn with a block as written; return the context that the next one gets."""
    turn = await chat.begin(words)
    turn.replies[0].feed(f"So it is, {words}\n\n```state\npresent: [Mina]\n{block}\n```")
    (recorded,) = await turn.commit()
    chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": recorded.reply}]
    return (await chat.begin("And now?")).context.text


@pytest.mark.parametrize(
    ("text", "report"),
    [
        ("+Lantern Festival (Saturday 19:00)", ("Lantern Festival", Move.OPEN, "", "Saturday 19:00", "", "")),
        ("+pay the rent (Mina -> Joon, Friday)", ("pay the rent", Move.OPEN, "", "Friday", "Mina", "Joon")),
        (
            "Lantern Festival: lanterns are bought",
            ("Lantern Festival", Move.ADVANCE, "lanterns are bought", "", "", ""),
        ),
        ("Violin ready: (Sunday)", ("Violin ready", Move.OPEN, "", "Sunday", "", "")),
        ("-the debt (paid)", ("the debt", Move.CLOSE, "paid", "", "", "")),
        ("+tune it (Mina -> Joon) (Friday 15:00)", ("tune it", Move.OPEN, "", "Friday 15:00", "Mina", "Joon")),
        ("+tune it (Friday 15:00) (Mina -> Joon)", ("tune it", Move.OPEN, "", "Friday 15:00", "Mina", "Joon")),
        ("tune it (Mina -> Joon)(15:00): late", ("tune it", Move.ADVANCE, "late", "15:00", "Mina", "Joon")),
        ("+dance (Thursday; Mina -> Joon)", ("dance", Move.OPEN, "", "Thursday", "Mina", "Joon")),
        ("+춤（목요일；미나 → 준）", ("춤", Move.OPEN, "", "목요일", "미나", "준")),
        ('the debt: "three paid; two to come"', ("the debt", Move.ADVANCE, '"three paid; two to come"', "", "", "")),
        ("the debt: paid", ("the debt", Move.CLOSE, "paid", "", "", "")),
        ("등불 축제: 완료", ("등불 축제", Move.CLOSE, "완료", "", "", "")),
    ],
)
def test_a_report_opens_advances_and_closes(text: str, report: tuple[str, ...]) -> None:
    (found,) = read_threads([text])
    assert (found.name, found.move, found.text, found.when, found.one, found.other) == report


@pytest.mark.parametrize(
    ("when", "day"),
    [
        ("Wednesday and Thursday", "Day 3, Wednesday"),
        ("Thursday and Tuesday", "Day 4, Thursday"),
        ("Saturday and Sunday", "Day 6, Saturday"),
        ("Sunday or Saturday", "Day 7, Sunday"),
        ("수요일과 화요일", "Day 3, Wednesday"),
        ("水曜と火曜", "Day 3, Wednesday"),
        ("周三和周二", "Day 3, Wednesday"),
    ],
)
async def test_of_two_days_the_first_that_is_named_counts(saga: Saga, chat: Frontend, when: str, day: str) -> None:
    await told(chat, "one", f"plans: [+Mina minds the shop ({when})]")
    assert chat.last is not None
    (row,) = (await saga.views.describe(chat.last.session.id))["threads"]
    assert row["when"] == day


@pytest.mark.parametrize("report", ["time: Sunday 15:00\nplans: {plans}", "plans: {plans}\ntime: Sunday 15:00"])
async def test_a_plan_of_the_report_that_sets_the_clock_is_due_by_that_clock(report: str) -> None:
    trackers = {"plans": {"kind": "threads"}, "time": {"kind": "clock"}}
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": trackers})) as saga:
        chat = Frontend(saga, greeting="The town wakes.", system="You narrate.", note="")
        plans = "[+Mina minds the shop (Tuesday), +fair (Saturday 12:00), +tea (in two hours)]"
        context = await told(chat, "one", report.format(plans=plans))
        assert "[plans, not yet happened; Tuesday] Mina minds the shop" in context and "overdue" not in context
        assert "[plans, not yet happened; Sunday, 17:00] tea" in context
        assert chat.last is not None
        await told(chat, "two", report.replace("Sunday 15:00", "Monday 10:00").format(plans="[+walk (in an hour)]"))
        rows = {row["name"]: row["when"] for row in (await saga.views.describe(chat.last.session.id))["threads"]}
        assert rows["walk"] == "Monday, 11:00"


@pytest.mark.parametrize("text", ["none", "", "+", "null"])
def test_nothing_is_no_thread(text: str) -> None:
    assert not list(read_threads([text]))


async def test_what_is_planned_is_told_while_it_is_near_and_never_as_what_happened(saga: Saga, chat: Frontend) -> None:
    context = await told(
        chat, "We plan.", "plans: [+Lantern Festival (Saturday 19:00), +Return the key (Mina -> Joon)]"
    )
    assert "Lantern Festival" not in context  # more than three days ahead
    assert "[plans] Return the key (Mina → Joon)" in context
    context = await told(chat, "We sleep.", "time: Thursday 09:00\nplans: [Lantern Festival: lanterns are bought]")
    line = "[plans, not yet happened; Day 6, Saturday, 19:00] Lantern Festival: lanterns are bought"
    assert line in context
    state = await saga.views.state(chat.last.session.id if chat.last else "")
    assert not state.happenings
    context = await told(chat, "We wait.", "time: Saturday 21:00\nplans: [-Return the key (done)]")
    assert "[plans, overdue since Day 6, Saturday, 19:00] Lantern Festival" in context, "its hour is past"
    assert "not yet happened" not in context and "Return the key: done (turn 3)" in context
    context = await told(chat, "We wait.", "time: +2 days")
    assert "[plans, overdue since Day 6, Saturday, 19:00] Lantern Festival" in context
    context = await told(chat, "We go.", "plans: [-Lantern Festival]")
    assert "Lantern Festival (turn 5)" in context and "not yet happened" not in context


async def test_an_hour_that_nobody_named_is_not_told(saga: Saga, chat: Frontend) -> None:
    context = await told(chat, "We plan.", "plans: [+Wedding (some Wednesday), +Dinner (Tuesday evening)]")
    assert "Day 3, Wednesday] Wedding" in context and "Day 2, Tuesday, 19:00] Dinner" in context


async def test_later_today_ends_with_the_day(saga: Saga, chat: Frontend) -> None:
    plans = "[+the call (later today), +the ferry (tonight), +the note (at one point), +약속 (오늘 중으로)]"
    context = await told(chat, "We plan.", f"time: Monday 10:00\nplans: {plans}")
    for name, due in (("the call", "Monday"), ("the ferry", "Monday, 22:00"), ("약속", "Monday")):
        assert f"not yet happened; Day 1, {due}] {name}" in context
    assert "not yet happened; at one point] the note" in context
    context = await told(chat, "We wait.", "time: Wednesday 12:00")
    assert (
        "overdue since Day 1, Monday] the call" in context and "overdue since Day 1, Monday, 22:00] the fe" in context
    )


async def test_threads_are_shown_corrected_undone_and_compared(saga: Saga, chat: Frontend) -> None:
    await told(chat, "We plan.", "plans: [+Find the ring]")
    assert chat.last is not None
    id_ = chat.last.session.id
    change = await saga.memory.correct(id_, "tracker", {"tracker": "plans", "value": "+Meet Joon (day 2, 10:00)"})
    found = {row["name"]: row["when"] for row in (await saga.views.describe(id_))["threads"]}
    assert found == {"Find the ring": None, "Meet Joon": "Day 2, Tuesday, 10:00"}
    lines = [row for row in (await saga.memory.lines(id_))["lines"] if row["kind"] == "event"]
    assert [(row["text"], row["by"]) for row in lines] == [("Find the ring", "block"), ("Meet Joon", "edit")]
    await saga.memory.undo(id_, change)
    assert [row["name"] for row in (await saga.views.describe(id_))["threads"]] == ["Find the ring"]
    compared = await saga.timelines.compare(id_, chat.last.session.root, chat.last.parent.id)
    assert [each.subject for each in compared.differences if each.kind == "thread"] == ["Find the ring"]
    await told(chat, "We plan.", "plans: [+coffee (tomorrow 09:00)]")
    compared = await saga.timelines.compare(id_, chat.last.session.root, chat.last.session.head)
    assert ("coffee", "Day 2, Tuesday, 09:00") in [(each.subject, each.other) for each in compared.differences]


async def test_what_is_overdue_is_told_until_it_is_closed(saga: Saga, chat: Frontend) -> None:
    await told(chat, "one", "plans:\n- +Lantern Festival (Tuesday 19:00)\n- +Return the key")
    assert "overdue since" in await told(chat, "two", "time: +5 days")
    assert "[plans, overdue since" not in await told(chat, "three", "plans: [-Lantern Festival (held)]")


async def test_what_is_overdue_for_a_week_is_listed_and_no_longer_told(saga: Saga, chat: Frontend) -> None:
    await told(chat, "one", "plans: [+sleeper train (Tuesday 21:40), +market (Wednesday)]")
    context = await told(chat, "two", "time: Tuesday 21:39")
    assert "not yet happened; Day 2, Tuesday, 21:40] sleeper" in context
    context = await told(chat, "three", "time: Wednesday 23:00")
    assert "overdue since Day 2, Tuesday, 21:40] sleeper" in context
    assert "not yet happened; Day 3, Wednesday] market" in context, "a day is past when it is over"
    context = await told(chat, "four", "time: Thursday 00:10")
    assert "overdue since Day 3, Wednesday] market" in context and "not yet" not in context
    assert "sleeper" in await told(chat, "five", "time: day 9, 21:30")
    assert "sleeper" not in (context := await told(chat, "six", "time: day 9, 21:50")) and "market" in context
    assert chat.last is not None
    lines = (await saga.memory.lines(chat.last.session.id))["lines"]
    told_of = {row["scheduled"]["name"]: row["scheduled"]["told"] for row in lines if row["kind"] == "event"}
    assert told_of["sleeper train"] == "overdue since Day 2, Tuesday, 21:40"


@pytest.mark.parametrize(
    ("name", "told_as"),
    [
        ("Dinner with Mara at the inn", "Dinner with Mara"),
        ("Mara's debt", "Mara's debt to the miller (paid)"),
        ("미나와 여관에서 저녁 식사", "저녁 식사"),
        ("ミナと宿で夕食", "宿で夕食"),
        ("和米娜在旅店吃晚饭", "吃晚饭"),
    ],
)
async def test_a_shorter_or_longer_name_that_fits_one_open_plan_only_is_its_name(
    saga: Saga, chat: Frontend, name: str, told_as: str
) -> None:
    assert f"[plans] {name}" in await told(chat, "one", f"plans: [+{name}, +Return the key]")
    assert f"[plans] {name}: so it is" in await told(chat, "two", f"plans: ['{told_as.partition(' (')[0]}: so it is']")
    assert "[plans] Return the key" in (context := await told(chat, "three", f"plans: [-{told_as}]"))
    assert f"[plans] {name}" not in context and chat.last is not None
    assert not (await saga.views.state(chat.last.session.id)).problems


@pytest.mark.parametrize(
    ("name", "other", "told_as"),
    [
        ("Burial of Anselm at the Franciscans", "Tell Teo the truth after Anselm's burial", "Burial of Anselm"),
        ("안셀름의 장례식 참석", "테오에게 안셀름의 장례식 뒤에 진실을 말하기", "안셀름의 장례식"),
    ],
)
async def test_of_two_plans_with_the_words_the_one_that_begins_with_them_is_closed(
    saga: Saga, chat: Frontend, name: str, other: str, told_as: str
) -> None:
    assert f"[plans] {name}" in await told(chat, "one", f"plans: [+{name}, +{other}]")
    context = await told(chat, "two", f"plans: [-{told_as} (done)]")
    assert f"[plans] {name}" not in context and f"[plans] {other}" in context and chat.last is not None
    assert not (await saga.views.state(chat.last.session.id)).problems


async def test_a_plan_that_is_closed_under_a_name_that_does_not_fit_is_a_problem(saga: Saga, chat: Frontend) -> None:
    await told(chat, "one", "plans: [+Dinner with Mara, +Dinner with Osric]")
    assert "Dinner with Mara" in (context := await told(chat, "two", "plans: [-Dinner, -the regatta]"))
    assert "Dinner with Osric" in context and chat.last is not None
    problems = (await saga.views.state(chat.last.session.id)).problems
    assert [each.text for each in problems] == [
        "state block: plans: 'Dinner' fits 2 of what is open",
        "state block: plans: 'the regatta' fits none of what is open",
    ]


@pytest.mark.parametrize(
    ("when", "passes", "shown"),
    [
        ("tomorrow 09:00", "time: Tuesday 08:30", "Day 2, Tuesday, 09:00"),
        ("Friday 20:00", "time: Saturday 04:40", "Day 5, Friday, 20:00"),
    ],
)
async def test_other_words_for_a_plan_leave_its_time(
    saga: Saga, chat: Frontend, when: str, passes: str, shown: str
) -> None:
    await told(chat, "one", f"plans: [+coffee ({when}, Mina -> Joon)]")
    await told(chat, "two", passes)
    await told(chat, "three", "time: +15m")
    assert chat.last is not None
    id_ = chat.last.session.id
    (line,) = [each for each in (await saga.memory.lines(id_))["lines"] if each["kind"] == "event"]
    assert line["scheduled"]["when"] == shown, "a relative time says nothing on another day"
    edit = {"name": "coffee", "text": "two cups"}
    preview = await saga.memory.preview(id_, "event", edit)
    assert preview["effect"][0]["is"]["scheduled"]["when"] == shown and preview["turn"] == 2  # kept by a swipe
    await saga.memory.correct(id_, "event", edit)
    assert f"{shown}] coffee (Mina → Joon): two cups" in (await chat.begin("And now?")).context.text
    await saga.memory.correct(id_, "event", {**edit, "when": "Sunday 10:00"})
    (line,) = [each for each in (await saga.memory.lines(id_))["lines"] if each["kind"] == "event"]
    assert line["scheduled"]["when"] == "Day 7, Sunday, 10:00"
    await saga.memory.correct(id_, "event", {**edit, "when": "-"})
    assert "[plans] coffee (Mina → Joon): two cups" in (await chat.begin("And now?")).context.text


@pytest.mark.parametrize("edited", [True, False])
async def test_what_will_not_happen_is_not_told_as_what_has_happened(saga: Saga, chat: Frontend, edited: bool) -> None:
    await told(chat, "one", "plans: [+tell Rafe]")
    assert chat.last is not None
    id_ = chat.last.session.id
    if edited:  # by hand it is an event of its own, whose end the story knows if somebody says that it came
        await saga.memory.correct(id_, "event", {"name": "picnic"})
    name = "picnic" if edited else "tell Rafe"
    change = await saga.memory.correct(id_, "close", {"event": name, "outcome": "cancelled"})
    assert name not in (await chat.begin("And now?")).context.text
    assert not (await saga.views.state(id_)).happenings
    await saga.memory.undo(id_, change)
    await saga.memory.correct(id_, "close", {"event": name, "outcome": "happened"})
    assert [each.name for each in (await saga.views.state(id_)).happenings] == [name]
    with pytest.raises(BadInput, match="give happened or cancelled"):
        await saga.memory.correct(id_, "close", {"event": name, "outcome": "perhaps"})


async def test_a_time_in_the_list_of_changes_is_a_time(saga: Saga, chat: Frontend) -> None:
    await told(chat, "one", "time: Monday 09:00")
    assert chat.last is not None
    id_ = chat.last.session.id
    for value in ("Sunday 06:00", "+90m", "-1h"):
        await saga.memory.correct(id_, "tracker", {"tracker": "time", "value": value})
    shown = [event["shown"] for each in await saga.memory.changes(id_) for event in each["events"]]
    assert shown == ["Day 7, Sunday, 06:00", "+1:30", "-1:00"]


async def test_a_day_of_a_week_that_nobody_knows_is_told_as_it_was_said() -> None:
    clock = {"plans": {"kind": "threads"}, "time": {"kind": "clock", "start": "day 1, 18:00"}}
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": clock})) as saga:
        chat = Frontend(saga, greeting="The town wakes.", system="You narrate.", note="")
        told_of = await told(chat, "We plan.", "plans: [+feast (Saturday 19:00), +supper (day 2, Sunday 20:00)]")
    assert "[plans, not yet happened; Saturday 19:00] feast" in told_of
    assert "[plans, not yet happened; Day 2, 20:00] supper" in told_of


async def test_an_event_waits_for_its_day_and_hour(saga: Saga, chat: Frontend) -> None:
    await told(chat, "one", "time: Monday 09:00")
    assert chat.last is not None
    id_ = chat.last.session.id
    fields = {"name": "picnic", "when": "Wednesday 12:00", "who": "Mina"}
    await saga.memory.correct(id_, "event", fields)
    assert "[due] picnic" not in (await chat.begin("And now?")).context.text
    await told(chat, "two", "time: Wednesday 11:00")
    await saga.memory.correct(id_, "event", {"name": "picnic", "text": "on the point", "who": "Mina"})
    (waiting,) = [
        row for row in (await saga.views.why_untold(id_, "picnic on the point"))["found"] if row["kind"] == "event"
    ]
    assert waiting["waits"]["time"] == "Day 3, Wednesday, 12:00"
    assert "[due] picnic" not in (await chat.begin("And now?")).context.text
    assert "[due] picnic: on the point" in await told(chat, "three", "time: Wednesday 12:10")
    with pytest.raises(BadInput, match="past by the story's clock"):
        await saga.memory.correct(id_, "event", {"name": "tea", "when": "day 1, 09:00"})
    with pytest.raises(BadInput, match="no time of the story's clock"):
        await saga.memory.correct(id_, "event", {"name": "tea", "when": "some day"})
    await saga.memory.correct(id_, "undeclare", {"tracker": "time"})
    with pytest.raises(BadInput, match="the story has no clock"):
        await saga.memory.correct(id_, "event", {"name": "tea", "when": "Friday"})


async def test_a_plan_that_is_renamed_is_told_under_its_new_name(saga: Saga, chat: Frontend) -> None:
    await told(chat, "one", "plans: [+Violin ready (Saturday)]")
    assert chat.last is not None
    id_ = chat.last.session.id
    await saga.memory.correct(id_, "rename", {"who": "Violin ready", "name": "Violin mended"})
    for _ in range(2):
        (event,) = (await saga.views.state(id_)).schedule.values()
        assert event.name == "Violin mended"
        await told(chat, "two", "plans: [Violin ready (Sunday)]")


async def test_an_overdue_plan_is_shown_as_overdue_and_moving_it_is_seen() -> None:
    trackers = {"plans": {"kind": "threads"}, "time": {"kind": "clock"}}
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": trackers})) as saga:
        chat = Frontend(saga, greeting="The town wakes.", system="You narrate.", note="")
        await told(chat, "one", "time: Monday 08:00\nplans: [+Stitches (Tuesday 09:00)]")
        assert chat.last is not None
        id_ = chat.last.session.id

        async def shown() -> list[str]:
            lines = (await saga.memory.lines(id_))["lines"]
            return [row["scheduled"]["told"] for row in lines if row["kind"] == "event"]

        async def moved(when: str) -> list[str]:
            fields = {"name": "Stitches", "when": when}
            effect = (await saga.memory.preview(id_, "event", fields))["effect"]
            await saga.memory.correct(id_, "event", fields)
            return [row["is"]["scheduled"]["told"] for row in effect]

        assert await shown() == ["Tuesday, 09:00"]
        assert await moved("in 8 days at 09:00") == ["Tuesday, 09:00, in 8 days"] == await shown()
        assert await moved("Tuesday 09:00") == ["Tuesday, 09:00"] == await shown()
        await told(chat, "two", "time: Friday 10:00")
        assert await shown() == ["overdue since Tuesday, 09:00"]
        assert await moved("next Tuesday 09:00") == ["Tuesday, 09:00"] == await shown()


@pytest.mark.parametrize(
    ("clock", "late", "early", "when"),
    [("time", "day 4 08:00", "day 2 08:00", "day 3 12:00"), ("시각", "4일째 8:00", "2일째 8:00", "3일째 12:00")],
)
async def test_what_is_added_is_judged_by_what_is_shown_and_outlasts_the_last_reply_where_it_can(
    clock: str, late: str, early: str, when: str
) -> None:
    trackers = {clock: {"kind": "clock", "start": "day 1 08:00"}}
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": trackers})) as saga:
        chat = Frontend(saga, greeting="The town wakes.", system="You narrate.", note="")
        await told(chat, "one", f"{clock}: {late}")
        await told(chat, "two", "notes: The bell rings")
        assert chat.last is not None
        id_ = chat.last.session.id
        await saga.memory.correct(id_, "tracker", {"tracker": clock, "value": early}, "2")
        plan = {"name": "The fair", "when": when}
        shown = (await saga.memory.preview(id_, "event", plan, kept=True))["effect"]
        assert [row["is"]["text"] for row in shown] == ["The fair"]
        change = await saga.memory.correct(id_, "event", plan, kept=True)
        (made,) = [each for each in await saga.memory.changes(id_) if each["id"] == change]
        assert made["turn"] == 1, "before the last reply"
        (line,) = [each for each in (await saga.memory.lines(id_))["lines"] if each["kind"] == "event"]
        assert line["scheduled"]["when"].endswith("12:00")
        with pytest.raises(BadInput, match="is past by the story's clock"):
            await saga.memory.correct(id_, "event", {"name": "Late", "when": "day 1 12:00"}, kept=True)

        note = await saga.memory.correct(id_, "note", {"text": "It snows."}, kept=True)
        (made,) = [each for each in await saga.memory.changes(id_) if each["id"] == note]
        assert made["turn"] == 1


@pytest.mark.parametrize("said", ["null", "[]", "none", "unchanged", "없음"])
async def test_a_tracker_of_a_person_that_is_left_empty_is_no_fault_whoever_is_here(said: str) -> None:
    trackers = {
        "affection": {"kind": "meter"},
        "jealousy": {"kind": "number", "for": "character"},
        "outfit": {"kind": "text", "for": "character"},
        "habits": {"kind": "list", "for": "character"},
    }
    async with Saga.open(load_config({"storage": {"profile": "memory"}, "trackers": trackers})) as saga:
        chat = Frontend(saga, greeting="The town wakes.", system="You narrate.", note="")
        fields = "\n".join(f"{name}: {said}" for name in trackers)
        await told(chat, "one", f"present: [Mina, Joon]\n{fields}")
        assert chat.last is not None
        assert not (await saga.views.state(chat.last.session.id)).problems
        await told(chat, "two", "present: [Mina, Joon]\njealousy: +5")
        (problem,) = (await saga.views.state(chat.last.session.id)).problems
        assert "jealousy: '+5' does not say whose it is" in problem.text


@pytest.mark.parametrize(
    ("plan", "due"),
    [
        ("supper (tomorrow at seven)", "Day 2, Tuesday, 19:00"),
        ("tea (Wednesday, half past three)", "Day 3, Wednesday, 15:30"),
        ("breakfast (tomorrow at seven)", "Day 2, Tuesday, 07:00"),
        ("walk (tomorrow at nine)", "Day 2, Tuesday, 09:00"),
        ("evening walk (tomorrow at nine)", "Day 2, Tuesday, 21:00"),
        ("walk (tomorrow at three)", "Day 2, Tuesday, 15:00"),
        ("supper (tomorrow at seven in the morning)", "Day 2, Tuesday, 07:00"),
        ("supper (tomorrow 07:00)", "Day 2, Tuesday, 07:00"),
        ("repay Jules (Friday week)", "Day 12, Friday"),
        ("repay Jules (a week from Friday, 19:00)", "Day 12, Friday, 19:00"),
        ("the ball (tomorrow week)", "Day 9, Tuesday"),
        ("the ball (in a week)", "Day 8, Monday"),
        ("repay Jules (next day 08:00)", "Day 2, Tuesday"),
        ("repay Jules (market day 14:00)", "Day 1, Monday, 14:00"),
        *((f"빚 ({when})", "Day 17, Wednesday") for when in ("17일", "17일까지", "17일에", "17일, 장날")),
        *(
            (f"빚 ({when})", "Day 18, Thursday")
            for when in ("17일 뒤", "17일 안에", "17일 이내", "+17일", "보름 이틀 뒤")
        ),
        *(
            (f"借金 ({when})", "Day 17, Wednesday")
            for when in ("17日", "17日まで", "17日までに", "17日に", "17号", "17日之前")
        ),
        *((f"借金 ({when})", "Day 18, Thursday") for when in ("17日後", "17日以内", "17天后", "17天", "17日内")),
        ("만찬 (내일 일곱 시)", "Day 2, Tuesday, 19:00"),
        ("산책 (내일 3시)", "Day 2, Tuesday, 15:00"),
        ("夕食 (明日七時半)", "Day 2, Tuesday, 19:30"),
        ("晚饭 (明天七点)", "Day 2, Tuesday, 19:00"),
        ("早饭 (明天七点)", "Day 2, Tuesday, 07:00"),
    ],
)
async def test_a_plan_is_due_at_the_hour_that_its_words_mean(saga: Saga, chat: Frontend, plan: str, due: str) -> None:
    await told(chat, "one", f"plans: [+{plan}]")
    assert chat.last is not None
    (row,) = (await saga.views.describe(chat.last.session.id))["threads"]
    assert row["when"].removesuffix(", 08:00") == due


@pytest.mark.parametrize(
    ("when", "due"),
    [
        ("20일", "Day 20, Saturday"),
        ("14일까지", "Day 14, Sunday"),
        ("14일", "Day 31, Wednesday"),
        ("17일", "Day 17, Wednesday"),
    ],
)
async def test_a_day_without_a_length_is_one_to_come_unless_it_is_said_to_be_the_last(
    saga: Saga, chat: Frontend, when: str, due: str
) -> None:
    await told(chat, "one", f"time: day 17 08:00\nplans: [+빚을 갚는다 ({when})]")
    assert chat.last is not None
    (row,) = (await saga.views.describe(chat.last.session.id))["threads"]
    assert row["when"].partition(" (")[0].removeprefix("overdue: ") == due


@pytest.mark.parametrize(
    ("said", "due"),
    [("a few hours later", "11:00"), ("몇 시간 뒤", "11:00"), ("数時間後", "11:00"), ("几个小时后", "11:00")],
)
async def test_a_few_hours_move_the_clock(saga: Saga, chat: Frontend, said: str, due: str) -> None:
    assert due in await told(chat, "one", f"time: {said}")


@pytest.mark.parametrize(
    ("plans", "names"),
    [
        ("[+tell Mina, with a cake (Tuesday 18:00)]", ["tell Mina, with a cake"]),
        ("[+Mr. Grubb's next delivery, cash (Tuesday)]", ["Mr. Grubb's next delivery, cash"]),
        ("[+buy flour, and feed the cat (Tuesday), +sleep]", ["buy flour, and feed the cat", "sleep"]),
        ("[+Buy flour, Feed the cat (Tuesday)]", ["Buy flour", "Feed the cat"]),
        ("[+buy flour (Tuesday), feed the cat]", ["buy flour", "feed the cat"]),
        ('["+buy flour", "feed the cat"]', ["buy flour", "feed the cat"]),
        ("[buy flour, feed the cat]", ["buy flour", "feed the cat"]),
        ("[+dance (Tuesday; Mina -> Joon), +sleep; +eat]", ["dance", "sleep", "eat"]),
        ('[+빚을 갚는다: "여덟 냥 갚음, 넉 냥 남음" (20일), +쉰다]', ["빚을 갚는다", "쉰다"]),
        ("[+pay: “eight paid, four to come” (Tuesday)]", ["pay"]),
        ("[+buy flour, the debt: half is paid]", ["buy flour", "the debt"]),
        ("[+빵을 굽는다, 딸기를 넣어서 (화요일)]", ["빵을 굽는다, 딸기를 넣어서"]),
    ],
)
async def test_a_comma_without_quotes_makes_no_second_thread(
    saga: Saga, chat: Frontend, plans: str, names: list[str]
) -> None:
    await told(chat, "one", f"plans: {plans}")
    assert chat.last is not None
    rows = (await saga.views.describe(chat.last.session.id))["threads"]
    assert [row["name"] for row in rows] == names


async def test_news_with_a_comma_are_one_text(saga: Saga, chat: Frontend) -> None:
    await told(chat, "one", "plans: [tell Mina about the cat: together, with a cake (Tuesday 18:00)]")
    assert chat.last is not None
    (row,) = (await saga.views.describe(chat.last.session.id))["threads"]
    assert (row["name"], row["text"]) == ("tell Mina about the cat", "together, with a cake")
    assert row["when"] == "Day 2, Tuesday, 18:00"


async def test_a_person_in_parentheses_owes_it_and_is_no_time(saga: Saga, chat: Frontend) -> None:
    await told(chat, "a", "npc_met: [Mina]")
    now = await told(chat, "b", "plans: [+Ask Tansy (Mina), +Burn it (Tuesday, Player), +Dance (Wednesday)]")
    assert "Ask Tansy (Mina)" in now and "not yet happened; Mina" not in now
    assert "Burn it (Player)" in now and "Tuesday" in now and "Dance (" not in now


@pytest.mark.parametrize(
    ("when", "is_relative"),
    [
        ("day after tomorrow", True),
        ("tonight", True),
        ("in two days", True),
        ("next week", True),
        ("모레", True),
        ("明後日", True),
        ("三天后", True),
        ("17일", False),
        ("17日まで", False),
        ("Saturday 19:00", False),
        ("when Mina returns", False),
        ("after the war", False),
    ],
)
async def test_without_a_clock_a_time_from_now_is_told_with_the_turn_that_said_it(when: str, is_relative: bool) -> None:
    async with Saga.open(
        load_config({"storage": {"profile": "memory"}, "trackers": {"plans": {"kind": "threads"}}})
    ) as saga:
        chat = Frontend(saga, greeting="The town wakes.", system="You narrate.", note="")
        assert f"[plans, not yet happened; {when}] sail" in await told(chat, "one", f"plans: [+sail ({when})]")
        late = f"[plans, {when} (turn 1)] sail" if is_relative else f"[plans, not yet happened; {when}] sail"
        assert late in await told(chat, "two", "notes: The next morning dawns")
        for number in range(24):
            text = await told(chat, f"day {number}", "hp: 90")
        assert ("] sail" in text) is not is_relative
