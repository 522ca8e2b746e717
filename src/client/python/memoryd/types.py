"""The requests and answers of memoryd's HTTP API, as dictionaries. Made by `npm run docs`; do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

class AddedMemory(TypedDict):
    id: str
    content: str
    tags: list[str]
    metadata: dict[str, Any]
    user_id: str | None
    project: str | None
    session_id: str | None
    occurred_at: str
    primary_sector: Literal["semantic", "episodic", "procedural", "emotional", "reflective"]
    sectors: list[Literal["semantic", "episodic", "procedural", "emotional", "reflective"]]
    salience: float
    created_at: str
    updated_at: str
    last_seen_at: str
    version: int
    created_by: str | None
    source: dict[str, Any] | None
    supersedes: list[str]
    superseded_by: str | None
    superseded_at: str | None
    superseded_how: Literal["told", "inferred", None]
    deduplicated: bool

class AddMemoryOptions(TypedDict, total=False):
    tags: list[str] | None
    metadata: dict[str, Any] | None
    user_id: str | None
    project: str | None
    session_id: str | None
    occurred_at: str | int | None
    sector: Literal["semantic", "episodic", "procedural", "emotional", "reflective", None]
    supersedes: str | list[str] | None

class _AddMemory(TypedDict):
    content: str

class AddMemory(_AddMemory, AddMemoryOptions):
    pass

class ProblemOptions(TypedDict, total=False):
    errors: list[dict[str, Any]]

class _Problem(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    code: str
    error: str
    request_id: str

class Problem(_Problem, ProblemOptions):
    pass

class AddedMemories(TypedDict):
    results: list[dict[str, Any] | Problem]
    added: int
    failed: int

class AddMemories(TypedDict):
    memories: list[AddMemory]

class UpdatedMemory(TypedDict):
    id: str
    content: str
    tags: list[str]
    metadata: dict[str, Any]
    user_id: str | None
    project: str | None
    session_id: str | None
    occurred_at: str
    primary_sector: Literal["semantic", "episodic", "procedural", "emotional", "reflective"]
    sectors: list[Literal["semantic", "episodic", "procedural", "emotional", "reflective"]]
    salience: float
    created_at: str
    updated_at: str
    last_seen_at: str
    version: int
    created_by: str | None
    source: dict[str, Any] | None
    supersedes: list[str]
    superseded_by: str | None
    superseded_at: str | None
    superseded_how: Literal["told", "inferred", None]
    updated: Literal[True]

class UpdateMemory(TypedDict, total=False):
    content: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None
    occurred_at: str | int | None
    project: str | None
    supersedes: str | list[str] | None
    still_holds: bool | None
    user_id: str | None

class TaggedMemories(TypedDict):
    results: list[dict[str, Any] | Problem]
    tagged: int
    failed: int

class TagMemoriesOptions(TypedDict, total=False):
    add: list[str] | None
    remove: list[str] | None
    user_id: str | None

class _TagMemories(TypedDict):
    memories: list[dict[str, Any]]

class TagMemories(_TagMemories, TagMemoriesOptions):
    pass

class DeletedMemory(TypedDict):
    ok: Literal[True]
    id: str
    deleted: int

class Deletion(TypedDict, total=False):
    user_id: str | None
    trash: bool | None

class ReinforcedMemory(TypedDict):
    ok: Literal[True]
    id: str
    salience: float

class ReinforceMemoryOptions(TypedDict, total=False):
    boost: float | None
    user_id: str | None

class _ReinforceMemory(TypedDict):
    id: str

class ReinforceMemory(_ReinforceMemory, ReinforceMemoryOptions):
    pass

class FoundFact(TypedDict):
    id: str
    subject: str
    predicate: str
    object: str
    valid_from: str
    valid_to: str | None
    confidence: float
    metadata: dict[str, Any]
    user_id: str | None
    project: str | None
    source_memory_id: str | None
    recorded_at: str
    updated_at: str
    superseded_by: str | None
    derived_from: str | None
    cardinality: Literal["one", "many"]
    created_by: str | None
    score: float

class QueryResultOptions(TypedDict, total=False):
    facts: list[FoundFact]

class _QueryResult(TypedDict):
    query: str
    matches: list[dict[str, Any]]
    relevant: int
    plausible: int
    took_ms: float

class QueryResult(_QueryResult, QueryResultOptions):
    pass

class QueryMemoryOptions(TypedDict, total=False):
    k: int | None
    user_id: str | None
    filters: dict[str, Any] | None
    time_zone: str | None
    snippet: int | None
    as_of: str | int | None
    explain: bool | None
    include_facts: bool | None

class _QueryMemory(TypedDict):
    query: str

class QueryMemory(_QueryMemory, QueryMemoryOptions):
    pass

class Context(TypedDict):
    text: str
    items: list[dict[str, Any]]
    tokens: int

class ContextRequest(TypedDict, total=False):
    user_id: str | None
    project: str | None
    query: str | None
    max_tokens: int | None

class Memory(TypedDict):
    id: str
    content: str
    tags: list[str]
    metadata: dict[str, Any]
    user_id: str | None
    project: str | None
    session_id: str | None
    occurred_at: str
    primary_sector: Literal["semantic", "episodic", "procedural", "emotional", "reflective"]
    sectors: list[Literal["semantic", "episodic", "procedural", "emotional", "reflective"]]
    salience: float
    created_at: str
    updated_at: str
    last_seen_at: str
    version: int
    created_by: str | None
    source: dict[str, Any] | None
    supersedes: list[str]
    superseded_by: str | None
    superseded_at: str | None
    superseded_how: Literal["told", "inferred", None]

class MemoryPage(TypedDict):
    items: list[Memory]
    total: int
    limit: int
    offset: int
    next_cursor: str | None

class SupersededPair(TypedDict):
    older: Memory
    newer: Memory

class SupersededPage(TypedDict):
    items: list[SupersededPair]
    total: int
    limit: int
    offset: int
    next_cursor: str | None

class ComingMemories(TypedDict):
    items: list[dict[str, Any]]

class MemoryCounts(TypedDict):
    items: list[dict[str, Any]]
    total: int

class RelatedMemories(TypedDict):
    nodes: list[Memory]
    edges: list[dict[str, Any]]

class Sectors(TypedDict):
    sectors: list[dict[str, Any]]

class MemoryVersion(TypedDict):
    version: int
    content: str
    tags: list[str]
    metadata: dict[str, Any]
    project: str | None
    occurred_at: str
    changed_at: str
    changed_by: str | None
    change: Literal["created", "updated", "restored"]

class MemoryHistory(TypedDict):
    items: list[MemoryVersion]
    total: int
    limit: int
    offset: int
    next_cursor: str | None

class RestoreVersionOptions(TypedDict, total=False):
    user_id: str | None

class _RestoreVersion(TypedDict):
    version: int

class RestoreVersion(_RestoreVersion, RestoreVersionOptions):
    pass

class Erased(TypedDict):
    ok: Literal[True]
    deleted: int

class Owner(TypedDict, total=False):
    user_id: str | None

class TrashedMemory(TypedDict):
    id: str
    content: str
    tags: list[str]
    metadata: dict[str, Any]
    user_id: str | None
    project: str | None
    session_id: str | None
    occurred_at: str
    primary_sector: Literal["semantic", "episodic", "procedural", "emotional", "reflective"]
    sectors: list[Literal["semantic", "episodic", "procedural", "emotional", "reflective"]]
    salience: float
    created_at: str
    updated_at: str
    last_seen_at: str
    version: int
    created_by: str | None
    source: dict[str, Any] | None
    supersedes: list[str]
    superseded_by: str | None
    superseded_at: str | None
    superseded_how: Literal["told", "inferred", None]
    deleted_at: str
    deleted_by: str | None
    purge_after: str
    memories: int

class Trash(TypedDict):
    items: list[TrashedMemory]
    total: int
    limit: int
    offset: int
    next_cursor: str | None

class Undone(TypedDict):
    items: list[dict[str, Any]]

class Undo(TypedDict, total=False):
    client: str | None
    since: str | int | None
    user_id: str | None
    kinds: list[Literal["added", "updated", "deleted", "restored"]] | None
    dry_run: bool | None

class RecordedFactOptions(TypedDict, total=False):
    similar: list[dict[str, Any]]

class _RecordedFact(TypedDict):
    id: str
    subject: str
    predicate: str
    object: str
    valid_from: str
    valid_to: str | None
    confidence: float
    metadata: dict[str, Any]
    user_id: str | None
    project: str | None
    source_memory_id: str | None
    recorded_at: str
    updated_at: str
    superseded_by: str | None
    derived_from: str | None
    cardinality: Literal["one", "many"]
    created_by: str | None
    superseded: list[str]
    deduplicated: bool

class RecordedFact(_RecordedFact, RecordedFactOptions):
    pass

class RecordFactOptions(TypedDict, total=False):
    valid_from: str | int | None
    valid_to: str | int | None
    confidence: float | None
    metadata: dict[str, Any] | None
    user_id: str | None
    project: str | None
    source_memory_id: str | None
    cardinality: Literal["one", "many", None]

class _RecordFact(TypedDict):
    subject: str
    predicate: str
    object: str

class RecordFact(_RecordFact, RecordFactOptions):
    pass

class RecordedFacts(TypedDict):
    results: list[dict[str, Any] | Problem]
    added: int
    failed: int

class RecordFacts(TypedDict):
    facts: list[RecordFact]

class Fact(TypedDict):
    id: str
    subject: str
    predicate: str
    object: str
    valid_from: str
    valid_to: str | None
    confidence: float
    metadata: dict[str, Any]
    user_id: str | None
    project: str | None
    source_memory_id: str | None
    recorded_at: str
    updated_at: str
    superseded_by: str | None
    derived_from: str | None
    cardinality: Literal["one", "many"]
    created_by: str | None

class UpdateFact(TypedDict, total=False):
    confidence: float | None
    metadata: dict[str, Any] | None
    user_id: str | None

class CloseFact(TypedDict, total=False):
    user_id: str | None
    valid_to: str | int | None
    erase: bool | None

class FactPage(TypedDict):
    facts: list[Fact]
    count: int
    total: int
    next_cursor: str | None
    query: dict[str, Any]

class OneFact(TypedDict):
    fact: Fact

class FactTimeline(TypedDict):
    subject: str
    timeline: list[dict[str, Any]]
    count: int
    total: int
    next_cursor: str | None

class FoundFacts(TypedDict):
    pattern: str
    field: str
    facts: list[Fact]
    count: int
    total: int
    next_cursor: str | None

class FactComparison(TypedDict):
    time1: str
    time2: str
    added: list[Fact]
    removed: list[Fact]
    changed: list[dict[str, Any]]
    unchanged: list[Fact]
    summary: dict[str, Any]
    next_cursor: str | None

class FactStats(TypedDict):
    total_facts: int
    active_facts: int
    historical_facts: int
    future_facts: int
    subjects: int
    predicates: int
    objects: int
    average_confidence: float | None
    earliest: str | None
    latest: str | None
    top_predicates: list[dict[str, Any]]

class FactSubjects(TypedDict):
    items: list[dict[str, Any]]
    total: int

class VolatileFacts(TypedDict):
    volatile_facts: list[dict[str, Any]]
    count: int

class Change(TypedDict):
    position: str
    kind: Literal["memory.added", "memory.updated", "memory.deleted", "memory.restored", "fact.added", "fact.updated", "fact.deleted", "fact.restored", "document.added", "document.updated", "document.deleted", "document.restored", "job.added", "job.updated", "job.deleted", "job.restored", "user.erased"]
    id: str
    user_id: str | None
    at: str

class Changes(TypedDict):
    items: list[Change]
    next: str
    reset: bool

class Imported(TypedDict):
    results: list[dict[str, Any] | Problem]
    added: int
    known: int
    failed: int

class IngestResult(TypedDict):
    root_memory_id: str
    memory_ids: list[str]
    child_count: int
    strategy: Literal["single", "root-child"]
    total_tokens: int
    deduplicated: bool
    document: dict[str, Any]
    extraction: dict[str, Any]

class JobOptions(TypedDict, total=False):
    result: IngestResult
    problem: Problem
    started_at: str
    finished_at: str

class _Job(TypedDict):
    id: str
    kind: Literal["ingest"]
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    progress: dict[str, Any]
    created_at: str

class Job(_Job, JobOptions):
    pass

class IngestBytesOptions(TypedDict, total=False):
    metadata: dict[str, Any] | None
    language: str | None
    tags: list[str] | None
    user_id: str | None
    project: str | None

class _IngestBytes(TypedDict):
    content_type: str
    data: str

class IngestBytes(_IngestBytes, IngestBytesOptions):
    pass

class IngestUrlOptions(TypedDict, total=False):
    metadata: dict[str, Any] | None
    language: str | None
    tags: list[str] | None
    user_id: str | None
    project: str | None

class _IngestUrl(TypedDict):
    url: str

class IngestUrl(_IngestUrl, IngestUrlOptions):
    pass

class Ingest(TypedDict, total=False):
    text: str | None
    url: str | None
    metadata: dict[str, Any] | None
    language: str | None
    tags: list[str] | None
    user_id: str | None
    project: str | None

class JobPage(TypedDict):
    items: list[Job]
    total: int
    limit: int
    offset: int
    next_cursor: str | None

class Document(TypedDict):
    id: str
    sha256: str
    bytes: int
    filename: str | None
    media_type: str
    user_id: str | None
    project: str | None
    title: str | None
    url: str | None
    tags: list[str]
    metadata: dict[str, Any]
    root_memory_id: str
    memory_ids: list[str]
    child_count: int
    strategy: Literal["single", "root-child"]
    total_tokens: int
    extraction: dict[str, Any]
    created_by: str | None
    created_at: str
    fetched_at: str | None

class DocumentPage(TypedDict):
    items: list[Document]
    total: int
    limit: int
    offset: int
    next_cursor: str | None

class DocumentWithChunks(TypedDict):
    id: str
    sha256: str
    bytes: int
    filename: str | None
    media_type: str
    user_id: str | None
    project: str | None
    title: str | None
    url: str | None
    tags: list[str]
    metadata: dict[str, Any]
    root_memory_id: str
    memory_ids: list[str]
    child_count: int
    strategy: Literal["single", "root-child"]
    total_tokens: int
    extraction: dict[str, Any]
    created_by: str | None
    created_at: str
    fetched_at: str | None
    has_original: bool
    chunks: list[Memory]
    chunk_total: int

class DeletedDocument(TypedDict):
    ok: Literal[True]
    id: str
    deleted: int

class RestoredOriginal(TypedDict):
    ok: Literal[True]
    id: str

class BackupCopiesOptions(TypedDict, total=False):
    problem: str

class _BackupCopies(TypedDict):
    made: str | None
    removed: int
    remaining: int | None

class BackupCopies(_BackupCopies, BackupCopiesOptions):
    pass

class Compaction(TypedDict, total=False):
    waiting: dict[str, Any]
    running: dict[str, Any]
    last: dict[str, Any]

class StartedCompaction(TypedDict):
    started: bool
    compaction: Compaction

class StartedBackup(TypedDict):
    name: str
    started_at: str
    done: int
    total: int
    status: Literal["running"]

class Backup(TypedDict):
    name: str
    created_at: str
    store_id: str
    position: str
    memories: int
    bytes: int
    added_bytes: int
    shares_disk: bool
    verified_at: str

class Backups(TypedDict):
    folder: str
    items: list[Backup]
    damaged: list[str]
    running: dict[str, Any] | None
    last: dict[str, Any] | None

class Models(TypedDict):
    items: list[dict[str, Any]]
    migration: dict[str, Any] | None

class UseModel(TypedDict):
    name: str

class Settings(TypedDict):
    items: list[dict[str, Any]]
    secrets: list[dict[str, Any]]
    config_file: str | None
    agent_adds_per_hour: int
    requests_per_minute: int | None

class Logs(TypedDict):
    items: list[dict[str, Any]]
    file: str | None
    has_more: bool

class UserPage(TypedDict):
    items: list[dict[str, Any]]
    total: int
    limit: int
    offset: int
    next_cursor: str | None

class UserSummary(TypedDict):
    user_id: str
    summary: str
    highlights: list[dict[str, Any]]
    key_phrases: list[str]
    facts: list[Fact]
    memory_count: int
    fact_count: int
    sectors: dict[str, Any]
    top_tags: list[dict[str, Any]]
    first_memory_at: str | None
    last_memory_at: str | None
    updated_at: str
    stale: bool

class DeletedUserMemoriesOptions(TypedDict, total=False):
    backups: BackupCopies

class _DeletedUserMemories(TypedDict):
    ok: Literal[True]
    deleted: int
    deleted_documents: int
    deleted_facts: int

class DeletedUserMemories(_DeletedUserMemories, DeletedUserMemoriesOptions):
    pass

class DeleteUserMemories(TypedDict, total=False):
    keep: Literal["documents", None]
    include: Literal["facts", None]
    user_id: str | None

class Key(TypedDict):
    id: str
    name: str
    prefix: str
    scope: Literal["read", "write", "admin"]
    user_id: str | None
    state: Literal["active", "expired", "revoked"]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None

class Session(TypedDict):
    name: str | None
    scope: Literal["read", "write", "admin"]
    user_id: str | None
    key_needed: bool
    version: str

class SignedIn(TypedDict):
    token: str
    expires_at: str

class SignIn(TypedDict):
    code: str

class HealthOptions(TypedDict, total=False):
    ok: bool
    embedding_model: str
    memory_count: int
    adds_refused: str
    instance_id: str

class _Health(TypedDict):
    status: Literal["ok", "not_ready"]
    version: str

class Health(_Health, HealthOptions):
    pass

class Version(TypedDict):
    name: Literal["memoryd"]
    version: str
    node: str

class StatsOptions(TypedDict, total=False):
    repairs: list[str]

class _Stats(TypedDict):
    version: str
    instance_id: str
    started_at: str
    ready: bool
    not_ready: list[str]
    memory_count: int
    perhaps_superseded: int
    documents: dict[str, Any]
    sandbox: dict[str, Any]
    sectors: dict[str, Any]
    embedding: dict[str, Any]
    store: dict[str, Any]

class Stats(_Stats, StatsOptions):
    pass

class IngestFields(TypedDict, total=False):
    metadata: dict[str, Any] | None
    language: str | None
    tags: list[str] | None
    user_id: str | None
    project: str | None

class UpdateMemoryQuery(TypedDict, total=False):
    user_id: str

class DeleteMemoryQuery(TypedDict, total=False):
    user_id: str
    trash: bool

class GetMemoryQuery(TypedDict, total=False):
    user_id: str

class ReinforceMemoryQuery(TypedDict, total=False):
    user_id: str

ListMemoriesQuery = TypedDict(
    "ListMemoriesQuery",
    {"l": "int", "u": "int", "cursor": "str", "sector": "Literal['semantic', 'episodic', 'procedural', 'emotional', 'reflective']", "user_id": "str", "project": "str", "tag": "str", "tags": "list[str]", "order": "Literal['added', 'happened']", "session_id": "str", "created_by": "str", "id_end": "str", "created_from": "str", "created_to": "str", "from": "str", "to": "str"},
    total=False,
)

class ListSupersededQuery(TypedDict, total=False):
    l: int
    u: int
    cursor: str
    user_id: str
    project: str
    how: Literal["told", "inferred"]

class ListComingQuery(TypedDict, total=False):
    user_id: str
    project: str
    days: int
    l: int
    time_zone: str

CountMemoriesQuery = TypedDict(
    "CountMemoriesQuery",
    {"by": "Literal['day', 'happened', 'client', 'project', 'tag', 'user']", "time_zone": "str", "l": "int", "sector": "Literal['semantic', 'episodic', 'procedural', 'emotional', 'reflective']", "user_id": "str", "project": "str", "tag": "str", "tags": "list[str]", "session_id": "str", "created_by": "str", "id_end": "str", "created_from": "str", "created_to": "str", "from": "str", "to": "str"},
    total=False,
)

class RelatedMemoriesQuery(TypedDict, total=False):
    depth: int
    user_id: str

class ListSectorsQuery(TypedDict, total=False):
    user_id: str

class MemoryHistoryQuery(TypedDict, total=False):
    l: int
    u: int
    cursor: str
    user_id: str

class EraseHistoryQuery(TypedDict, total=False):
    user_id: str

class RestoreVersionQuery(TypedDict, total=False):
    user_id: str

class ListTrashQuery(TypedDict, total=False):
    l: int
    u: int
    cursor: str
    user_id: str

class EmptyTrashQuery(TypedDict, total=False):
    user_id: str

class RestoreFromTrashQuery(TypedDict, total=False):
    user_id: str

class EraseFromTrashQuery(TypedDict, total=False):
    user_id: str

class UndoQuery(TypedDict, total=False):
    user_id: str

class FindFactsQuery(TypedDict, total=False):
    subject: str
    predicate: str
    object: str
    at: str
    known_at: str
    min_confidence: float
    created_by: str
    recorded_from: str
    user_id: str
    project: str
    l: int
    u: int
    cursor: str

class UpdateFactQuery(TypedDict, total=False):
    user_id: str

class CloseFactQuery(TypedDict, total=False):
    user_id: str
    valid_to: str
    erase: bool

class GetFactQuery(TypedDict, total=False):
    user_id: str
    known_at: str

class CurrentFactQueryOptions(TypedDict, total=False):
    at: str
    known_at: str
    user_id: str
    project: str

class _CurrentFactQuery(TypedDict):
    subject: str
    predicate: str

class CurrentFactQuery(_CurrentFactQuery, CurrentFactQueryOptions):
    pass

FactTimelineQuery = TypedDict(
    "FactTimelineQuery",
    {"subject": "str", "predicate": "str", "from": "str", "to": "str", "at": "str", "known_at": "str", "user_id": "str", "project": "str", "l": "int", "u": "int", "cursor": "str"},
    total=False,
)

class SearchFactsQueryOptions(TypedDict, total=False):
    field: Literal["subject", "predicate", "object", "any"]
    at: str
    known_at: str
    user_id: str
    project: str
    l: int
    u: int
    cursor: str

class _SearchFactsQuery(TypedDict):
    pattern: str

class SearchFactsQuery(_SearchFactsQuery, SearchFactsQueryOptions):
    pass

CompareFactsQuery = TypedDict(
    "CompareFactsQuery",
    {"subject": "str", "predicate": "str", "time1": "str", "time2": "str", "from": "str", "to": "str", "known_at": "str", "user_id": "str", "project": "str", "l": "int", "u": "int", "cursor": "str"},
    total=False,
)

class FactStatsQuery(TypedDict, total=False):
    at: str
    known_at: str
    user_id: str
    project: str

class FactSubjectsQuery(TypedDict, total=False):
    at: str
    known_at: str
    user_id: str
    project: str
    l: int
    u: int

VolatileFactsQuery = TypedDict(
    "VolatileFactsQuery",
    {"subject": "str", "predicate": "str", "limit": "int", "from": "str", "to": "str", "at": "str", "known_at": "str", "user_id": "str", "project": "str"},
    total=False,
)

class ListChangesQuery(TypedDict, total=False):
    since: str
    l: int
    user_id: str

class FollowChangesQuery(TypedDict, total=False):
    since: str
    user_id: str

class ExportQuery(TypedDict, total=False):
    user_id: str
    project: str
    waypoints: bool

class ListJobsQuery(TypedDict, total=False):
    l: int
    u: int
    cursor: str
    user_id: str
    project: str

class GetJobQuery(TypedDict, total=False):
    user_id: str

class CancelJobQuery(TypedDict, total=False):
    user_id: str

class ListDocumentsQuery(TypedDict, total=False):
    l: int
    u: int
    cursor: str
    user_id: str
    project: str

class GetDocumentQuery(TypedDict, total=False):
    l: int
    u: int
    user_id: str

class DeleteDocumentQuery(TypedDict, total=False):
    user_id: str
    trash: bool

class DownloadDocumentQuery(TypedDict, total=False):
    user_id: str

class RestoreOriginalQuery(TypedDict, total=False):
    user_id: str

class CompactQuery(TypedDict, total=False):
    backups: bool

class ReadLogsQuery(TypedDict, total=False):
    l: int
    level: Literal["debug", "info", "warn", "error"]

class ListUsersQuery(TypedDict, total=False):
    l: int
    u: int
    cursor: str

ListUserMemoriesQuery = TypedDict(
    "ListUserMemoriesQuery",
    {"l": "int", "u": "int", "cursor": "str", "sector": "Literal['semantic', 'episodic', 'procedural', 'emotional', 'reflective']", "user_id": "str", "project": "str", "tag": "str", "tags": "list[str]", "order": "Literal['added', 'happened']", "session_id": "str", "created_by": "str", "id_end": "str", "created_from": "str", "created_to": "str", "from": "str", "to": "str"},
    total=False,
)

class DeleteUserMemoriesQuery(TypedDict, total=False):
    keep: Literal["documents"]
    include: Literal["facts"]
    backups: bool
    user_id: str

class UserSummaryQuery(TypedDict, total=False):
    user_id: str

class RegenerateSummaryQuery(TypedDict, total=False):
    user_id: str

class McpQuery(TypedDict, total=False):
    project: str
    user_id: str
    tools: str
    read_only: bool

