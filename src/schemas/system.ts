/** State of the daemon: health, version, figures. */
import { Type } from "typebox";
import { nullable, Time } from "./fields.ts";

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
      journal_bytes: Type.Integer({ description: "Of `disk_bytes` the journal's." }),
      checkpoints: Type.Integer({ description: "Over the life of the store." }),
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

const SettingValue = Type.Unsafe<string | number | readonly string[]>({
  type: ["string", "number", "array"],
});

export const SettingsReply = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        name: Type.String({ description: "The key in the configuration file." }),
        flag: Type.String(),
        variable: Type.String(),
        description: Type.String(),
        value: Type.Unsafe<string | number | readonly string[]>({
          ...SettingValue,
          description: "Addresses without credentials and query.",
        }),
        default: SettingValue,
        source: Type.Enum(["flag", "variable", "file", "default"], {
          type: "string",
          description: "After `memoryd restart` variables of the first start count as flags.",
        }),
        from: nullable(
          Type.String({
            description: "The flag, the variable, or the path of the file; null for a default.",
          }),
        ),
      }),
    ),
    secrets: Type.Array(
      Type.Object({
        name: Type.String(),
        from: nullable(
          Type.String({
            description: "The variable, or the path of the file, that it was read from; null: not set.",
          }),
        ),
      }),
      { description: "Never their values." },
    ),
    config_file: nullable(Type.String({ description: "The configuration file; null where there is none." })),
    agent_adds_per_hour: Type.Integer({ description: "Notes, facts and documents that an agent may add." }),
    requests_per_minute: nullable(Type.Integer({ description: "Of each key; null: no limit." })),
  },
  { $id: "Settings" },
);

const LogLevel = Type.Enum(["debug", "info", "warn", "error"], { type: "string" });

export const LogsQuery = Type.Object({
  l: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 200, description: "Lines at most." })),
  level: Type.Optional(
    Type.Enum(["debug", "info", "warn", "error"], {
      type: "string",
      description: "Lines of this level and above; all if absent. How much is logged, `--log-level` says.",
    }),
  ),
});

export const LogsReply = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        at: nullable(Time),
        level: nullable(LogLevel),
        message: Type.String(),
        details: Type.Unsafe<{ readonly [key: string]: unknown }>({ type: "object" }),
      }),
      { description: "Oldest first. A line that the daemon did not write has neither time nor level." },
    ),
    file: nullable(
      Type.String({ description: "Null: this daemon logs to standard error, which cannot be read here." }),
    ),
    has_more: Type.Boolean({ description: "Whether older lines, which were not read, may match too." }),
  },
  { $id: "Logs" },
);

export const SessionReply = Type.Object(
  {
    name: nullable(Type.String({ description: "Of the key." })),
    scope: Type.Enum(["read", "write", "admin"], { type: "string" }),
    user_id: nullable(Type.String({ description: "The one user whose data it reaches; null: everybody's." })),
    key_needed: Type.Boolean({ description: "Whether requests need a key." }),
    version: Type.String(),
  },
  { $id: "Session" },
);

export const SignInCodeReply = Type.Object({
  code: Type.String({ description: "Good for a minute, and once." }),
});

export const SignInBody = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 128, description: "From `POST /session/codes`." }) },
  { $id: "SignIn" },
);

export const SignInReply = Type.Object(
  {
    token: Type.String({ description: "Sent as a key is: `Authorization: Bearer TOKEN`." }),
    expires_at: Time,
  },
  { $id: "SignedIn" },
);

const Count = Type.Integer({ minimum: 0 });

export const UseModelBody = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 256, examples: ["multilingual-e5-small"] }) },
  { $id: "UseModel" },
);

export const ListModelsReply = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        name: Type.String(),
        dimensions: Count,
        bytes: Type.Integer({ minimum: 0, description: "Of its files." }),
        languages: Type.String(),
        licence: Type.String(),
        active: Type.Boolean({ description: "Whether new memories and questions are embedded with it." }),
      }),
    ),
    migration: nullable(
      Type.Object({
        from: Type.String(),
        to: Type.String(),
        done: Type.Integer({ minimum: 0, description: "Memories that have vectors of the new model." }),
        total: Count,
        status: Type.Enum(["running", "waiting"], {
          type: "string",
          description: "`waiting`: it failed, and is tried again shortly.",
        }),
      }),
    ),
  },
  { $id: "Models" },
);
