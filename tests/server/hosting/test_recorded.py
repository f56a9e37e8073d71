"""Keys, quotas, use, the audit log and leases that version 18d39bea recorded are read as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from saga_backends.memory import MemoryState
from saga_core.errors import NotFound, QuotaExceeded
from saga_core.stores import Batch
from saga_server.hosting import Quotas
from saga_server.hosting.leases import Lease, read_lease, read_order
from tests.server.hosting.parts import Hands, opened

RECORDED = json.loads(Path(__file__).with_name("access_18d39bea.json").read_text(encoding="utf-8"))
AT = 1_782_000_000.0


async def test_keys_quotas_use_and_the_audit_log() -> None:
    kv = MemoryState()
    await kv.commit(Batch({tuple(key): raw.encode() for key, raw in RECORDED["rows"]}))
    access = opened(kv, server="alone", clock=Hands(AT), shared=False)
    await access.read()
    odile, gone, mina = sorted(access.keys.all(), key=lambda each: each.id)
    secrets = RECORDED["secrets"]
    assert access.keys.find(secrets[mina.id]) == mina and access.keys.find(secrets[gone.id]) is None
    assert access.keys.find(secrets[odile.id]) == access.keys.find(secrets["former"]) == odile
    assert (mina.role, odile.role, gone.role, gone.revoked) == ("player", "chat", "admin", AT)
    assert mina.quotas == Quotas(turns_a_minute=3, tokens_a_day=5_000, dollars_a_day=1.5, sessions=2, bytes=1_000_000)
    use = await access.meter.use(mina.id)
    assert (use.turns, use.turns_in_minute, use.tokens, use.dollars, use.unpriced) == (1, 1, 130, 0.25, 1)
    ((entry,), following) = await access.audit.entries(limit=5)
    assert (entry.what, entry.times, entry.key, following) == ("GET /api/sessions", 2, mina.id, None)
    await access.admit(mina.id, 2)
    with pytest.raises(QuotaExceeded, match="turns_a_minute"):
        await access.admit(mina.id)
    with pytest.raises(NotFound, match="revoked"):
        await access.keys.revoke(gone.id)


def test_leases() -> None:
    assert read_lease(b'{"owner":"a#1","epoch":3}') == Lease("a#1", 3)
    assert read_order(b"17") == 17
