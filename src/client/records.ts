/** What goes over the wire, as types: of the schemas that the daemon checks requests with. */
import type { Static } from "typebox";
import type {
  DeleteDocumentReply,
  DocumentRecord,
  GetDocumentQuery,
  GetDocumentReply,
  IngestReply,
  JobRecord,
  ListDocumentsQuery,
  ListDocumentsReply,
  ListJobsReply,
} from "../schemas/document.ts";
import type {
  CloseFactQuery,
  FactRecord,
  RecordFactBody,
  RecordFactReply,
  RecordFactsReply,
  UpdateFactBody,
} from "../schemas/fact.ts";
import type { Metadata, Tags } from "../schemas/fields.ts";
import type { ListMemoriesQuery, ListMemoriesReply } from "../schemas/list-memories.ts";
import type {
  AddMemoriesReply,
  AddMemoryBody,
  AddMemoryReply,
  DeleteMemoryReply,
  MemoryRecord,
  ReinforceMemoryReply,
  RelatedMemoriesReply,
  SectorsReply,
  UpdateMemoryBody,
  UpdateMemoryReply,
} from "../schemas/memory.ts";
import type { QueryMemoryBody, QueryMemoryReply } from "../schemas/query-memory.ts";
import type {
  CompareFactsQuery,
  CompareFactsReply,
  CurrentFactQuery,
  FactStatsQuery,
  FactStatsReply,
  FactTimelineQuery,
  FactTimelineReply,
  FindFactsQuery,
  FindFactsReply,
  GetFactQuery,
  SearchFactsQuery,
  SearchFactsReply,
  VolatileFactsQuery,
  VolatileFactsReply,
} from "../schemas/read-facts.ts";
import type { HealthReply, StatsReply, VersionReply } from "../schemas/system.ts";
import type {
  DeleteUserMemoriesQuery,
  DeleteUserMemoriesReply,
  ListUsersReply,
  UserSummaryReply,
} from "../schemas/user.ts";

export type Memory = Static<typeof MemoryRecord>;
export type NewMemory = Static<typeof AddMemoryBody>;
export type AddedMemory = Static<typeof AddMemoryReply>;
export type AddedMemories = Static<typeof AddMemoriesReply>;
export type MemoryChanges = Static<typeof UpdateMemoryBody>;
export type UpdatedMemory = Static<typeof UpdateMemoryReply>;
export type DeletedMemory = Static<typeof DeleteMemoryReply>;
export type ReinforcedMemory = Static<typeof ReinforceMemoryReply>;
export type RelatedMemories = Static<typeof RelatedMemoriesReply>;
export type Sectors = Static<typeof SectorsReply>;
export type MemoryPage = Static<typeof ListMemoriesReply>;
export type MemoryPlace = Static<typeof ListMemoriesQuery>;
/** Which memories; all conditions hold. */
export type MemoryFilter = Omit<MemoryPlace, "l" | "u" | "cursor">;

export type QueryConditions = Omit<Static<typeof QueryMemoryBody>, "query">;
export type QueryResult = Static<typeof QueryMemoryReply>;
export type Match = QueryResult["matches"][number];

export type Fact = Static<typeof FactRecord>;
export type NewFact = Static<typeof RecordFactBody>;
export type RecordedFact = Static<typeof RecordFactReply>;
export type RecordedFacts = Static<typeof RecordFactsReply>;
export type FactChanges = Static<typeof UpdateFactBody>;
export type FactEnd = Omit<Static<typeof CloseFactQuery>, "erase">;
export type FactPage = Static<typeof FindFactsReply>;
export type FactPlace = Static<typeof FindFactsQuery>;
export type FactFilter = Omit<FactPlace, "l" | "u" | "cursor">;
export type CurrentFactFilter = Static<typeof CurrentFactQuery>;
export type OneFactFilter = Static<typeof GetFactQuery>;
export type FactTimeline = Static<typeof FactTimelineReply>;
export type FactTimelineFilter = Static<typeof FactTimelineQuery>;
export type FoundFacts = Static<typeof SearchFactsReply>;
export type FactSearch = Static<typeof SearchFactsQuery>;
export type FactComparison = Static<typeof CompareFactsReply>;
export type FactComparisonFilter = Static<typeof CompareFactsQuery>;
export type FactStats = Static<typeof FactStatsReply>;
export type FactStatsFilter = Static<typeof FactStatsQuery>;
export type VolatileFacts = Static<typeof VolatileFactsReply>;
export type VolatileFactsFilter = Static<typeof VolatileFactsQuery>;

/** What is said of a document beside its bytes. */
export interface IngestFields {
  readonly tags?: Static<typeof Tags>;
  readonly metadata?: Static<typeof Metadata>;
  readonly user_id?: string;
  readonly project?: string;
  /** Spoken in a recording, such as `en`. */
  readonly language?: string;
}
export type IngestResult = Static<typeof IngestReply>;
export type Job = Static<typeof JobRecord>;
export type JobPage = Static<typeof ListJobsReply>;
export type StoredDocument = Static<typeof DocumentRecord>;
export type DocumentWithChunks = Static<typeof GetDocumentReply>;
export type DocumentPage = Static<typeof ListDocumentsReply>;
export type DocumentPlace = Static<typeof ListDocumentsQuery>;
export type DocumentFilter = Omit<DocumentPlace, "l" | "u" | "cursor">;
export type ChunkPlace = Static<typeof GetDocumentQuery>;
export type DeletedDocument = Static<typeof DeleteDocumentReply>;

export type UserPage = Static<typeof ListUsersReply>;
export type User = UserPage["items"][number];
export type UserSummary = Static<typeof UserSummaryReply>;
export type UserDeletion = Omit<Static<typeof DeleteUserMemoriesQuery>, "user_id">;
export type DeletedUserMemories = Static<typeof DeleteUserMemoriesReply>;

export type Health = Static<typeof HealthReply>;
export type Version = Static<typeof VersionReply>;
export type Stats = Static<typeof StatsReply>;

/** Whose it is, where that must be checked. */
export interface Owner {
  readonly user_id?: string;
}
