"""The synchronous client. Made by `npm run docs`; do not edit."""

from __future__ import annotations

import json
import os
import secrets
import time
from typing import IO, TYPE_CHECKING, Any, Iterator, Callable, Mapping, Sequence

import httpx

from . import _transport as _t
from ._transport import Call, MemorydError, path

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import types as wire

#: Seconds between two looks at a job; each is longer by half, up to the longest.
FIRST_LOOK, LONGEST_LOOK = 0.1, 2.0
#: The daemon sends something every 15 seconds, at least.
SILENCE = 45.0
#: Seconds before the changes are asked for again after a lost connection; doubled each time, up to the longest.
LONGEST_WAIT = 30.0


class Memoryd:
    """A client of a running memoryd. Every call raises ``MemorydError``, or gives what the daemon answered, as a ``dict``.

    It finds the daemon by ``url`` and ``api_key``, by the variables ``MEMORYD_URL`` and ``MEMORYD_API_KEY``, or by the file that a daemon on this
    machine leaves in its data folder (``data_dir``, ``MEMORYD_DATA_DIR``, or the usual one); nothing is sent to such a daemon before it
    has proved to be the one. A call is sent again where the daemon is busy or restarts, if that is safe: reads, and writes, which carry an
    Idempotency-Key, so they are done once. Changes and deletions are not sent again after a lost answer.

    ``timeout`` is in seconds, for each try; ``retries`` counts further tries, which last ten seconds if left out, or one where the daemon
    never answered; ``verify`` and ``transport`` are httpx's.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        api_key: str | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        client_name: str | None = None,
        timeout: float = _t.DEFAULT_TIMEOUT,
        retries: int | None = None,
        verify: Any = True,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._told = (url, api_key, data_dir)
        self._place: _t.Place | None = None
        if client_name and not (client_name.isascii() and client_name.isprintable()):
            raise MemorydError("INVALID_REQUEST", f"client_name must be printable ASCII; got {client_name!r}.")
        self._named = {"x-memoryd-client": client_name} if client_name else {}
        self._timeout, self._retries, self._was_reached = timeout, retries, False
        # Neither redirects nor proxies of the environment: both would show the key to others.
        self._http = httpx.Client(timeout=timeout, verify=verify, transport=transport, trust_env=False)
        self.memories = Memories(self)
        self.trash = Trash(self)
        self.facts = Facts(self)
        self.jobs = Jobs(self)
        self.documents = Documents(self)
        self.users = Users(self)
        self.keys = Keys(self)
        self.transfer = Transfer(self)
        self.compaction = Compaction(self)
        self.backups = Backups(self)
        self.models = Models(self)

    def __enter__(self) -> Memoryd:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def query(self, query: str, **conditions: Unpack[wire.QueryMemoryOptions]) -> wire.QueryResult:
        """The memories that answer a question, best first."""
        return self._post("/memory/query", {**conditions, "query": query})

    def context(self, **request: Unpack[wire.ContextRequest]) -> wire.Context:
        """The knowledge that an agent should start a piece of work with; ``text`` is empty where there is none."""
        return self._post("/context", request)

    def undo(self, **body: Unpack[wire.Undo]) -> wire.Undone:
        """Takes back what was done to memories; ``dry_run`` only says what. Doing it twice changes nothing more."""
        return self._post("/undo", body)

    def sectors(self, *, user_id: str | None = None) -> wire.Sectors:
        return self._get("/sectors", {"user_id": user_id})

    def health(self) -> wire.Health:
        return self._get("/health")

    def version(self) -> wire.Version:
        return self._get("/version")

    def stats(self) -> wire.Stats:
        return self._get("/stats")

    def settings(self) -> wire.Settings:
        """The settings that the daemon runs with, and where each comes from; for the scope ``admin``, as its log is."""
        return self._get("/settings")

    def logs(self, **place: Unpack[wire.ReadLogsQuery]) -> wire.Logs:
        """The last lines of the daemon's log, oldest first."""
        return self._get("/logs", place)

    def shut_down(self) -> dict[str, Any]:
        """Stops the daemon; with the token in the data folder only."""
        return self._post("/shutdown")

    def changes(self, since: str | None = None, *, user_id: str | None = None) -> Iterator[dict[str, Any]]:
        """Changes as they happen, in order, from now on or behind the position ``since`` (``"0"``: the beginning).

        After a lost connection it goes on behind the last one that was taken. ``{"kind": "reset", "position": …}`` says that some are missing.
        """
        failures, is_first = 0, True
        while True:
            headers = {} if since is None else {"last-event-id": since}
            call = Call("GET", "/events", {"user_id": user_id}, headers=headers, timeout=SILENCE)
            try:
                for event in self._events(call):
                    failures = 0
                    if "data" in event:
                        value = json.loads(event["data"])
                        is_reset = event.get("event") == "reset"
                        yield {"kind": "reset", "position": value["position"]} if is_reset else value
                    since = event.get("id", since)
            except MemorydError as error:
                is_refused = 0 < error.status < 500 and error.status != 429
                if is_refused or (is_first and error.status == 0):
                    raise
            is_first = False
            time.sleep(min(LONGEST_WAIT, _t.FIRST_PAUSE * 2**failures))
            failures += 1

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        is_write: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Any other call, by its path; ``is_write``: done once however often it is sent."""
        call = Call(method, path, query or {}, body, is_write=is_write, idempotency_key=idempotency_key, timeout=timeout)
        return self._json(call)

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return self._json(Call("GET", path, query or {}))

    def _post(self, path: str, body: Any = None, if_version: int | None = None) -> Any:
        return self._json(Call("POST", path, body=body, if_version=if_version))

    def _write(self, path: str, body: Any, key: str | None) -> Any:
        return self._json(Call("POST", path, body=body, is_write=True, idempotency_key=key))

    def _remove(self, path: str, query: Mapping[str, Any] | None = None, if_version: int | None = None) -> Any:
        return self._json(Call("DELETE", path, query or {}, if_version=if_version))

    def _pages(self, path: str, query: Mapping[str, Any], items: str = "items") -> Iterator[Any]:
        cursor = None
        while True:
            page = self._get(path, {**query, "cursor": cursor} if cursor else query)
            for item in page[items]:
                yield item
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _json(self, call: Call) -> Any:
        response = self._send(call)
        try:
            return response.json()
        except ValueError as error:
            raise _t.bad_answer(response) from error

    def _send(self, call: Call, stream: bool = False) -> httpx.Response:
        """A success, whose body is read unless ``stream``; tried again as the class says."""
        key, tries = _t.new_key(), 0
        while True:
            try:
                return self._attempt(call, key, stream)
            except MemorydError as error:
                pause = _t.pause_before(error, tries)
                retries = self._retries
                if retries is None:
                    retries = _t.RETRIES_ONCE_REACHED if self._was_reached else _t.RETRIES_BEFORE
                # Another daemon may run by now, at another port and with another token.
                if error.code == "UNREACHABLE" or (error.status == 401 and self._place and self._place.instance):
                    if error.status == 401 and tries == 0:
                        pause = 0.0
                    self._place = None
                is_lost = error.code == "UNREACHABLE"
                if tries >= retries and is_lost:
                    self._was_reached = False
                if tries >= retries or pause is None or (is_lost and not call.is_repeatable):
                    raise
            time.sleep(pause)
            tries += 1

    def _attempt(self, call: Call, key: str, stream: bool) -> httpx.Response:
        place = self._located()
        request = call.request(self._http, place, self._named, key)
        try:
            response = self._http.send(request, stream=stream)
            self._was_reached = True
            if response.is_success:
                return response
            response.read()
        except httpx.HTTPError as error:
            raise _t.lost(error, place.url, call, call.timeout or self._timeout) from error
        raise _t.refusal(response)

    def _located(self) -> _t.Place:
        if self._place is None:
            place = _t.locate(*self._told)
            if place.instance is not None:
                challenge = secrets.token_urlsafe(32)
                call = Call("GET", "/health")
                headers = {"x-memoryd-challenge": challenge}
                try:
                    answer = self._http.get(place.url + call.path, headers=headers, timeout=_t.IDENTIFY_TIMEOUT)
                except httpx.HTTPError as error:
                    raise _t.lost(error, place.url, call, _t.IDENTIFY_TIMEOUT) from error
                if not place.proves(challenge, answer.headers.get("x-memoryd-proof")):
                    detail = f"What answers at {place.url} is not the daemon of the data folder; start it with `memoryd start`."
                    raise MemorydError("UNREACHABLE", detail)
            self._place = place
            if place.folder is not None:
                # From now on no other store is meant.
                self._told = (None, self._told[1], place.folder)
        return self._place

    def _lines(self, call: Call) -> Iterator[str]:
        response = self._send(call, stream=True)
        try:
            lines = _t.Lines()
            for chunk in response.iter_bytes():
                for line in lines.add(chunk):
                    yield line
            for line in lines.end():
                yield line
        except httpx.HTTPError as error:
            raise _t.lost(error, str(response.url), call, self._timeout) from error
        finally:
            response.close()

    def _events(self, call: Call) -> Iterator[dict[str, str]]:
        event: dict[str, str] = {}
        for line in self._lines(call):
            if line == "":
                yield event
                event = {}
            else:
                name, _, value = line.partition(":")
                event[name] = value.removeprefix(" ")


class _Calls:
    def __init__(self, client: Memoryd) -> None:
        self._client = client


class Memories(_Calls):
    def add(self, content: str, *, idempotency_key: str | None = None, **fields: Unpack[wire.AddMemoryOptions]) -> wire.AddedMemory:
        return self._client._write("/memory/add", {**fields, "content": content}, idempotency_key)

    def add_many(self, memories: Sequence[wire.AddMemory], *, idempotency_key: str | None = None) -> wire.AddedMemories:
        """Up to 1 000 in one write; each is judged by itself, so look at ``failed``."""
        return self._client._write("/memory/add/batch", {"memories": list(memories)}, idempotency_key)

    def page(self, **place: Unpack[wire.ListMemoriesQuery]) -> wire.MemoryPage:
        """One page, newest first."""
        return self._client._get("/memory/all", place)

    def list(self, **filter: Unpack[wire.ListMemoriesQuery]) -> Iterator[wire.Memory]:
        """All that match, newest first, fetched page by page."""
        return self._client._pages("/memory/all", filter)

    def superseded(self, **filter: Unpack[wire.ListSupersededQuery]) -> Iterator[wire.SupersededPair]:
        """Pairs of a memory and the later one that superseded it, or seems to have."""
        return self._client._pages("/memory/superseded", filter)

    def coming(self, **filter: Unpack[wire.ListComingQuery]) -> wire.ComingMemories:
        """Memories that name a day or month to come, the soonest first."""
        return self._client._get("/memory/coming", filter)

    def counts(self, **query: Unpack[wire.CountMemoriesQuery]) -> wire.MemoryCounts:
        """By day of adding, client, project, tag or user."""
        return self._client._get("/memory/counts", query)

    def get(self, id: str, *, user_id: str | None = None) -> wire.Memory:
        return self._client._get(path("/memory/{}", id), {"user_id": user_id})

    def update(self, id: str, *, if_version: int | None = None, **changes: Unpack[wire.UpdateMemory]) -> wire.UpdatedMemory:
        return self._client._json(Call("PATCH", path("/memory/{}", id), body=changes, if_version=if_version))

    def tag(self, **changes: Unpack[wire.TagMemories]) -> wire.TaggedMemories:
        """Adds and removes tags of up to 1 000 memories; each is judged by itself, so look at ``failed``."""
        return self._client._post("/memory/tags", changes)

    def delete(
        self, id: str, *, trash: bool | None = None, user_id: str | None = None, if_version: int | None = None
    ) -> wire.DeletedMemory:
        """For good, unless ``trash`` is true."""
        return self._client._remove(path("/memory/{}", id), {"trash": trash, "user_id": user_id}, if_version)

    def history(self, id: str, **place: Unpack[wire.MemoryHistoryQuery]) -> wire.MemoryHistory:
        """Its versions, newest first; the present one is the first."""
        return self._client._get(path("/memory/{}/history", id), place)

    def restore(self, id: str, version: int, *, user_id: str | None = None, if_version: int | None = None) -> wire.Memory:
        """Makes an earlier version the present one."""
        body = {"version": version, **({} if user_id is None else {"user_id": user_id})}
        return self._client._post(path("/memory/{}/restore", id), body, if_version)

    def erase_history(self, id: str, *, user_id: str | None = None) -> wire.Erased:
        """Removes its earlier versions for good."""
        return self._client._remove(path("/memory/{}/history", id), {"user_id": user_id})

    def reinforce(
        self, id: str, *, idempotency_key: str | None = None, **boost: Unpack[wire.ReinforceMemoryOptions]
    ) -> wire.ReinforcedMemory:
        return self._client._write("/memory/reinforce", {**boost, "id": id}, idempotency_key)

    def related(self, id: str, **place: Unpack[wire.RelatedMemoriesQuery]) -> wire.RelatedMemories:
        return self._client._get(path("/memory/{}/related", id), place)


class Trash(_Calls):
    """Memories that were deleted and can be restored."""

    def page(self, **place: Unpack[wire.ListTrashQuery]) -> wire.Trash:
        return self._client._get("/trash", place)

    def restore(self, id: str, *, user_id: str | None = None) -> wire.Memory:
        """Brings a memory back, or a document by its first memory."""
        return self._client._json(Call("POST", path("/trash/{}/restore", id), {"user_id": user_id}))

    def delete(self, id: str, *, user_id: str | None = None) -> wire.Erased:
        """Removes one entry for good."""
        return self._client._remove(path("/trash/{}", id), {"user_id": user_id})

    def empty(self, *, user_id: str | None = None) -> wire.Erased:
        """Removes all of it for good."""
        return self._client._remove("/trash", {"user_id": user_id})


FACT = "/api/temporal/fact"


class Facts(_Calls):
    def record(self, *, idempotency_key: str | None = None, **fact: Unpack[wire.RecordFact]) -> wire.RecordedFact:
        return self._client._write(FACT, fact, idempotency_key)

    def record_many(self, facts: Sequence[wire.RecordFact], *, idempotency_key: str | None = None) -> wire.RecordedFacts:
        """Up to 1 000, in order; each is judged by itself, so look at ``failed``."""
        return self._client._write(f"{FACT}/batch", {"facts": list(facts)}, idempotency_key)

    def page(self, **place: Unpack[wire.FindFactsQuery]) -> wire.FactPage:
        """One page; past facts too, unless ``at`` names a moment."""
        return self._client._get(FACT, place)

    def list(self, **filter: Unpack[wire.FindFactsQuery]) -> Iterator[wire.Fact]:
        """All that match, fetched page by page."""
        return self._client._pages(FACT, filter, "facts")

    def current(self, **filter: Unpack[wire.CurrentFactQuery]) -> wire.Fact:
        """The fact that is true now, or ``at`` a moment; raises ``NOT_FOUND`` where nothing is."""
        return (self._client._get(f"{FACT}/current", filter))["fact"]

    def get(self, id: str, **filter: Unpack[wire.GetFactQuery]) -> wire.Fact:
        return (self._client._get(path(FACT + "/{}", id), filter))["fact"]

    def update(self, id: str, **changes: Unpack[wire.UpdateFact]) -> wire.Fact:
        return self._client._json(Call("PATCH", path(FACT + "/{}", id), body=changes))

    def close(self, id: str, *, valid_to: str | int | None = None, user_id: str | None = None) -> wire.Fact:
        """Ends it now, or at ``valid_to``."""
        return self._client._remove(path(FACT + "/{}", id), {"valid_to": valid_to, "user_id": user_id})

    def erase(self, id: str, *, user_id: str | None = None) -> wire.Fact:
        """Removes it and all its versions for good."""
        return self._client._remove(path(FACT + "/{}", id), {"erase": True, "user_id": user_id})

    def timeline(self, **filter: Unpack[wire.FactTimelineQuery]) -> wire.FactTimeline:
        return self._client._get("/api/temporal/timeline", filter)

    def search(self, **search: Unpack[wire.SearchFactsQuery]) -> wire.FoundFacts:
        return self._client._get("/api/temporal/search", search)

    def compare(self, **filter: Unpack[wire.CompareFactsQuery]) -> wire.FactComparison:
        return self._client._get("/api/temporal/compare", filter)

    def stats(self, **filter: Unpack[wire.FactStatsQuery]) -> wire.FactStats:
        return self._client._get("/api/temporal/stats", filter)

    def subjects(self, **place: Unpack[wire.FactSubjectsQuery]) -> wire.FactSubjects:
        """Subjects of facts, those with the most first; one page."""
        return self._client._get("/api/temporal/subjects", place)

    def volatile(self, **filter: Unpack[wire.VolatileFactsQuery]) -> wire.VolatileFacts:
        return self._client._get("/api/temporal/volatile", filter)


class Jobs(_Calls):
    def get(self, id: str, *, user_id: str | None = None) -> wire.Job:
        return self._client._get(path("/jobs/{}", id), {"user_id": user_id})

    def page(self, **place: Unpack[wire.ListJobsQuery]) -> wire.JobPage:
        return self._client._get("/jobs", place)

    def cancel(self, id: str, *, user_id: str | None = None) -> wire.Job:
        return self._client._remove(path("/jobs/{}", id), {"user_id": user_id})

    def wait(
        self, id: str, *, user_id: str | None = None, on_progress: Callable[[wire.Job], object] | None = None
    ) -> wire.IngestResult:
        """Waits until a job is done; raises its error, or ``JOB_CANCELLED``."""
        pause = FIRST_LOOK
        while True:
            job: Any = self.get(id, user_id=user_id)
            if on_progress is not None:
                on_progress(job)
            if job["status"] == "cancelled":
                raise MemorydError("JOB_CANCELLED", f"The job {id} was cancelled.")
            if "result" in job:
                return job["result"]
            if job["status"] in ("failed", "succeeded"):
                problem = job.get("problem") or {"code": "GONE", "detail": "The document was deleted right after it was made."}
                told = {name: problem[name] for name in ("errors", "request_id", "status") if name in problem}
                raise MemorydError(problem["code"], problem["detail"], **told)
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_LOOK)


class Documents(_Calls):
    def submit(
        self,
        file: str | os.PathLike[str] | bytes | IO[bytes] | None = None,
        *,
        text: str | None = None,
        url: str | None = None,
        filename: str | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[wire.IngestFields],
    ) -> Any:
        """Begins to ingest a file (a path, bytes or an open file, which is streamed), a text, or what is at an address that the daemon fetches.

        Answers at once: the job, or the result of what was there already.
        """
        if sum(source is not None for source in (file, text, url)) != 1:
            raise MemorydError("INVALID_REQUEST", "Name one of file, text and url; nothing was sent.")
        answer_at_once, opened = {"prefer": "respond-async"}, file
        body: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
        files = None
        try:
            if file is None:
                body.update({"text": text} if text is not None else {"url": url})
                if filename is not None:
                    body["metadata"] = {**(fields.get("metadata") or {}), "filename": filename}
            else:
                opened = open(file, "rb") if isinstance(file, (str, os.PathLike)) else file
                body = {name: value if isinstance(value, str) else _t.as_json(value) for name, value in body.items()}
                files = {"file": (filename or os.path.basename(str(getattr(opened, "name", "file"))), opened)}
            call = Call("POST", "/ingest", {}, body, None, files, answer_at_once, True, idempotency_key)
            return self._client._json(call)
        finally:
            if opened is not file:
                opened.close()  # type: ignore[union-attr]

    def ingest(
        self,
        file: str | os.PathLike[str] | bytes | IO[bytes] | None = None,
        *,
        on_progress: Callable[[wire.Job], object] | None = None,
        **source: Any,
    ) -> wire.IngestResult:
        """Ingests as ``submit`` does, and waits until the document's memories can be found."""
        begun = self.submit(file, **source)
        if "status" not in begun:
            return begun
        return self._client.jobs.wait(begun["id"], user_id=source.get("user_id"), on_progress=on_progress)

    def page(self, **place: Unpack[wire.ListDocumentsQuery]) -> wire.DocumentPage:
        """One page, newest first."""
        return self._client._get("/documents", place)

    def list(self, **filter: Unpack[wire.ListDocumentsQuery]) -> Iterator[wire.Document]:
        """All that match, newest first, fetched page by page."""
        return self._client._pages("/documents", filter)

    def get(self, id: str, **place: Unpack[wire.GetDocumentQuery]) -> dict[str, Any]:
        return self._client._get(path("/documents/{}", id), place)

    def file(self, id: str, *, user_id: str | None = None) -> bytes:
        """The original bytes."""
        return (self._client._send(Call("GET", path("/documents/{}/file", id), {"user_id": user_id}))).content

    def restore_file(self, id: str, file: bytes) -> dict[str, Any]:
        """Gives an imported document its original back: the very bytes that it was made of."""
        headers = {"content-type": "application/octet-stream"}
        return self._client._json(Call("PUT", path("/documents/{}/file", id), content=file, headers=headers))

    def delete(self, id: str, *, trash: bool | None = None, user_id: str | None = None) -> wire.DeletedDocument:
        """For good, unless ``trash`` is true."""
        return self._client._remove(path("/documents/{}", id), {"trash": trash, "user_id": user_id})


class Users(_Calls):
    def page(self, **place: Unpack[wire.ListUsersQuery]) -> wire.UserPage:
        """One page, by id; for the scope ``admin``."""
        return self._client._get("/users", place)

    def list(self) -> Iterator[dict[str, Any]]:
        """All users, by id, fetched page by page; for the scope ``admin``."""
        return self._client._pages("/users", {})

    def memories(self, user_id: str, /, **filter: Unpack[wire.ListUserMemoriesQuery]) -> Iterator[wire.Memory]:
        """A user's memories, newest first, fetched page by page."""
        return self._client._pages(path("/users/{}/memories", user_id), filter)

    def summary(self, user_id: str) -> wire.UserSummary:
        """A short summary of a user's memories."""
        return self._client._get(path("/users/{}/summary", user_id))

    def regenerate_summary(self, user_id: str) -> wire.UserSummary:
        """The same, made now."""
        return self._client._post(path("/users/{}/summary/regenerate", user_id))

    def delete_memories(
        self, user_id: str, *, keep: str | None = None, include: str | None = None, backups: bool | None = None
    ) -> wire.DeletedUserMemories:
        """All memories of a user, with documents and originals, but for what ``keep`` names; facts too with ``include``."""
        query = {"keep": keep, "include": include, "backups": backups}
        return self._client._remove(path("/users/{}/memories", user_id), query)


class Keys(_Calls):
    def list(self) -> dict[str, Any]:
        return self._client._get("/keys")

    def create(self, **key: Any) -> dict[str, Any]:
        """The key itself is in this answer and in no other."""
        return self._client._post("/keys", key)

    def revoke(self, id: str) -> dict[str, Any]:
        return self._client._remove(path("/keys/{}", id))

    def remove_all(self) -> dict[str, Any]:
        """So that none is needed; with the token in the data folder only."""
        return self._client._remove("/keys")


class Transfer(_Calls):
    def export(self, **query: Unpack[wire.ExportQuery]) -> Iterator[str]:
        """Everything, as lines of JSON; cut off where the last one is not of the type ``end``."""
        return self._client._lines(Call("GET", "/export", query))

    def import_(self, lines: str) -> wire.Imported:
        """Takes the first line of an export and up to 1 000 others; each is judged by itself."""
        return self._client._json(Call("POST", "/import", content=lines))


class Compaction(_Calls):
    def status(self) -> wire.Compaction:
        return self._client._get("/compact")

    def start(self, **query: Unpack[wire.CompactQuery]) -> wire.StartedCompaction:
        """With ``backups`` those of the store are then replaced by a new one."""
        return self._client._json(Call("POST", "/compact", query))


class Backups(_Calls):
    def list(self) -> wire.Backups:
        return self._client._get("/backups")

    def create(self, **body: Any) -> wire.StartedBackup:
        """Begins one; ``list`` says how far it is."""
        return self._client._post("/backups", body)

    def verify(self, name: str) -> wire.Backup:
        """Raises ``DAMAGED`` where it is not whole."""
        return self._client._post(path("/backups/{}/verify", name))

    def remove(self, name: str) -> dict[str, Any]:
        return self._client._remove(path("/backups/{}", name))


class Models(_Calls):
    def list(self) -> wire.Models:
        return self._client._get("/models")

    def use(self, name: str) -> wire.Models:
        """Begins to embed all memories again with that model; ``list`` says how far it is."""
        return self._client._post("/models/use", {"name": name})
