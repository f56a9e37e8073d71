"""PgBouncer in transaction mode before a server, where it is installed: each transaction may meet another connection.

``SAGA_TEST_PGBOUNCER`` names the program if it is not on the path.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.postgres.real_server import RealServer

PROGRAM = os.environ.get("SAGA_TEST_PGBOUNCER") or shutil.which("pgbouncer")
_NOBODY = 65534


class Pooler:
    """A PgBouncer that gives all its clients ``size`` connections of ``server``."""

    def __init__(self, server: RealServer, size: int = 2) -> None:
        assert PROGRAM is not None
        self._folder = Path(tempfile.mkdtemp(prefix="saga-pooler-"))
        with socket.socket() as line:
            line.bind(("127.0.0.1", 0))
            self.port: int = line.getsockname()[1]
        settings = self._folder / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\npostgres = host=127.0.0.1 port={server.port} user=saga dbname=postgres\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = any\n"
            f"pool_mode = transaction\ndefault_pool_size = {size}\nmax_client_conn = 200\n"
        )
        as_other: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._folder.chmod(0o755)
            as_other = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        self._log = (self._folder / "log").open("wb")
        self._process = subprocess.Popen(
            [PROGRAM, str(settings)], stdout=self._log, stderr=self._log, cwd="/", **as_other
        )
        self._wait()

    @property
    def url(self) -> str:
        """Its address."""
        return f"postgresql://saga@127.0.0.1:{self.port}/postgres"

    def _wait(self) -> None:
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError((self._folder / "log").read_text()) from None
                time.sleep(0.02)

    def remove(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(20)
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)
