"""The admin API of custody: verifying and repairing, jobs."""

from __future__ import annotations

from aiohttp import web

from saga_core.custody.jobs import list_jobs, retry
from saga_core.custody.verify import repair, verify
from saga_server.handlers import as_json, saga_of, to_its_end
from saga_server.query import known_only, text


def custody_routes() -> list[web.RouteDef]:
    """Every path of custody."""
    return [
        web.get("/api/verify", verify_views),
        web.post("/api/repair", repair_views),
        web.get("/api/jobs", show_jobs),
        web.post("/api/jobs/retry", retry_jobs),
    ]


async def verify_views(request: web.Request) -> web.Response:
    """``GET /api/verify?session={id}``: every view in every store against the journal."""
    known_only(request, "session")
    verdict = await to_its_end(request, verify(saga_of(request), text(request, "session")))
    return as_json(verdict.plain())


async def repair_views(request: web.Request) -> web.Response:
    """``POST /api/repair?session={id}``: verify, mend what can be mended, and verify again."""
    known_only(request, "session")
    session, saga = text(request, "session"), saga_of(request)
    before = await to_its_end(request, verify(saga, session))
    after = await to_its_end(request, repair(saga, before, session)) if before.findings else before
    return as_json({"found": [finding.plain() for finding in before.findings], **after.plain()})


async def show_jobs(request: web.Request) -> web.Response:
    """``GET /api/jobs?session={id}``: the background work that is not done, and what keeps it."""
    known_only(request, "session")
    jobs = await list_jobs(saga_of(request), text(request, "session"))
    return as_json({"jobs": [job.plain() for job in jobs], "stuck": sum(job.stuck for job in jobs)})


async def retry_jobs(request: web.Request) -> web.Response:
    """``POST /api/jobs/retry?session={id}&turn=ID``: try jobs again, now."""
    known_only(request, "session", "turn")
    count = await to_its_end(request, retry(saga_of(request), text(request, "session"), text(request, "turn")))
    return as_json({"retried": count})
