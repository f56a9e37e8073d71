"""A wheel and an environment without a network: what ``pip wheel`` and ``python -m venv`` would give an author."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "docs" / "examples" / "log_store"


def build_wheel(project: Path, into: Path) -> Path:
    """The wheel of a pure Python project, from its pyproject.toml. No build backend is installed offline."""
    said = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = said["name"].replace("-", "_")
    info = f"{name}-{said['version']}.dist-info"
    lines = [f"Metadata-Version: 2.1\nName: {said['name']}\nVersion: {said['version']}"]
    lines += [f"Requires-Dist: {wanted}" for wanted in said["dependencies"]]
    points = [
        f"[{group}]\n" + "\n".join(f"{point} = {place}" for point, place in found.items())
        for group, found in said["entry-points"].items()
    ]
    files = {
        f"{info}/METADATA": ("\n".join(lines) + "\n").encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: template\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": ("\n".join(points) + "\n").encode(),
    }
    for file in sorted((project / name).rglob("*")):
        if file.suffix == ".py" or file.name == "py.typed":
            files[file.relative_to(project).as_posix()] = file.read_bytes()
    record = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    wheel = into / f"{name}-{said['version']}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return wheel


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def make_environment(folder: Path, wheel: Path) -> Path:
    """A new environment that has the wheel, and sees SAGA and its dependencies. Its Python is returned."""
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    python = folder / "bin" / "python"
    places = run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    seen = [str(ROOT), sysconfig.get_path("purelib")]
    (Path(places) / "saga.pth").write_text("\n".join(seen) + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run([*pip, "install", "-q", "--no-index", "--no-deps", str(wheel)])
    return python


def run(command: list[str], *, cwd: Path | None = None, code: int = 0) -> str:
    """What a command prints. Raises ``AssertionError`` when it ends with another code."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
