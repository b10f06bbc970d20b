"""Publishing a small release again and again from the same start, each time disturbed in another way."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hub_environment import PORT
from hub_server import Fault, HubServer, Record, RepositoryView, Settings, token_of
from hub_server.faults import Hook
from tampering import change_manifest

from benchwright.builders.build import split
from benchwright.cards import write_card
from benchwright.release import ReleaseFolder

REPO = "acme/drill"
READS = int(os.environ.get("BENCHWRIGHT_DRILL_READS", "6"))
"""One of so many requests that only read is disturbed; with 1, every request is."""
_IDLE = 0.01
_PATIENCE = 60
Tree = Mapping[str, bytes]
_TESTS = Path(__file__).resolve().parent
_UPLOAD = re.compile(r"/lfs/objects/")


class Client:
    """A process that runs `benchwright publish`; see `drill_client`."""

    def __init__(self, folder: Path, xet: bool) -> None:
        environment = {
            **os.environ,
            "HF_HOME": str(folder.parent / "hf_home"),
            "HF_TOKEN": token_of("alice"),
            "HF_HUB_DISABLE_XET": "0" if xet else "1",
            # hf-xet waits by itself, for 3 seconds and more between its own attempts.
            "HF_XET_CLIENT_RETRY_BASE_DELAY": "10ms",
            "HF_XET_CLIENT_RETRY_MAX_ATTEMPTS": "2",
            "PYTHONUNBUFFERED": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, str(_TESTS / "drill_client.py"), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.running: int | None = None

    def publish(self, arguments: list[str], environment: Mapping[str, str], output: Path) -> int:
        """The exit code; negative where a signal ended the process."""
        job = {"arguments": arguments, "environment": dict(environment), "output": str(output)}
        self._say(json.dumps(job))
        self.running = self._hear()
        self._say("go")
        code = self._hear()
        self.running = None
        return code

    def kill(self) -> None:
        """End the publishing process as a power failure would."""
        process = self.running
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _hear(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@dataclass(frozen=True)
class Scene:
    """Where a drill begins: what the server holds (`root`) and the release folder to publish.

    `old` and `new` are the files of main before and after (None: there is no repository); `tags` the trees
    of every version that may have a tag; `requests` those of a run that nothing disturbs.
    """

    name: str
    xet: bool
    root: Path
    folder: Path
    old: Tree | None
    new: Tree
    tags: Mapping[str, Tree]
    requests: tuple[Record, ...]

    @property
    def writes(self) -> list[int]:
        """Numbers of the requests that may change something."""
        return [n for n, one in enumerate(self.requests, start=1) if one.method not in ("GET", "HEAD")]

    @property
    def turning(self) -> list[int]:
        """Those of them that do more than store or check the content of one file."""
        return [n for n in self.writes if "/lfs/" not in self.requests[n - 1].path]

    @property
    def commit(self) -> int:
        """The number of the request that makes the commit."""
        return next(n for n, one in enumerate(self.requests, start=1) if "/commit/" in one.path)

    @property
    def sent(self) -> int:
        """The number of the last request before the commit and the check of its card."""
        return next(n for n, one in enumerate(self.requests) if "/validate-yaml" in one.path)

    @property
    def steps(self) -> list[int]:
        """Numbers of the requests to disturb: all that write, and some of the many that only read."""
        reads = [n for n in range(1, len(self.requests) + 1) if n not in self.writes]
        return sorted([*self.writes, *reads[::READS]])


class Drill:
    """One run from the start of a scene: a server of its own, and a copy of the folder."""

    def __init__(self, scene: Scene, place: Path, client: Client) -> None:
        self.scene, self.place, self.client = scene, place, client
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(scene.root, place / "hub")
        self.folder = Path(shutil.copytree(scene.folder, place / "drill"))
        self.server = HubServer(place / "hub", PORT, Settings(xet=scene.xet))
        self.view = RepositoryView(self.server.hub, REPO)

    def __enter__(self) -> Drill:
        self.server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.__exit__(*error)
        assert not self.server.crashes, "\n".join(self.server.crashes)

    def publish(self) -> tuple[int, str]:
        """The exit code, and what was printed."""
        output = self.place / "output.txt"
        output.unlink(missing_ok=True)
        (self.place / "tmp").mkdir(exist_ok=True)
        environment = {
            "HF_HUB_CACHE": str(self.place / "hf"),
            "BENCHWRIGHT_CACHE": str(self.place / "cache"),
            "TMPDIR": str(self.place / "tmp"),
        }
        arguments = [str(self.folder), "--repo", REPO, "--create", "--no-load"]
        code = self.client.publish(arguments, environment, output)
        return code, output.read_text(encoding="utf-8") if output.exists() else ""

    def settle(self) -> None:
        """Wait until the server has answered what a client that is gone had asked."""
        end = time.monotonic() + _PATIENCE
        while self.server.busy:
            assert time.monotonic() < end, "a client that was to be gone is still connected"
            time.sleep(_IDLE)

    def fail(self, request: int, status: int | None, **options: object) -> None:
        """As `RunningHub.fail`; without a status the connection is closed."""
        self.server.faults.add(Fault(request=request, status=status, **options))  # type: ignore[arg-type]

    def before(self, request: int, callback: Callable[[], object]) -> None:
        """As `RunningHub.hook`."""
        self.server.faults.add(Hook(request=request, callback=callback))

    def tree(self) -> Tree | None:
        """The files of main; None without a repository."""
        return self.view.files() if self.view.exists() else None

    def mixed(self) -> list[str]:
        """What is neither old nor new: the files of main, a tag at less than its version."""
        wrong = []
        tree, old = self.tree(), self.scene.old
        is_old = tree == old or (old is None and tree is not None and set(tree) <= {".gitattributes"})
        if not is_old and tree != self.scene.new:
            wrong.append("main is neither old nor new")
        for tag in self.view.tags() if tree is not None else ():
            if self.view.files(tag) != self.scene.tags.get(tag):
                wrong.append(f"tag {tag} is not at its version")
        return wrong

    def unfinished(self) -> list[str]:
        """Where things stand otherwise than after a run that nothing disturbed."""
        if self.tree() != self.scene.new:
            return ["main is not the new version"]
        wrong = []
        if set(self.view.tags()) != set(self.scene.tags):
            wrong.append(f"tags are {sorted(self.view.tags())}")
        titles = [commit.title for commit in self.view.commits() if commit.title.startswith("Publish ")]
        if titles != [f"Publish {tag}" for tag in sorted(self.scene.tags, reverse=True)]:
            wrong.append(f"commits are {titles}")
        for name in ("manifest.json", "README.md"):
            if (self.folder / name).read_bytes() != self.scene.new[name]:
                wrong.append(f"the folder's {name} is not the published one")
        return wrong + self.sent_twice()

    def sent_twice(self) -> list[str]:
        """Large files whose bytes the server took more than once."""
        taken = Counter(
            record.path
            for record in self.server.requests
            if record.method == "PUT" and record.status == 200 and _UPLOAD.search(record.path)
        )
        return [f"{path} was sent {count} times" for path, count in taken.items() if count > 1]


def write_source(path: Path, changed: bool) -> Path:
    """60 rows of text; in the changed one a row says something else."""
    rows = [f"{n},The {'very ' * (n % 5)}small sentence {n}." for n in range(60)]
    if changed:
        rows[17] = "17,Another very large sentence."
    path.write_text("\n".join(["id,text", *rows]) + "\n", encoding="utf-8")
    return path


def build(place: Path, changed: bool) -> Path:
    """A release of few small files: no labels, so no exports; no figures and analyses.

    The changed one has another row, a validation split more and a config less.
    """
    place.mkdir(parents=True)
    source = write_source(place / "rows.csv", changed)
    out = place / "drill"
    by = ["random"] if changed else ["random", "length"]
    split(source, text="text", id="id", out=out, by=by, validation=0.2 if changed else 0, test=0.2)
    for name in ("figures", "analyses"):
        shutil.rmtree(out / name, ignore_errors=True)
    write_card(out)
    for name in ("figures", "analyses"):
        shutil.rmtree(out / name, ignore_errors=True)
    return out


def first_scene(place: Path, client: Client, folder: Path, xet: bool) -> Scene:
    """A release that was never published, and a Hub without a repository."""
    root = place / "root"
    root.mkdir(parents=True)
    return _undisturbed("first", place, client, Scene("first", xet, root, folder, None, {}, {}, ()))


def update_scene(place: Path, client: Client, first: Scene, folder: Path) -> Scene:
    """The next version of what was published first: files are added, changed and removed."""
    root = place / "root"
    with Drill(first, place / "before", client) as drill:
        code, said = drill.publish()
        assert code == 0, said
    shutil.copytree(place / "before" / "hub", root)
    published = ReleaseFolder(place / "before" / "drill").publication
    folder = Path(shutil.copytree(folder, place / "folder"))
    change_manifest(folder, lambda data: data.update(published.put_into(data)))
    write_card(folder)
    shutil.rmtree(folder / "figures", ignore_errors=True)
    start = Scene("update", first.xet, root, folder, first.new, {}, {"1.0.0": first.new}, ())
    return _undisturbed("update", place, client, start)


def _undisturbed(name: str, place: Path, client: Client, start: Scene) -> Scene:
    """`start` with what a run does that nothing disturbs."""
    with Drill(start, place / "undisturbed", client) as drill:
        code, said = drill.publish()
        assert code == 0, said
        new = dict(drill.view.files())
        tags = {tag: dict(drill.view.files(tag)) for tag in drill.view.tags()}
        requests = tuple(drill.server.requests)
    return Scene(name, start.xet, start.root, start.folder, start.old, new, tags, requests)
