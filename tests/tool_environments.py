"""Virtual environments for other tools, made once in the cache folder and kept.

They see the packages of the environment that runs the tests; pip adds only what is missing or does not fit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from conftest import USER_CACHE


def tool_python(requirement: str) -> Path:
    """The interpreter of an environment that has `requirement` (`name==version`)."""
    folder = USER_CACHE / "tools" / requirement.replace("==", "-")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # Written last: an installation that was interrupted is made again.
    done = folder / "installed"
    shared = sysconfig.get_path("purelib")
    wanted = f"{requirement}\n{shared}\n"
    if not done.is_file() or done.read_text(encoding="utf-8") != wanted:
        venv.create(folder, clear=True)
        places = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
        # A plain line would add the folder but not what its own .pth files add.
        line = f"import site; site.addsitedir({shared!r})\n"
        (Path(places["purelib"]) / "shared.pth").write_text(line, encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
        subprocess.run([*pip, "--disable-pip-version-check", requirement], check=True)
        done.write_text(wanted, encoding="utf-8")
    return python


def run_tool(
    python: Path, arguments: list[str], folder: Path, environment: dict[str, str] | None = None
) -> str:
    """What a program of the environment prints, started in `folder` with caches of its own.

    Fails with its messages if it ends with an error.
    """
    own = {
        "HF_HOME": str(folder / "hf_home"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "OMP_WAIT_POLICY": "passive",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONPATH": "",
    }
    done = subprocess.run(
        [str(python), *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {}), **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout
