"""Calls the code of others: plugins, and what an embedding program passes in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from threading import Thread
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")


class Foreign:
    """Around a call of the code of others: whatever it raises arrives as an ``Exception``.

    An exit, an interrupt or a cancellation of its own would end more than the call: the server, or the work of others.
    It becomes an ``Exception`` of the same class name and message, as does an error whose message cannot be read.
    The caller's own cancellation remains what it is, and with ``cancels`` False any: the server may cancel a part.
    """

    def __init__(self, *, cancels: bool = True) -> None:
        self._cancels = cancels

    def __enter__(self) -> None:
        """Begin the call."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or _is_cancelled(error):
            return
        if isinstance(error, GeneratorExit) and (trace is None or trace.tb_next is None):
            return  # raised right here, by the closing of the caller itself
        if isinstance(error, asyncio.CancelledError) and not self._cancels:
            return
        text = _message(error)
        if text is None or not isinstance(error, Exception):
            told = "its message cannot be read" if text is None else text
            raise type(type(error).__name__, (Exception,), {})(told) from error


foreign = Foreign()
exits = Foreign(cancels=False)

_late: set[str] = set()


def in_time(what: str, call: Callable[[], T], seconds: float) -> T:
    """Return what ``call`` of ``what`` gives. It blocks, so that it belongs into a thread, as does the call itself.

    Raises what the call raises, as ``foreign`` does, and ``TimeoutError`` if it does not end within ``seconds``. Such a
    thread cannot be ended. Until it ends, ``what`` is not called again, which raises ``RuntimeError``.
    """
    if what in _late:
        raise RuntimeError(f"{what} has not ended since an earlier call; it is called again when it has")
    found: list[T] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            with foreign:
                found.append(call())
        except Exception as error:  # noqa: BLE001 - raised in the caller's thread
            raised.append(error)
        _late.discard(what)

    thread = Thread(target=copy_context().run, args=(run,), name=f"saga {what}", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        _late.add(what)
        raise TimeoutError(f"{what} did not end within {seconds:g} s")
    for error in raised:
        raise error
    return found[0]


def _is_cancelled(error: BaseException) -> bool:
    """Whether an error is the cancellation of the task that makes the call."""
    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # in a thread without a loop, where nothing is cancelled
        return False
    return task is not None and task.cancelling() > 0


def _message(error: BaseException) -> str | None:
    """The message of an error; None if there is none to be had, or none that UTF-8 can store."""
    try:
        text = str(error)
        text.encode()
    except BaseException:  # noqa: BLE001 - also an exit from within
        return None
    return text
