"""Handlers for keys: list, make, change, rotate and revoke them, describe the caller, and read the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeVar, cast

from aiohttp import web

from saga_core.errors import BadInput, NotSupported
from saga_server.admin import answers
from saga_server.admin.endpoint import in_body, in_query
from saga_server.admin.mounting import to_its_end
from saga_server.admin.parameters import Cursor, GivenQuotas, MaybeBodyText, Part, Text, YesOrNo
from saga_server.admin.reply import filled
from saga_server.http import BEARER, CURRENT, KEY_REQUIRED, SAGA
from saga_server.tenancy import tenancy_of

if TYPE_CHECKING:
    from saga_server.hosting import Access, KeyRecord, Role

K = TypeVar("K", bound=answers.AccessKey)

NEEDS_KEYS = (
    "keys are made where server.api_keys are set: without them everybody on this machine may do everything; set one, "
    "start the server again, and ask with it"
)


async def _access(request: web.Request) -> Access:
    access = await tenancy_of(request.app[SAGA]).bring_in()
    if not access.keys.known:
        await access.read()  # raises StoreError, where a list would be empty
    return access


async def list_keys(request: web.Request, fresh: YesOrNo = False) -> answers.AccessKeys:
    """List all keys, revoked ones too, with today's use. With ``fresh``, what their owners hold is counted now."""
    access = await _access(request)
    return answers.AccessKeys([await _with_use(access, record, fresh=fresh) for record in access.keys.all()])


async def show_key(request: web.Request, key: Part) -> answers.AccessKey:
    """Return one key with today's use."""
    access = await _access(request)
    return await _with_use(access, access.keys.get(key))


async def create_key(
    request: web.Request,
    name: Annotated[str, in_body(remedy="say whose key it is")],
    quotas: GivenQuotas,
    role: MaybeBodyText = None,
    owner: MaybeBodyText = None,
) -> answers.MadeKey:
    """Make a key. Its secret is shown only in this answer."""
    from saga_server.hosting import Quotas, read_quotas

    if not request.app[CURRENT].config.server.api_keys:
        raise NotSupported(NEEDS_KEYS)
    wanted, keys = cast("Role", role or "player"), (await _access(request)).keys
    creating = keys.create(name, wanted, owner=owner or None, quotas=read_quotas(quotas, Quotas()))
    record, secret = await to_its_end(request, creating)
    return _told(answers.MadeKey, record, secret=secret)


async def change_key(
    request: web.Request, key: Part, quotas: GivenQuotas, name: MaybeBodyText = None
) -> answers.AccessKey:
    """Change the name or the quotas of a key. Fields that are not given stay."""
    from saga_server.hosting import read_quotas

    access = await _access(request)
    changing = access.keys.change(key, name=name, quotas=lambda before: read_quotas(quotas, before))
    return await _with_use(access, await to_its_end(request, changing))


async def rotate_key(
    request: web.Request, key: Part, grace: Annotated[float, in_query(example="0", most=2_592_000.0)] = 0.0
) -> answers.MadeKey:
    """Give a key a new secret. It is shown only in this answer. The previous one stays valid for ``grace`` seconds."""
    record, secret = await to_its_end(request, (await _access(request)).keys.rotate(key, grace))
    return _told(answers.MadeKey, record, secret=secret)


async def revoke_key(request: web.Request, key: Part) -> answers.AccessKey:
    """Revoke a key. Its owner's sessions stay."""
    return _told(answers.AccessKey, await to_its_end(request, (await _access(request)).keys.revoke(key)))


async def show_me(request: web.Request) -> answers.Me:
    """Describe the caller, with the quotas and the use of its key."""
    bearer = request[BEARER]
    return answers.Me(
        locked=request[KEY_REQUIRED],
        role=bearer.role,
        owner=bearer.owner,
        key=await _with_use(await _access(request), bearer.record, fresh=False) if bearer.record is not None else None,
    )


async def show_audit(
    request: web.Request,
    limit: Annotated[int, in_query(example="100", least=1, most=1_000)] = 100,
    cursor: Cursor = None,
    key: Text = None,
    session: Text = None,
) -> answers.Audit:
    """Return entries of the audit log, the latest first."""
    access = await _access(request)
    await access.step()  # stores the latest entries, so that they are included
    if cursor is not None and not all(cursor.partition(".")):
        raise BadInput(f"cursor: {cursor[:60]!r} is none; give the next of the answer before, or none")
    found, following = await access.audit.entries(limit=limit, cursor=cursor, key=key, session=session)
    return answers.Audit([filled(answers.AuditRow, each) for each in found], following)


async def _with_use(access: Access, record: KeyRecord, *, fresh: bool = True) -> answers.AccessKey:
    """Return a key with its use. With ``fresh``, what its owner holds is counted now, which reads all of that data."""
    use, holdings = await access.meter.use(record.id), access.meter.holdings
    held = await holdings.bytes(record.owner, fresh=fresh)
    used = filled(
        answers.KeyUse,
        use,
        sessions=await holdings.sessions(record.owner, fresh=fresh),
        bytes=held if holdings.is_weighed(record.owner) else None,
    )
    return _told(answers.AccessKey, record, used)


def _told(answer: type[K], record: KeyRecord, use: answers.KeyUse | None = None, **others: str) -> K:
    return filled(
        answer,
        record,
        revoked=record.revoked or None,
        former_until=record.former_until or None,
        quotas=filled(answers.KeyQuotas, record.quotas),
        use=use,
        **others,
    )
