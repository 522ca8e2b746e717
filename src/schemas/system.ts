/** State of the daemon: health, version, figures. */
import { Type } from "typebox";
import { Time } from "./fields.ts";

export const AliveReply = Type.Object({ ok: Type.Literal(true) });

const AddsRefused = Type.Optional(
  Type.String({ description: "Why adding is refused while the rest works; absent while it is not." }),
);

const Repairs = Type.Optional(
  Type.Array(Type.String(), {
    description:
      "What was lost by damage, or is made again after it, while the rest is served; absent: nothing.",
  }),
);

export const ReadyReply = Type.Object({
  ok: Type.Literal(true),
  adds_refused: AddsRefused,
  repairs: Repairs,
});

const ServiceState = Type.Enum(["ok", "not_ready"], { type: "string" });

/** Without a key, where one is needed, only `status` and `version`; `memory_count` for an admin alone. */
export const HealthReply = Type.Object(
  {
    status: ServiceState,
    version: Type.String(),
    ok: Type.Optional(Type.Boolean()),
    embedding_model: Type.Optional(Type.String()),
    memory_count: Type.Optional(Type.Integer({ minimum: 0 })),
    adds_refused: AddsRefused,
    instance_id: Type.Optional(Type.String({ description: "Another one after every start." })),
  },
  {
    $id: "Health",
    description:
      "Without a key, where one is needed, only `status` and `version`; `memory_count` is over all users, so for an admin alone.",
  },
);

export const VersionReply = Type.Object(
  { name: Type.Literal("memoryd"), version: Type.String(), node: Type.String() },
  { $id: "Version" },
);

export const StatsReply = Type.Object(
  {
    version: Type.String(),
    instance_id: Type.String(),
    started_at: Time,
    ready: Type.Boolean(),
    not_ready: Type.Array(Type.String()),
    repairs: Repairs,
    memory_count: Type.Integer({ minimum: 0 }),
    documents: Type.Object({
      count: Type.Integer({ minimum: 0 }),
      jobs_waiting: Type.Integer(),
      jobs_running: Type.Integer(),
    }),
    sandbox: Type.Object({
      walls: Type.Array(Type.Union([Type.Literal("network"), Type.Literal("signals")]), {
        description: "What the processes that read documents and recordings are kept from.",
      }),
      by: Type.Optional(Type.Union([Type.Literal("bubblewrap"), Type.Literal("namespaces")])),
    }),
    sectors: Type.Unsafe<Record<string, number>>({
      type: "object",
      additionalProperties: { type: "integer" },
      description: "Memories by primary sector.",
    }),
    embedding: Type.Object({
      model: Type.String(),
      model_sha256: Type.String(),
      dimensions: Type.Integer(),
      workers: Type.Integer(),
      waiting: Type.Integer({ description: "Texts that wait to be embedded." }),
    }),
    store: Type.Object({
      data_dir: Type.String(),
      format: Type.Integer(),
      store_id: Type.String(),
      position: Type.String({ description: "`epoch.sequence` of the last durable record." }),
      checkpoint: Type.String({ description: "The same, of the last checkpoint." }),
      pending_rows: Type.Integer({
        description: "Rows not in the tables yet; a memory is several: its own, its vectors, its links.",
      }),
      pending_bytes: Type.Integer(),
      disk_bytes: Type.Integer(),
      unerased: Type.Integer({
        minimum: 0,
        description: "Deleted and replaced memories, facts and documents that stand in files yet.",
      }),
      read_only: Type.Boolean({ description: "After a disk error writes are refused until a restart." }),
      adds_refused: AddsRefused,
    }),
  },
  { $id: "Stats" },
);
