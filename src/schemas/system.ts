/** State of the daemon: health, version, figures. */
import * as field from "./fields.ts";
import * as t from "./shapes.ts";
import { Type } from "./typebox.ts";

export const AliveReply = Type.Object({ ok: Type.Literal(true) });

const AddsRefused = Type.Optional(
  t.text("Why adding is refused while the rest works; absent while it is not."),
);

const Repairs = Type.Optional(
  t.list(
    t.text(),
    "What was lost by damage, or is made again after it, while the rest is served; absent: nothing.",
  ),
);

export const ReadyReply = Type.Object({
  ok: Type.Literal(true),
  adds_refused: AddsRefused,
  repairs: Repairs,
});

const ServiceState = t.oneOf(["ok", "not_ready"]);

/** Without a key, where one is needed, only `status` and `version`; `memory_count` for an admin alone. */
export const HealthReply = t.named(
  "Health",
  "Without a key, where one is needed, only `status` and `version`; `memory_count` is over all users, so for an admin alone.",
  {
    status: ServiceState,
    version: t.text(),
    ok: Type.Optional(t.flag()),
    embedding_model: Type.Optional(t.text()),
    memory_count: Type.Optional(t.count()),
    adds_refused: AddsRefused,
    instance_id: Type.Optional(t.text("Another one after every start.")),
  },
);

export const VersionReply = t.named("Version", {
  name: Type.Literal("memoryd"),
  version: t.text(),
  node: t.text(),
});

export const StatsReply = t.named("Stats", {
  version: t.text(),
  instance_id: t.text(),
  started_at: field.Time,
  ready: t.flag(),
  not_ready: Type.Array(t.text()),
  repairs: Repairs,
  memory_count: t.count(),
  perhaps_superseded: t.count("Guesses that a later memory took the place of one, see `/memory/superseded`."),
  documents: Type.Object({ count: t.count(), jobs_waiting: t.whole(), jobs_running: t.whole() }),
  sandbox: Type.Object({
    walls: t.list(
      Type.Union([Type.Literal("network"), Type.Literal("signals")]),
      "What the processes that read documents and recordings are kept from.",
    ),
    by: Type.Optional(Type.Union([Type.Literal("bubblewrap"), Type.Literal("namespaces")])),
  }),
  sectors: t.byName(t.whole(), "Memories by primary sector."),
  embedding: Type.Object({
    model: t.text(),
    model_sha256: t.text(),
    dimensions: t.whole(),
    workers: t.whole(),
    waiting: t.whole("Texts that wait to be embedded."),
  }),
  store: Type.Object({
    data_dir: t.text(),
    format: t.whole(),
    store_id: t.text(),
    position: t.text("`epoch.sequence` of the last durable record."),
    checkpoint: t.text("The same, of the last checkpoint."),
    pending_rows: t.whole(
      "Rows not in the tables yet; a memory is several: its own, its vectors, its links.",
    ),
    pending_bytes: t.whole(),
    disk_bytes: t.whole(),
    journal_bytes: t.whole("Of `disk_bytes` the journal's."),
    checkpoints: t.whole("Over the life of the store."),
    unerased: t.count("Deleted and replaced memories, facts and documents that stand in files yet."),
    read_only: t.flag("After a disk error writes are refused until a restart."),
    adds_refused: AddsRefused,
  }),
});

const SettingValue = Type.Unsafe<string | number | readonly string[]>({
  type: ["string", "number", "array"],
});

export const SettingsReply = t.named("Settings", {
  items: t.records({
    name: t.text("The key in the configuration file."),
    flag: t.text(),
    variable: t.text(),
    description: t.text(),
    value: { ...SettingValue, description: "Addresses without credentials and query." },
    default: SettingValue,
    source: t.oneOf(
      ["flag", "variable", "file", "default"],
      "After `memoryd restart` variables of the first start count as flags.",
    ),
    from: t.nullable(t.text("The flag, the variable, or the path of the file; null for a default.")),
  }),
  secrets: t.records("Never their values.", {
    name: t.text(),
    from: t.nullable(t.text("The variable, or the path of the file, that it was read from; null: not set.")),
  }),
  config_file: t.nullable(t.text("The configuration file; null where there is none.")),
  agent_adds_per_hour: t.whole("Notes, facts and documents that an agent may add."),
  requests_per_minute: t.nullable(t.whole("Of each key; null: no limit.")),
});

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export const LogsQuery = t.query({
  l: t.whole("Lines at most.", { minimum: 1, maximum: 1_000, default: 200 }),
  level: t.oneOf(
    LOG_LEVELS,
    "Lines of this level and above; all if absent. How much is logged, `--log-level` says.",
  ),
});

export const LogsReply = t.named("Logs", {
  items: t.records("Oldest first. A line that the daemon did not write has neither time nor level.", {
    at: t.nullable(field.Time),
    level: t.nullable(t.oneOf(LOG_LEVELS)),
    message: t.text(),
    details: t.anyObject(),
  }),
  file: t.nullable(t.text("Null: this daemon logs to standard error, which cannot be read here.")),
  has_more: t.flag("Whether older lines, which were not read, may match too."),
});

export const SessionReply = t.named("Session", {
  name: t.nullable(t.text("Of the key.")),
  scope: t.oneOf(["read", "write", "admin"]),
  user_id: t.nullable(t.text("The one user whose data it reaches; null: everybody's.")),
  key_needed: t.flag("Whether requests need a key."),
  version: t.text(),
});

export const SignInCodeReply = Type.Object({ code: t.text("Good for a minute, and once.") });

export const SignInBody = t.named("SignIn", {
  code: t.text("From `POST /session/codes`.", { minLength: 1, maxLength: 128 }),
});

export const SignOutReply = Type.Object({ ok: Type.Literal(true) });

export const SignInReply = t.named("SignedIn", {
  token: t.text("Sent as a key is: `Authorization: Bearer TOKEN`."),
  expires_at: field.Time,
});

export const UseModelBody = t.named("UseModel", {
  name: Type.String({ minLength: 1, maxLength: 256, examples: ["memoryd-e5-small-2"] }),
});

export const ListModelsReply = t.named("Models", {
  items: t.records({
    name: t.text(),
    dimensions: t.count(),
    bytes: t.count("Of its files."),
    languages: t.text(),
    licence: t.text(),
    active: t.flag("Whether new memories and questions are embedded with it."),
  }),
  migration: t.objectOrNull({
    from: t.text(),
    to: t.text(),
    done: t.count("Memories that have vectors of the new model."),
    total: t.count(),
    status: t.oneOf(["running", "waiting"], "`waiting`: it failed, and is tried again shortly."),
  }),
});
