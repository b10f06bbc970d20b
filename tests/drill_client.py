"""A process that has imported all that publishing needs, and publishes in forks of itself, one at a time.

For every line on standard input, a JSON object with `arguments`, `environment` and `output`, it answers with
the id of a new process, waits for any line, lets that process run `benchwright publish`, and answers with its
exit code (negative: the signal that killed it).
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import time
from typing import Any

_SCALE = 200
_sleep = time.sleep
# Before anything keeps hold of it: what clients wait for is the same, and takes no time.
time.sleep = lambda seconds: _sleep(seconds / _SCALE)

# The caches of this process are filled by its imports, and every fork has them.
import benchwright.builders.hub.publish  # noqa: E402, F401
from benchwright.cards import render_card  # noqa: E402
from benchwright.cli import main  # noqa: E402
from benchwright.release import ReleaseFolder  # noqa: E402


def run(job: dict[str, Any]) -> int:
    """`benchwright publish` with what it prints in a file."""
    from huggingface_hub import constants

    os.environ.update(job["environment"])
    tempfile.tempdir = None
    constants.HF_HUB_CACHE = job["environment"]["HF_HUB_CACHE"]
    output = os.open(job["output"], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    return main(["publish", *job["arguments"]])


def warm_up(folder: str) -> None:
    """What every run does once and the same: build the commands, compile the card's templates."""
    with contextlib.redirect_stdout(io.StringIO()):
        main(["publish", "--help"])
    render_card(ReleaseFolder(folder))


def serve() -> None:
    """Until standard input ends; the first argument is a release folder to warm up with."""
    warm_up(sys.argv[1])
    for line in iter(sys.stdin.readline, ""):
        ready, go = os.pipe()
        process = os.fork()
        if process == 0:
            os.read(ready, 1)
            code = 3
            try:
                code = run(json.loads(line))
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        print(process, flush=True)
        sys.stdin.readline()
        os.write(go, b".")
        _, status = os.waitpid(process, 0)
        os.close(ready)
        os.close(go)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve()
