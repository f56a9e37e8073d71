"""An MdCache that holds many scopes."""

from __future__ import annotations

from conformance.assertions import require, same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import again, as_many_scopes, some, whole
from conformance.inputs import pages


@check("C-2", "C-5", "C-6", durable=("L-11",))
async def scopes(case: Case) -> str:
    """Create as many scopes as the store can in the time of the profile."""
    store = case.store
    names = await as_many_scopes(case, lambda name: store.write(name, pages(name)))
    whole(await store.scopes(), names, f"{len(names)} scopes", clause="C-5")
    for name in some(names):
        same(await store.read(name), pages(name), f"the pages of one of {len(names)} scopes", clause="C-2")
    middle = names[len(names) // 2]
    for gone in (names[-1], middle):
        await store.drop(gone)
        require(await store.read(gone) is None, f"{gone} was dropped but has pages", clause="C-6")
    left = [name for name in names[:-1] if name != middle]
    whole(await store.scopes(), left, f"{len(left)} scopes after two were dropped", clause="C-6")
    store = await again(case)
    whole(await store.scopes(), left, f"{len(left)} scopes, opened again", clause="L-11")
    for name in some(left):
        same(await store.read(name), pages(name), "the pages of one of them, opened again", clause="L-11")
    return f"{len(names)} scopes"
