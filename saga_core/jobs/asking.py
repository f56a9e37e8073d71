"""What the jobs share that ask a model about a session and record its answer as a change."""

from __future__ import annotations

from attrs import frozen

from saga_core.background import Foreground, Supervisor
from saga_core.counters import Counters
from saga_core.hosting import Admission
from saga_core.ids import IdSource
from saga_core.jobs.background_bills import BackgroundBills
from saga_core.jobs.views import ViewsJob
from saga_core.model_calls import BeforeCall, Paid
from saga_core.ports import UsagePart
from saga_core.sessions import LiveSession, LiveSessions


@frozen(eq=False, kw_only=True)
class Asking:
    """The model that reads replies, and what its answers are recorded with."""

    upstream: str
    """The name of the provider of the model, which waits for narrations there."""
    model: str
    live: LiveSessions
    supervisor: Supervisor
    views: ViewsJob
    foreground: Foreground
    ids: IdSource
    counters: Counters
    bills: BackgroundBills
    admission: Admission | None = None

    async def give_way(self) -> None:
        """Wait until nobody narrates at the provider."""
        await self.foreground.wait_until_free(self.upstream)

    def admitted(self, live: LiveSession) -> BeforeCall:
        """Return what runs before a call that nobody asked for. It raises ``QuotaExceeded`` if the session's owner may
        have none."""

        async def before_call() -> None:
            await self.give_way()
            if self.admission is not None:
                await self.admission.admit_call(live.session.owner)

        return before_call

    def paid(self, live: LiveSession, turn: str) -> Paid:
        """Return what enters the cost of a call for a turn in the bills."""

        async def enter(part: UsagePart) -> None:
            await self.bills.enter("extraction", live.session.id, turn, part, self.model)

        return enter
