/** Types of requests and replies, from the schemas that the daemon checks requests with. */
import type { Static } from "typebox";
import type * as documentWire from "../schemas/document.ts";
import type * as factWire from "../schemas/fact.ts";
import type * as backupWire from "../schemas/backups.ts";
import type * as historyWire from "../schemas/changes.ts";
import type * as transferWire from "../schemas/transfer.ts";
import type * as fieldsWire from "../schemas/fields.ts";
import type * as memoryWire from "../schemas/memory.ts";
import type * as queryMemoryWire from "../schemas/query-memory.ts";
import type * as systemWire from "../schemas/system.ts";
import type * as userWire from "../schemas/user.ts";

export type Memory = Static<typeof memoryWire.MemoryRecord>;
export type NewMemory = Static<typeof memoryWire.AddMemoryBody>;
export type AddedMemory = Static<typeof memoryWire.AddMemoryReply>;
export type AddedMemories = Static<typeof memoryWire.AddMemoriesReply>;
export type MemoryChanges = Static<typeof memoryWire.UpdateMemoryBody>;
export type UpdatedMemory = Static<typeof memoryWire.UpdateMemoryReply>;
export type TagChanges = Static<typeof memoryWire.TagMemoriesBody>;
export type TaggedMemories = Static<typeof memoryWire.TagMemoriesReply>;
export type DeletedMemory = Static<typeof memoryWire.DeleteMemoryReply>;
export type ReinforcedMemory = Static<typeof memoryWire.ReinforceMemoryReply>;
export type RelatedMemories = Static<typeof memoryWire.RelatedMemoriesReply>;
export type Sectors = Static<typeof memoryWire.SectorsReply>;
export type MemoryPage = Static<typeof memoryWire.ListMemoriesReply>;
export type ComingMemories = Static<typeof memoryWire.ComingReply>;
export type ComingQuery = Static<typeof memoryWire.ComingQuery>;
export type SupersededPage = Static<typeof memoryWire.SupersededReply>;
export type SupersededPair = SupersededPage["items"][number];
export type SupersededPlace = Static<typeof memoryWire.SupersededQuery>;
export type MemoryCounts = Static<typeof memoryWire.CountMemoriesReply>;
export type MemoryCountsQuery = Static<typeof memoryWire.CountMemoriesQuery>;
export type MemoryPlace = Static<typeof memoryWire.ListMemoriesQuery>;
/** Which memories; all conditions hold. */
export type MemoryFilter = Omit<MemoryPlace, "l" | "u" | "cursor">;

export type MemoryHistory = Static<typeof historyWire.MemoryHistoryReply>;
export type MemoryVersion = MemoryHistory["items"][number];
export type HistoryPlace = Static<typeof historyWire.MemoryHistoryQuery>;
export type Trash = Static<typeof historyWire.TrashReply>;
export type TrashedMemory = Trash["items"][number];
export type TrashPlace = Static<typeof historyWire.TrashQuery>;
export type Erased = Static<typeof historyWire.ErasedReply>;
export type Undo = Static<typeof historyWire.UndoFields>;
export type Undone = Static<typeof historyWire.UndoReply>;
/** Options of a deletion: `trash` moves it to the trash, where it can be restored. */
export type Deletion = Static<typeof memoryWire.DeletionQuery>;

export type QueryConditions = Omit<Static<typeof queryMemoryWire.QueryMemoryBody>, "query">;
export type QueryResult = Static<typeof queryMemoryWire.QueryMemoryReply>;
export type ContextRequest = Static<typeof queryMemoryWire.ContextBody>;
export type Context = Static<typeof queryMemoryWire.ContextReply>;
export type Match = QueryResult["matches"][number];

export type Fact = Static<typeof factWire.FactRecord>;
export type NewFact = Static<typeof factWire.RecordFactBody>;
export type RecordedFact = Static<typeof factWire.RecordFactReply>;
export type RecordedFacts = Static<typeof factWire.RecordFactsReply>;
export type FactChanges = Static<typeof factWire.UpdateFactBody>;
export type FactEnd = Omit<Static<typeof factWire.CloseFactQuery>, "erase">;
export type FactPage = Static<typeof factWire.FindFactsReply>;
export type FactPlace = Static<typeof factWire.FindFactsQuery>;
export type FactFilter = Omit<FactPlace, "l" | "u" | "cursor">;
export type CurrentFactFilter = Static<typeof factWire.CurrentFactQuery>;
export type OneFactFilter = Static<typeof factWire.GetFactQuery>;
export type FactTimeline = Static<typeof factWire.FactTimelineReply>;
export type FactTimelineFilter = Static<typeof factWire.FactTimelineQuery>;
export type FoundFacts = Static<typeof factWire.SearchFactsReply>;
export type FactSearch = Static<typeof factWire.SearchFactsQuery>;
export type FactComparison = Static<typeof factWire.CompareFactsReply>;
export type FactComparisonFilter = Static<typeof factWire.CompareFactsQuery>;
export type FactStats = Static<typeof factWire.FactStatsReply>;
export type FactStatsFilter = Static<typeof factWire.FactStatsQuery>;
export type FactSubjects = Static<typeof factWire.FactSubjectsReply>;
export type FactSubjectsPlace = Static<typeof factWire.FactSubjectsQuery>;
export type VolatileFacts = Static<typeof factWire.VolatileFactsReply>;
export type VolatileFactsFilter = Static<typeof factWire.VolatileFactsQuery>;

/** `kind` says what happened to what; `user_id` and `at` whose it is and when. */
export type Change = Static<typeof historyWire.ChangeRecord>;

/** Fields of a document besides its bytes. */
export interface IngestFields {
  readonly tags?: Static<typeof fieldsWire.Tags>;
  readonly metadata?: Static<typeof fieldsWire.Metadata>;
  readonly user_id?: string;
  readonly project?: string;
  /** Spoken in a recording, such as `en`. */
  readonly language?: string;
}
export type IngestResult = Static<typeof documentWire.IngestReply>;
export type Job = Static<typeof documentWire.JobRecord>;
export type JobPage = Static<typeof documentWire.ListJobsReply>;
export type StoredDocument = Static<typeof documentWire.DocumentRecord>;
export type DocumentWithChunks = Static<typeof documentWire.GetDocumentReply>;
export type DocumentPage = Static<typeof documentWire.ListDocumentsReply>;
export type DocumentPlace = Static<typeof documentWire.ListDocumentsQuery>;
export type DocumentFilter = Omit<DocumentPlace, "l" | "u" | "cursor">;
export type ChunkPlace = Static<typeof documentWire.GetDocumentQuery>;
export type DeletedDocument = Static<typeof documentWire.DeleteDocumentReply>;

export type UserPage = Static<typeof userWire.ListUsersReply>;
export type User = UserPage["items"][number];
export type UserSummary = Static<typeof userWire.UserSummaryReply>;
export type UserDeletion = Omit<Static<typeof userWire.DeleteUserMemoriesQuery>, "user_id">;
export type DeletedUserMemories = Static<typeof userWire.DeleteUserMemoriesReply>;

export type Health = Static<typeof systemWire.HealthReply>;
export type Version = Static<typeof systemWire.VersionReply>;
export type Session = Static<typeof systemWire.SessionReply>;
export type Stats = Static<typeof systemWire.StatsReply>;
export type Settings = Static<typeof systemWire.SettingsReply>;
export type Logs = Static<typeof systemWire.LogsReply>;
export type LogsPlace = Static<typeof systemWire.LogsQuery>;

export type Key = Static<typeof userWire.KeyRecord>;
export type Keys = Static<typeof userWire.ListKeysReply>;
export type NewKey = Static<typeof userWire.CreateKeyBody>;
export type MadeKey = Static<typeof userWire.CreateKeyReply>;
export type RemovedKeys = Static<typeof userWire.RemoveKeysReply>;
export type Backup = Static<typeof backupWire.BackupRecord>;
export type Backups = Static<typeof backupWire.ListBackupsReply>;
export type NewBackup = NonNullable<Static<typeof backupWire.CreateBackupBody>>;
export type StartedBackup = Static<typeof backupWire.StartBackupReply>;
export type RemovedBackup = Static<typeof backupWire.RemoveBackupReply>;
export type Compaction = Static<typeof backupWire.CompactionRecord>;
export type StartedCompaction = Static<typeof backupWire.StartCompactionReply>;
export type PurgeRequest = Static<typeof backupWire.StartCompactionQuery>;
export type ImportedLines = Static<typeof transferWire.ImportReply>;

/** The owner, for the ownership check. */
export type Owner = { readonly user_id?: string };
export type Models = Static<typeof systemWire.ListModelsReply>;
