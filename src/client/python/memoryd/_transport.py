"""What the synchronous and the asynchronous client share: addresses, errors, and when a call is sent again."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping
from urllib.parse import quote

import httpx

DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_TIMEOUT = 60.0
#: Further tries: of a daemon that answered before, which may restart (10 seconds), and of one that never did (1 second).
RETRIES_ONCE_REACHED, RETRIES_BEFORE = 7, 2
#: Seconds before the first further try where the daemon does not say; doubled each time, up to the longest.
FIRST_PAUSE, LONGEST_OWN_PAUSE = 0.3, 2.0
#: A daemon that asks for more seconds than this is not waited for.
LONGEST_PAUSE = 30
#: Seconds in which a daemon that is found by its file must prove that it is the one.
IDENTIFY_TIMEOUT = 5.0


class MemorydError(Exception):
    """A call that did not succeed. The message says what is wrong and what to do.

    ``code`` is that of the daemon (``NOT_FOUND``, ``VERSION_MISMATCH``, …), or one of the client's own: ``UNREACHABLE`` (no answer, or one
    that was cut off: what was sent may have been done), ``TIMEOUT`` (the same holds), ``BAD_ANSWER`` (not memoryd's answer), ``JOB_CANCELLED``,
    and ``INVALID_REQUEST`` where nothing could be sent.
    ``status`` is 0 without a reply.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int = 0,
        errors: list[dict[str, str]] | None = None,
        request_id: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status = status
        self.errors = errors or []
        self.request_id = request_id
        self.retry_after = retry_after

    def __reduce__(self) -> Any:
        return _error, (self.code, self.detail, self.status, self.errors, self.request_id, self.retry_after)


def _error(code: str, detail: str, status: int, errors: Any, request_id: Any, retry_after: Any) -> MemorydError:
    return MemorydError(code, detail, status=status, errors=errors, request_id=request_id, retry_after=retry_after)


@dataclass(frozen=True)
class Call:
    """One request. ``is_write``: done once however often it is sent, since it carries an Idempotency-Key."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    content: str | bytes | None = None
    files: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_write: bool = False
    idempotency_key: str | None = None
    if_version: int | None = None
    timeout: float | None = None

    def request(self, http: httpx.Client | httpx.AsyncClient, place: Place, client_headers: Mapping[str, str], key: str) -> httpx.Request:
        headers = {**client_headers, **self.headers}
        if place.key is not None:
            headers["authorization"] = f"Bearer {place.key}"
        if self.is_write:
            headers["idempotency-key"] = self.idempotency_key or key
        if self.if_version is not None:
            headers["if-match"] = f'"{self.if_version}"'
        content, form = self.content, self.body if self.files is not None else None
        if content is not None:
            headers.setdefault("content-type", "application/x-ndjson")
        elif self.body is not None and form is None:
            content, headers["content-type"] = as_json(self.body), "application/json"
        timeout = httpx.USE_CLIENT_DEFAULT if self.timeout is None else self.timeout
        parts: Any = {"params": _params(self.query), "headers": headers, "content": content, "data": form, "files": self.files}
        try:
            return http.build_request(self.method, place.url + self.path, timeout=timeout, **parts)
        except (TypeError, ValueError, httpx.InvalidURL) as error:
            raise unsendable(error) from error

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent again after a lost answer: a change or a deletion may have been done."""
        return self.method == "GET" or self.is_write or self.path == "/memory/query"


def unsendable(error: Exception) -> MemorydError:
    return MemorydError("INVALID_REQUEST", f"This cannot be sent ({error}); nothing was sent.")


def as_json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
        return text
    except (TypeError, ValueError, RecursionError) as error:
        raise unsendable(error) from error


def _params(query: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in query.items() if value is not None}
    return {**texts, **{name: value for name, value in query.items() if isinstance(value, list)}}


def new_key() -> str:
    return uuid.uuid4().hex


def path(template: str, *parts: str) -> str:
    """``path("/memory/{}", id)``: with each part percent-encoded. One that addresses drop would name everything instead of one thing."""
    for part in parts:
        if part in ("", ".", ".."):
            raise MemorydError("INVALID_REQUEST", f"There is no id {part!r}; nothing was sent.")
    try:
        return template.format(*(quote(part, safe="") for part in parts))
    except (TypeError, ValueError) as error:
        raise unsendable(error) from error


class Lines:
    """Cuts what arrives into lines at line feeds alone: texts hold other separators."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, chunk: bytes) -> list[str]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [line.removesuffix(b"\r").decode() for line in lines]

    def end(self) -> list[str]:
        return [self._rest.decode()] if self._rest else []


def pause_before(error: MemorydError, tries: int) -> float | None:
    """Seconds to wait before a further try; None where none helps."""
    is_worth_it = error.code == "UNREACHABLE" or error.status in (429, 503)
    if not is_worth_it and not (error.status == 409 and error.retry_after is not None):
        return None
    if error.retry_after is None:
        return min(LONGEST_OWN_PAUSE, FIRST_PAUSE * 2**tries)
    return None if error.retry_after > LONGEST_PAUSE else float(error.retry_after)


def refusal(response: httpx.Response) -> MemorydError:
    """The error of an answer that is not a success; its body must have been read."""
    retry = response.headers.get("retry-after", "")
    retry_after = int(retry) if retry.isdecimal() else None
    try:
        problem = response.json()
        code, detail = problem["code"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        return bad_answer(response, retry_after)
    return MemorydError(
        code,
        detail,
        status=response.status_code,
        errors=problem.get("errors"),
        request_id=problem.get("request_id"),
        retry_after=retry_after,
    )


def bad_answer(response: httpx.Response, retry_after: int | None = None) -> MemorydError:
    status = response.status_code
    detail = f"What answered with status {status} at {response.url} is not memoryd; check the address."
    return MemorydError("BAD_ANSWER", detail, status=status, retry_after=retry_after)


def lost(error: httpx.HTTPError, base: str, call: Call, timeout: float) -> MemorydError:
    """The error of a call without an answer."""
    if isinstance(error, httpx.TimeoutException):
        detail = f"memoryd did not answer {call.method} {call.path} within {timeout:g} s; raise timeout if it needs longer."
        return MemorydError("TIMEOUT", detail)
    if isinstance(error, (httpx.LocalProtocolError, httpx.UnsupportedProtocol)):
        return unsendable(error)
    hint = " Start it with `memoryd start`, or name its address with url= or MEMORYD_URL." if base == DEFAULT_URL else ""
    return MemorydError("UNREACHABLE", f"memoryd cannot be reached at {base} ({error}); is it running there?{hint}")


@dataclass(frozen=True)
class Place:
    """Where the daemon is. ``instance`` is set where its runtime file says so, and it must prove to be that one."""

    url: str
    key: str | None
    instance: str | None = None
    #: Where its file lies, if it was found by that.
    folder: Path | None = None

    def proves(self, challenge: str, answer: str | None) -> bool:
        message = f"memoryd {self.instance} {challenge}".encode()
        digest = hmac.new((self.key or "").encode(), message, hashlib.sha256).digest()
        expected = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        return hmac.compare_digest(expected, answer or "")


def locate(url: str | None, api_key: str | None, data_dir: str | os.PathLike[str] | None) -> Place:
    """The arguments first, then ``MEMORYD_URL`` and ``MEMORYD_API_KEY``, then the daemon that runs on the data folder; where no folder is named, port 8080."""
    url = url or os.environ.get("MEMORYD_URL") or None
    api_key = (api_key or os.environ.get("MEMORYD_API_KEY") or "").strip() or None
    if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
        raise MemorydError("UNAUTHORIZED", "The key has signs that no key has; nothing was sent.")
    if url is not None:
        if not url.startswith(("http://", "https://")):
            raise MemorydError("INVALID_REQUEST", f"An address begins with http:// or https://, such as {DEFAULT_URL}; got {url!r}.")
        return Place(url.rstrip("/"), api_key)
    named = data_dir or os.environ.get("MEMORYD_DATA_DIR")
    folder = Path(named or default_data_dir())
    runtime = _runtime(folder)
    if runtime is None and named:
        # Another daemon at the usual address has another store.
        raise MemorydError("UNREACHABLE", f"No daemon runs on {folder}; start it with `memoryd start --data-dir {folder}`.")
    if runtime is None:
        return Place(DEFAULT_URL, api_key)
    if "tlsFingerprint" in runtime:
        raise MemorydError("UNREACHABLE", "The daemon speaks HTTPS: name its address with url=, and its certificate with verify=.")
    address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(runtime["address"], runtime["address"])
    host = f"[{address}]" if ":" in address else address
    base = f"http://{host}:{runtime['port']}"
    return Place(base, api_key, None, folder) if api_key else Place(base, runtime["token"], runtime["instanceId"], folder)


def _runtime(folder: Path) -> dict[str, Any] | None:
    try:
        runtime = json.loads((folder / "daemon.json").read_text("utf-8"))
        texts = all(isinstance(runtime[name], str) for name in ("address", "instanceId", "token"))
        return runtime if texts and isinstance(runtime["port"], int) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def default_data_dir() -> Path:
    """The folder that the daemon takes without ``--data-dir``."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "memoryd" / "Data"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "memoryd"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "memoryd"
