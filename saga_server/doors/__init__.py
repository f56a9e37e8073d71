"""The doors that come with SAGA: an API that clients speak in each module, found by the entry points ``saga.doors``.

They know ``saga_server.http`` alone and not each other: each could be a package of its own.
"""

__all__: list[str] = []
