"""The asynchronous client. ``_client.py`` is made from this file, see ``test/clients/python-code.ts``."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from typing import IO, TYPE_CHECKING, Any, AsyncIterator, Callable, Mapping, Sequence

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


class AsyncMemoryd:
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._told = (url, api_key, data_dir)
        self._place: _t.Place | None = None
        if client_name and not (client_name.isascii() and client_name.isprintable()):
            raise MemorydError("INVALID_REQUEST", f"client_name must be printable ASCII; got {client_name!r}.")
        self._named = {"x-memoryd-client": client_name} if client_name else {}
        self._timeout, self._retries, self._was_reached = timeout, retries, False
        # Neither redirects nor proxies of the environment: both would show the key to others.
        self._http = httpx.AsyncClient(timeout=timeout, verify=verify, transport=transport, trust_env=False)
        self.memories = AsyncMemories(self)
        self.trash = AsyncTrash(self)
        self.facts = AsyncFacts(self)
        self.jobs = AsyncJobs(self)
        self.documents = AsyncDocuments(self)
        self.users = AsyncUsers(self)
        self.keys = AsyncKeys(self)
        self.transfer = AsyncTransfer(self)
        self.compaction = AsyncCompaction(self)
        self.backups = AsyncBackups(self)
        self.models = AsyncModels(self)

    async def __aenter__(self) -> AsyncMemoryd:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def query(self, query: str, **conditions: Unpack[wire.QueryMemoryOptions]) -> wire.QueryResult:
        """The memories that answer a question, best first."""
        return await self._post("/memory/query", {**conditions, "query": query})

    async def context(self, **request: Unpack[wire.ContextRequest]) -> wire.Context:
        """The knowledge that an agent should start a piece of work with; ``text`` is empty where there is none."""
        return await self._post("/context", request)

    async def undo(self, **body: Unpack[wire.Undo]) -> wire.Undone:
        """Takes back what was done to memories; ``dry_run`` only says what. Doing it twice changes nothing more."""
        return await self._post("/undo", body)

    async def sectors(self, *, user_id: str | None = None) -> wire.Sectors:
        return await self._get("/sectors", {"user_id": user_id})

    async def health(self) -> wire.Health:
        return await self._get("/health")

    async def version(self) -> wire.Version:
        return await self._get("/version")

    async def stats(self) -> wire.Stats:
        return await self._get("/stats")

    async def settings(self) -> wire.Settings:
        """The settings that the daemon runs with, and where each comes from; for the scope ``admin``, as its log is."""
        return await self._get("/settings")

    async def logs(self, **place: Unpack[wire.ReadLogsQuery]) -> wire.Logs:
        """The last lines of the daemon's log, oldest first."""
        return await self._get("/logs", place)

    async def shut_down(self) -> dict[str, Any]:
        """Stops the daemon; with the token in the data folder only."""
        return await self._post("/shutdown")

    async def changes(self, since: str | None = None, *, user_id: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """Changes as they happen, in order, from now on or behind the position ``since`` (``"0"``: the beginning).

        After a lost connection it goes on behind the last one that was taken. ``{"kind": "reset", "position": …}`` says that some are missing.
        """
        failures, is_first = 0, True
        while True:
            headers = {} if since is None else {"last-event-id": since}
            call = Call("GET", "/events", {"user_id": user_id}, headers=headers, timeout=SILENCE)
            try:
                async for event in self._events(call):
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
            await asyncio.sleep(min(LONGEST_WAIT, _t.FIRST_PAUSE * 2**failures))
            failures += 1

    async def call(
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
        return await self._json(call)

    async def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return await self._json(Call("GET", path, query or {}))

    async def _post(self, path: str, body: Any = None, if_version: int | None = None) -> Any:
        return await self._json(Call("POST", path, body=body, if_version=if_version))

    async def _write(self, path: str, body: Any, key: str | None) -> Any:
        return await self._json(Call("POST", path, body=body, is_write=True, idempotency_key=key))

    async def _remove(self, path: str, query: Mapping[str, Any] | None = None, if_version: int | None = None) -> Any:
        return await self._json(Call("DELETE", path, query or {}, if_version=if_version))

    async def _pages(self, path: str, query: Mapping[str, Any], items: str = "items") -> AsyncIterator[Any]:
        cursor = None
        while True:
            page = await self._get(path, {**query, "cursor": cursor} if cursor else query)
            for item in page[items]:
                yield item
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def _json(self, call: Call) -> Any:
        response = await self._send(call)
        try:
            return response.json()
        except ValueError as error:
            raise _t.bad_answer(response) from error

    async def _send(self, call: Call, stream: bool = False) -> httpx.Response:
        """A success, whose body is read unless ``stream``; tried again as the class says."""
        key, tries = _t.new_key(), 0
        while True:
            try:
                return await self._attempt(call, key, stream)
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
            await asyncio.sleep(pause)
            tries += 1

    async def _attempt(self, call: Call, key: str, stream: bool) -> httpx.Response:
        place = await self._located()
        request = call.request(self._http, place, self._named, key)
        try:
            response = await self._http.send(request, stream=stream)
            self._was_reached = True
            if response.is_success:
                return response
            await response.aread()
        except httpx.HTTPError as error:
            raise _t.lost(error, place.url, call, call.timeout or self._timeout) from error
        raise _t.refusal(response)

    async def _located(self) -> _t.Place:
        if self._place is None:
            place = _t.locate(*self._told)
            if place.instance is not None:
                challenge = secrets.token_urlsafe(32)
                call = Call("GET", "/health")
                headers = {"x-memoryd-challenge": challenge}
                try:
                    answer = await self._http.get(place.url + call.path, headers=headers, timeout=_t.IDENTIFY_TIMEOUT)
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

    async def _lines(self, call: Call) -> AsyncIterator[str]:
        response = await self._send(call, stream=True)
        try:
            lines = _t.Lines()
            async for chunk in response.aiter_bytes():
                for line in lines.add(chunk):
                    yield line
            for line in lines.end():
                yield line
        except httpx.HTTPError as error:
            raise _t.lost(error, str(response.url), call, self._timeout) from error
        finally:
            await response.aclose()

    async def _events(self, call: Call) -> AsyncIterator[dict[str, str]]:
        event: dict[str, str] = {}
        async for line in self._lines(call):
            if line == "":
                yield event
                event = {}
            else:
                name, _, value = line.partition(":")
                event[name] = value.removeprefix(" ")


class _AsyncCalls:
    def __init__(self, client: AsyncMemoryd) -> None:
        self._client = client


class AsyncMemories(_AsyncCalls):
    async def add(self, content: str, *, idempotency_key: str | None = None, **fields: Unpack[wire.AddMemoryOptions]) -> wire.AddedMemory:
        return await self._client._write("/memory/add", {**fields, "content": content}, idempotency_key)

    async def add_many(self, memories: Sequence[wire.AddMemory], *, idempotency_key: str | None = None) -> wire.AddedMemories:
        """Up to 1 000 in one write; each is judged by itself, so look at ``failed``."""
        return await self._client._write("/memory/add/batch", {"memories": list(memories)}, idempotency_key)

    async def page(self, **place: Unpack[wire.ListMemoriesQuery]) -> wire.MemoryPage:
        """One page, newest first."""
        return await self._client._get("/memory/all", place)

    def list(self, **filter: Unpack[wire.ListMemoriesQuery]) -> AsyncIterator[wire.Memory]:
        """All that match, newest first, fetched page by page."""
        return self._client._pages("/memory/all", filter)

    def superseded(self, **filter: Unpack[wire.ListSupersededQuery]) -> AsyncIterator[wire.SupersededPair]:
        """Pairs of a memory and the later one that superseded it, or seems to have."""
        return self._client._pages("/memory/superseded", filter)

    async def coming(self, **filter: Unpack[wire.ListComingQuery]) -> wire.ComingMemories:
        """Memories that name a day or month to come, the soonest first."""
        return await self._client._get("/memory/coming", filter)

    async def counts(self, **query: Unpack[wire.CountMemoriesQuery]) -> wire.MemoryCounts:
        """By day of adding, client, project, tag or user."""
        return await self._client._get("/memory/counts", query)

    async def get(self, id: str, *, user_id: str | None = None) -> wire.Memory:
        return await self._client._get(path("/memory/{}", id), {"user_id": user_id})

    async def update(self, id: str, *, if_version: int | None = None, **changes: Unpack[wire.UpdateMemory]) -> wire.UpdatedMemory:
        return await self._client._json(Call("PATCH", path("/memory/{}", id), body=changes, if_version=if_version))

    async def tag(self, **changes: Unpack[wire.TagMemories]) -> wire.TaggedMemories:
        """Adds and removes tags of up to 1 000 memories; each is judged by itself, so look at ``failed``."""
        return await self._client._post("/memory/tags", changes)

    async def delete(
        self, id: str, *, trash: bool | None = None, user_id: str | None = None, if_version: int | None = None
    ) -> wire.DeletedMemory:
        """For good, unless ``trash`` is true."""
        return await self._client._remove(path("/memory/{}", id), {"trash": trash, "user_id": user_id}, if_version)

    async def history(self, id: str, **place: Unpack[wire.MemoryHistoryQuery]) -> wire.MemoryHistory:
        """Its versions, newest first; the present one is the first."""
        return await self._client._get(path("/memory/{}/history", id), place)

    async def restore(self, id: str, version: int, *, user_id: str | None = None, if_version: int | None = None) -> wire.Memory:
        """Makes an earlier version the present one."""
        body = {"version": version, **({} if user_id is None else {"user_id": user_id})}
        return await self._client._post(path("/memory/{}/restore", id), body, if_version)

    async def erase_history(self, id: str, *, user_id: str | None = None) -> wire.Erased:
        """Removes its earlier versions for good."""
        return await self._client._remove(path("/memory/{}/history", id), {"user_id": user_id})

    async def reinforce(
        self, id: str, *, idempotency_key: str | None = None, **boost: Unpack[wire.ReinforceMemoryOptions]
    ) -> wire.ReinforcedMemory:
        return await self._client._write("/memory/reinforce", {**boost, "id": id}, idempotency_key)

    async def related(self, id: str, **place: Unpack[wire.RelatedMemoriesQuery]) -> wire.RelatedMemories:
        return await self._client._get(path("/memory/{}/related", id), place)


class AsyncTrash(_AsyncCalls):
    """Memories that were deleted and can be restored."""

    async def page(self, **place: Unpack[wire.ListTrashQuery]) -> wire.Trash:
        return await self._client._get("/trash", place)

    async def restore(self, id: str, *, user_id: str | None = None) -> wire.Memory:
        """Brings a memory back, or a document by its first memory."""
        return await self._client._json(Call("POST", path("/trash/{}/restore", id), {"user_id": user_id}))

    async def delete(self, id: str, *, user_id: str | None = None) -> wire.Erased:
        """Removes one entry for good."""
        return await self._client._remove(path("/trash/{}", id), {"user_id": user_id})

    async def empty(self, *, user_id: str | None = None) -> wire.Erased:
        """Removes all of it for good."""
        return await self._client._remove("/trash", {"user_id": user_id})


FACT = "/api/temporal/fact"


class AsyncFacts(_AsyncCalls):
    async def record(self, *, idempotency_key: str | None = None, **fact: Unpack[wire.RecordFact]) -> wire.RecordedFact:
        return await self._client._write(FACT, fact, idempotency_key)

    async def record_many(self, facts: Sequence[wire.RecordFact], *, idempotency_key: str | None = None) -> wire.RecordedFacts:
        """Up to 1 000, in order; each is judged by itself, so look at ``failed``."""
        return await self._client._write(f"{FACT}/batch", {"facts": list(facts)}, idempotency_key)

    async def page(self, **place: Unpack[wire.FindFactsQuery]) -> wire.FactPage:
        """One page; past facts too, unless ``at`` names a moment."""
        return await self._client._get(FACT, place)

    def list(self, **filter: Unpack[wire.FindFactsQuery]) -> AsyncIterator[wire.Fact]:
        """All that match, fetched page by page."""
        return self._client._pages(FACT, filter, "facts")

    async def current(self, **filter: Unpack[wire.CurrentFactQuery]) -> wire.Fact:
        """The fact that is true now, or ``at`` a moment; raises ``NOT_FOUND`` where nothing is."""
        return (await self._client._get(f"{FACT}/current", filter))["fact"]

    async def get(self, id: str, **filter: Unpack[wire.GetFactQuery]) -> wire.Fact:
        return (await self._client._get(path(FACT + "/{}", id), filter))["fact"]

    async def update(self, id: str, **changes: Unpack[wire.UpdateFact]) -> wire.Fact:
        return await self._client._json(Call("PATCH", path(FACT + "/{}", id), body=changes))

    async def close(self, id: str, *, valid_to: str | int | None = None, user_id: str | None = None) -> wire.Fact:
        """Ends it now, or at ``valid_to``."""
        return await self._client._remove(path(FACT + "/{}", id), {"valid_to": valid_to, "user_id": user_id})

    async def erase(self, id: str, *, user_id: str | None = None) -> wire.Fact:
        """Removes it and all its versions for good."""
        return await self._client._remove(path(FACT + "/{}", id), {"erase": True, "user_id": user_id})

    async def timeline(self, **filter: Unpack[wire.FactTimelineQuery]) -> wire.FactTimeline:
        return await self._client._get("/api/temporal/timeline", filter)

    async def search(self, **search: Unpack[wire.SearchFactsQuery]) -> wire.FoundFacts:
        return await self._client._get("/api/temporal/search", search)

    async def compare(self, **filter: Unpack[wire.CompareFactsQuery]) -> wire.FactComparison:
        return await self._client._get("/api/temporal/compare", filter)

    async def stats(self, **filter: Unpack[wire.FactStatsQuery]) -> wire.FactStats:
        return await self._client._get("/api/temporal/stats", filter)

    async def subjects(self, **place: Unpack[wire.FactSubjectsQuery]) -> wire.FactSubjects:
        """Subjects of facts, those with the most first; one page."""
        return await self._client._get("/api/temporal/subjects", place)

    async def volatile(self, **filter: Unpack[wire.VolatileFactsQuery]) -> wire.VolatileFacts:
        return await self._client._get("/api/temporal/volatile", filter)


class AsyncJobs(_AsyncCalls):
    async def get(self, id: str, *, user_id: str | None = None) -> wire.Job:
        return await self._client._get(path("/jobs/{}", id), {"user_id": user_id})

    async def page(self, **place: Unpack[wire.ListJobsQuery]) -> wire.JobPage:
        return await self._client._get("/jobs", place)

    async def cancel(self, id: str, *, user_id: str | None = None) -> wire.Job:
        return await self._client._remove(path("/jobs/{}", id), {"user_id": user_id})

    async def wait(
        self, id: str, *, user_id: str | None = None, on_progress: Callable[[wire.Job], object] | None = None
    ) -> wire.IngestResult:
        """Waits until a job is done; raises its error, or ``JOB_CANCELLED``."""
        pause = FIRST_LOOK
        while True:
            job: Any = await self.get(id, user_id=user_id)
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
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_LOOK)


class AsyncDocuments(_AsyncCalls):
    async def submit(
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
            return await self._client._json(call)
        finally:
            if opened is not file:
                opened.close()  # type: ignore[union-attr]

    async def ingest(
        self,
        file: str | os.PathLike[str] | bytes | IO[bytes] | None = None,
        *,
        on_progress: Callable[[wire.Job], object] | None = None,
        **source: Any,
    ) -> wire.IngestResult:
        """Ingests as ``submit`` does, and waits until the document's memories can be found."""
        begun = await self.submit(file, **source)
        if "status" not in begun:
            return begun
        return await self._client.jobs.wait(begun["id"], user_id=source.get("user_id"), on_progress=on_progress)

    async def page(self, **place: Unpack[wire.ListDocumentsQuery]) -> wire.DocumentPage:
        """One page, newest first."""
        return await self._client._get("/documents", place)

    def list(self, **filter: Unpack[wire.ListDocumentsQuery]) -> AsyncIterator[wire.Document]:
        """All that match, newest first, fetched page by page."""
        return self._client._pages("/documents", filter)

    async def get(self, id: str, **place: Unpack[wire.GetDocumentQuery]) -> dict[str, Any]:
        return await self._client._get(path("/documents/{}", id), place)

    async def file(self, id: str, *, user_id: str | None = None) -> bytes:
        """The original bytes."""
        return (await self._client._send(Call("GET", path("/documents/{}/file", id), {"user_id": user_id}))).content

    async def restore_file(self, id: str, file: bytes) -> dict[str, Any]:
        """Gives an imported document its original back: the very bytes that it was made of."""
        headers = {"content-type": "application/octet-stream"}
        return await self._client._json(Call("PUT", path("/documents/{}/file", id), content=file, headers=headers))

    async def delete(self, id: str, *, trash: bool | None = None, user_id: str | None = None) -> wire.DeletedDocument:
        """For good, unless ``trash`` is true."""
        return await self._client._remove(path("/documents/{}", id), {"trash": trash, "user_id": user_id})


class AsyncUsers(_AsyncCalls):
    async def page(self, **place: Unpack[wire.ListUsersQuery]) -> wire.UserPage:
        """One page, by id; for the scope ``admin``."""
        return await self._client._get("/users", place)

    def list(self) -> AsyncIterator[dict[str, Any]]:
        """All users, by id, fetched page by page; for the scope ``admin``."""
        return self._client._pages("/users", {})

    def memories(self, user_id: str, /, **filter: Unpack[wire.ListUserMemoriesQuery]) -> AsyncIterator[wire.Memory]:
        """A user's memories, newest first, fetched page by page."""
        return self._client._pages(path("/users/{}/memories", user_id), filter)

    async def summary(self, user_id: str) -> wire.UserSummary:
        """A short summary of a user's memories."""
        return await self._client._get(path("/users/{}/summary", user_id))

    async def regenerate_summary(self, user_id: str) -> wire.UserSummary:
        """The same, made now."""
        return await self._client._post(path("/users/{}/summary/regenerate", user_id))

    async def delete_memories(
        self, user_id: str, *, keep: str | None = None, include: str | None = None, backups: bool | None = None
    ) -> wire.DeletedUserMemories:
        """All memories of a user, with documents and originals, but for what ``keep`` names; facts too with ``include``."""
        query = {"keep": keep, "include": include, "backups": backups}
        return await self._client._remove(path("/users/{}/memories", user_id), query)


class AsyncKeys(_AsyncCalls):
    async def list(self) -> dict[str, Any]:
        return await self._client._get("/keys")

    async def create(self, **key: Any) -> dict[str, Any]:
        """The key itself is in this answer and in no other."""
        return await self._client._post("/keys", key)

    async def revoke(self, id: str) -> dict[str, Any]:
        return await self._client._remove(path("/keys/{}", id))

    async def remove_all(self) -> dict[str, Any]:
        """So that none is needed; with the token in the data folder only."""
        return await self._client._remove("/keys")


class AsyncTransfer(_AsyncCalls):
    def export(self, **query: Unpack[wire.ExportQuery]) -> AsyncIterator[str]:
        """Everything, as lines of JSON; cut off where the last one is not of the type ``end``."""
        return self._client._lines(Call("GET", "/export", query))

    async def import_(self, lines: str) -> wire.Imported:
        """Takes the first line of an export and up to 1 000 others; each is judged by itself."""
        return await self._client._json(Call("POST", "/import", content=lines))


class AsyncCompaction(_AsyncCalls):
    async def status(self) -> wire.Compaction:
        return await self._client._get("/compact")

    async def start(self, **query: Unpack[wire.CompactQuery]) -> wire.StartedCompaction:
        """With ``backups`` those of the store are then replaced by a new one."""
        return await self._client._json(Call("POST", "/compact", query))


class AsyncBackups(_AsyncCalls):
    async def list(self) -> wire.Backups:
        return await self._client._get("/backups")

    async def create(self, **body: Any) -> wire.StartedBackup:
        """Begins one; ``list`` says how far it is."""
        return await self._client._post("/backups", body)

    async def verify(self, name: str) -> wire.Backup:
        """Raises ``DAMAGED`` where it is not whole."""
        return await self._client._post(path("/backups/{}/verify", name))

    async def remove(self, name: str) -> dict[str, Any]:
        return await self._client._remove(path("/backups/{}", name))


class AsyncModels(_AsyncCalls):
    async def list(self) -> wire.Models:
        return await self._client._get("/models")

    async def use(self, name: str) -> wire.Models:
        """Begins to embed all memories again with that model; ``list`` says how far it is."""
        return await self._client._post("/models/use", {"name": name})
