"""Methods that the engine had itself are where the table says, and are reached by their old names with a note."""

from __future__ import annotations

from operator import attrgetter

import pytest

from saga_core import Saga
from saga_core.moved import MOVED
from tests.core.frontend import memory_config


async def test_every_old_name_leads_to_what_it_was() -> None:
    async with Saga.open(memory_config()) as saga:
        for old, path in MOVED.items():
            with pytest.warns(DeprecationWarning, match=path.replace(".", r"\.")):
                found = getattr(saga, old)
            assert found == attrgetter(path)(saga), old
        with pytest.raises(AttributeError, match="nothing_of_that_name"):
            saga.nothing_of_that_name  # noqa: B018 - it is the reading that counts
