"""The server itself: sockets, the log of requests, faults, and who sends a request."""

from __future__ import annotations

import base64
import binascii
import gzip
import socket
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .accounts import ACCOUNTS, Account
from .faults import FaultPlan
from .hub import Hub, Settings
from .messages import FileRange, HubError, Request, Response, json_response
from .site import answer

_BLOCK = 1 << 20
#: Seconds between looks at whether the server is to stop.
_POLL = 0.02
#: Clients ask for this at moments of their own: it must not move the count of the other requests.
_UNCOUNTED = "/api/agent-harnesses"


@dataclass(frozen=True)
class Record:
    """A request that was answered (status 0: the connection was dropped); `size` is of its body, in bytes."""

    method: str
    path: str
    query: str
    status: int
    size: int
    signed_in: bool
    range: str | None


class HubServer:
    """A hub at a port of this machine (0: any free one), in threads of this process.

    Usable as a context manager. `requests` are the answered requests in order, `crashes` the tracebacks of
    errors in the server itself, which no test should see.
    """

    def __init__(self, root: Path, port: int = 0, settings: Settings | None = None) -> None:
        self.faults = FaultPlan()
        self.requests: list[Record] = []
        self.crashes: list[str] = []
        self._http = _ThreadingServer(("127.0.0.1", port), _Handler)
        self._http.owner = self
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self.hub = Hub(root.resolve(), self.url, settings or Settings())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(_POLL,), daemon=True)

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close every connection, so that clients which keep them open notice."""
        self._http.shutdown()
        self._thread.join()
        self._http.close_connections()
        self._http.server_close()

    @property
    def busy(self) -> bool:
        """Whether a client is connected, or one that is gone has asked something that is not answered yet."""
        return self._http.has_connections()

    def respond(self, request: Request, denied: HubError | None) -> Response | None:
        """The answer to a request after hooks, latency and faults; None: drop the connection."""
        if request.path == _UNCOUNTED:
            return json_response({"harnesses": []})
        fault, hooks = self.faults.strike(request.method, request.path)
        for hook in hooks:
            self._guarded(hook.callback)
        time.sleep(self.faults.latency)
        response = None
        if fault is None or fault.after:
            response = self._answer(request, denied)
        if fault is not None:
            response = fault.response()
        self._record(request, response)
        return response

    def _answer(self, request: Request, denied: HubError | None) -> Response:
        try:
            if denied is not None:
                raise denied
            return answer(self.hub, request)
        except HubError as error:
            return error.response()
        except Exception:
            self.crashes.append(traceback.format_exc())
            return HubError(500, "The test server has crashed").response()

    def _guarded(self, callback: Callable[[], object]) -> None:
        try:
            callback()
        except Exception:
            self.crashes.append(traceback.format_exc())

    def _record(self, request: Request, response: Response | None) -> None:
        address = urlsplit(request.target)
        self.requests.append(
            Record(
                request.method,
                address.path,
                address.query,
                response.status if response else 0,
                len(request.body),
                request.account is not None,
                request.headers.get("Range"),
            )
        )


class _ThreadingServer(ThreadingHTTPServer):
    """Knows its open connections, as it could not end while a client keeps one."""

    daemon_threads = False
    owner: HubServer

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Runs before the connection has its thread: once no more are accepted, all of them are known."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Runs in the connection's thread, to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open.discard(request)

    def has_connections(self) -> bool:
        """Whether the thread of some connection has not come to its end."""
        with self._lock:
            return bool(self._open)

    def close_connections(self) -> None:
        """Wake the threads that wait for a client's next request."""
        with self._lock:
            for connection in self._open:
                _hang_up(connection)


class _Handler(BaseHTTPRequestHandler):
    """Reads one request after the other from a connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server: _ThreadingServer

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing on the screen: the requests are in the server's list."""

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def _handle(self) -> None:
        account, denied = None, None
        try:
            account = _sender(self.headers.get("Authorization", ""))
        except HubError as error:
            denied = error
        request = Request(self.command, self.path, self.headers, self._read(), account)  # type: ignore[arg-type]
        response = self.server.owner.respond(request, denied)
        if response is None:
            self.close_connection = True
            _hang_up(self.connection)
        else:
            self._send(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b"".join(self._chunks())
        else:
            body = self._exactly(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self._exactly(size)
            self._exactly(2)
        self._exactly(2)

    def _exactly(self, size: int) -> bytes:
        """Bytes of the body. A client that was killed while it sent them must not have half its work done."""
        found = self.rfile.read(size)
        if len(found) < size:
            raise ConnectionAbortedError
        return found

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in {"X-Request-Id": uuid.uuid4().hex, **response.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(response.length))
        self.end_headers()
        if self.command != "HEAD":
            self._send_content(response.content)
        self.wfile.flush()

    def _send_content(self, content: bytes | FileRange) -> None:
        if isinstance(content, bytes):
            self.wfile.write(content)
            return
        left = content.length
        with content.path.open("rb") as file:
            file.seek(content.start)
            while block := file.read(min(_BLOCK, left)):
                self.wfile.write(block)
                left -= len(block)


def _sender(authorization: str) -> Account | None:
    """The account of a token, sent as such or as git's password; None: anonymous."""
    scheme, _, value = authorization.partition(" ")
    if scheme == "Basic":
        try:
            value = base64.b64decode(value).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            value = ""
    elif scheme != "Bearer":
        return None
    if value not in ACCOUNTS:
        raise HubError(401, "Invalid credentials in Authorization header")
    return ACCOUNTS[value]


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The client was faster.
        return
