"""The environment that Hub clients read at import: a port of this process instead of the public Hub.

Imported by conftest before anything imports huggingface_hub or datasets. The port is held for as long as the
process lives, so that no other process gets it: while no test server listens there, connections are refused.
"""

from __future__ import annotations

import os
import socket

_HELD = socket.socket()
_HELD.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
_HELD.bind(("127.0.0.1", 0))

#: Where test servers of this process listen.
PORT: int = _HELD.getsockname()[1]
ENDPOINT = f"http://127.0.0.1:{PORT}"

# Set, not defaulted: workers of pytest-xdist inherit the environment of the process that starts them.
os.environ["HF_ENDPOINT"] = ENDPOINT
os.environ["HF_HUB_DISABLE_XET"] = "1"
for _name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN"):
    os.environ.pop(_name, None)
# Each of these would ask a public host or another endpoint.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_DISABLE_UPDATE_CHECK"] = "1"
os.environ["HF_UPDATE_DOWNLOAD_COUNTS"] = "0"
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
