"""Run the server by hand: `python -m hub_server --root DIR` in the folder `tests`."""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from . import ACCOUNTS, HubServer, Settings


def main() -> None:
    """Serve until interrupted; the first line printed is the address."""
    parser = argparse.ArgumentParser(
        prog="hub_server", description="A test server that speaks the Hub's protocol."
    )
    parser.add_argument("--root", type=Path, required=True, help="folder of all repositories and files")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--xet", action="store_true", help="accept uploads of xet clients")
    parser.add_argument("--cdn", action="store_true", help="redirect large files to another host name")
    parser.add_argument("--page", type=int, default=1000, help="longest list in one answer")
    parser.add_argument("--lfs-chunk", type=int, default=0, help="bytes of a part (0: no multipart uploads)")
    chosen = parser.parse_args()
    settings = Settings(chosen.xet, chosen.cdn, chosen.page, chosen.lfs_chunk)
    with HubServer(chosen.root, chosen.port, settings) as server:
        print(server.url, flush=True)
        for token, account in ACCOUNTS.items():
            print(f"{account.name}: {token}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


main()
