import envPaths from "env-paths";

/** A setting. Not TypeBox's, which takes longer to load than most commands take. */
export interface Setting<Value = string | number | readonly string[]> {
  readonly default: Value;
  /** Text for `--help` and docs/settings.md. */
  readonly description: string;
  /** In words that follow "must be". */
  readonly expected: string;
  /** True if the setting can have this value of the configuration file. */
  readonly accepts: (value: unknown) => boolean;
  /** The value of a text, in the type of the setting if it can be; the check follows. */
  readonly fromText: (said: string) => unknown;
  /** Empty where there is no fixed number of them. */
  readonly choices: readonly string[];
  /** Names a file or a folder: made absolute. */
  readonly isPath?: true;
  /** For the program itself and its tests: in no help and no documentation. */
  readonly isInternal?: true;
}
export type SettingValue<S extends Setting> = S extends Setting<infer Value> ? Value : never;

type Form = { readonly pattern: RegExp; readonly expected: string };

const plain = { choices: [], fromText: (said: string): unknown => said };

/** A text; without a form any, if the default is empty, else any but an empty one. */
function text(description: string, usual = "", form?: Form): Setting<string> {
  const { pattern, expected } = form ?? {
    pattern: usual === "" ? /^/ : /[^]/,
    expected: "a text that is not empty",
  };
  const accepts = (value: unknown) => typeof value === "string" && pattern.test(value);
  return { ...plain, default: usual, description, expected, accepts };
}

function path(description: string, usual = ""): Setting<string> {
  return { ...text(description, usual), isPath: true };
}

const internal = <Value>(setting: Setting<Value>): Setting<Value> => ({ ...setting, isInternal: true });

const wholeNumber = (
  description: string,
  usual: number,
  [least, most]: readonly [least: number, most: number],
): Setting<number> => ({
  ...plain,
  default: usual,
  description,
  expected: `a whole number from ${least} to ${most}`,
  accepts: (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  fromText: (said) => (/^\d{1,15}$/.test(said.trim()) ? Number(said) : said),
});

function choice<const Choice extends string>(
  description: string,
  usual: Choice,
  choices: readonly Choice[],
): Setting<Choice> {
  const accepts = (value: unknown) => choices.some((each) => each === value);
  return {
    ...plain,
    default: usual,
    description,
    expected: `one of ${choices.join(", ")}`,
    accepts,
    choices,
  };
}

function list(description: string, { pattern, expected }: Form): Setting<readonly string[]> {
  const isItem = (item: unknown) => typeof item === "string" && pattern.test(item);
  return {
    ...plain,
    default: [],
    description,
    expected,
    accepts: (value) => Array.isArray(value) && value.every(isItem),
    fromText: (said) =>
      said
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
  };
}

const [MIB, GIB] = [1024 ** 2, 1024 ** 3];
const BYTES_IN = { "": 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: MIB, gib: GIB };

/** Bytes of a size such as `64MB`, `64MiB` or `67108864`; undefined for another text. */
export function bytesOfSize(size: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,15}) ?([kmg]i?b)?$/i.exec(size) ?? [];
  return number === undefined
    ? undefined
    : Number(number) * BYTES_IN[unit.toLowerCase() as keyof typeof BYTES_IN];
}

/** `auto`, or a size of so many bytes. */
const size = (
  description: string,
  [least, most]: readonly [least: number, most: number],
): Setting<string> => ({
  ...text(description, "auto"),
  expected: `auto, or a size from ${least / MIB}MiB to ${most / GIB}GiB as a text, such as 64MB, 1GiB or 67108864`,
  accepts(value) {
    const bytes = typeof value === "string" ? bytesOfSize(value) : undefined;
    return value === "auto" || (bytes !== undefined && bytes >= least && bytes <= most);
  },
});

export const userFolders = envPaths("memoryd", { suffix: "" });

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/**
 * The one list of settings. A setting `xY` is the flag `--x-y`, the variable
 * `MEMORYD_X_Y` and the key `xY` of the configuration file; in flags and variables, lists are separated by commas. Units are
 * in the names: bytes, milliseconds.
 */
export const SETTINGS_SCHEMA = {
  host: text("address to listen on", "127.0.0.1"),
  port: wholeNumber("port to listen on; 0 takes any free one", 8080, [0, 65_535]),
  dataDir: path("folder that holds everything", userFolders.data),
  store: text(
    "PostgreSQL database that holds the memories, as postgres://USER@HOST/DATABASE, prepared by `memoryd store prepare`; empty: the data directory holds them",
  ),
  storePasswordFile: path("file with the password of the database's user"),
  logLevel: choice(`how much to log: ${LOG_LEVELS.join(", ")}; debug has each request`, "info", LOG_LEVELS),
  apiKeyFile: path(
    "file with the API key, or set MEMORYD_API_KEY; without a key only this machine is served",
  ),
  tlsCert: path("file with the certificate chain (PEM) for HTTPS; needs the key too"),
  tlsKey: path("file with the private key (PEM) of the certificate"),
  trustedProxies: list(
    "addresses or networks of reverse proxies whose X-Forwarded-For names the client, for throttling and the log",
    {
      pattern: /^[0-9A-Fa-f.:]+(\/[0-9]{1,3})?$/,
      expected: "addresses such as 10.0.0.7 or networks such as 10.0.0.0/8",
    },
  ),
  allowedHosts: list("further names in Host headers to answer to, besides the address listened on", {
    pattern: /^[^\s/,@*]+$/,
    expected: "host names, without scheme and path",
  }),
  allowedOrigins: list("web origins (such as https://app.example) whose pages may call the daemon", {
    pattern: /^[a-z][a-z0-9+.-]*:\/\/[^\s/,@*]+$/,
    expected: "origins such as https://app.example, without a path",
  }),
  maxUploadBytes: wholeNumber("largest document accepted, sent or fetched", 100 * MIB, [1024, 16 * GIB]),
  whisperModelDir: path(
    "folder with another Whisper model that transcribes recordings, instead of the bundled one",
  ),
  ffmpeg: text(
    "the ffmpeg program that decodes recordings; auto: the one on the PATH, if there is one; off: the decoders that come with memoryd",
    "auto",
  ),
  ingestPrivate: choice(
    "whether pages on this machine and in private networks may be fetched: allow, deny, or auto: only while nobody else can ask",
    "auto",
    ["auto", "allow", "deny"],
  ),
  httpProxy: text(
    "proxy for fetching pages, such as http://proxy.example:3128; private pages are then never fetched",
  ),
  model: text(
    "embedding model of a new store: memoryd-e5-small-2, memoryd-e5-small, all-MiniLM-L6-v2, or one that was added; a store that has one keeps it",
    "memoryd-e5-small-2",
    { pattern: /^[A-Za-z0-9][\w.-]{0,63}$/, expected: "the name of a model, as `memoryd models` lists them" },
  ),
  memoryBudget: size(
    "memory for what makes questions and adding faster, such as 64MB: caches and further embedding threads, not the indexes; auto: caches of 320MiB at most, and threads by the cores",
    [8 * MIB, 64 * GIB],
  ),
  checkpointBytes: internal(
    wholeNumber("bytes of new rows at which they go from the journal into the tables", 16 * MIB, [
      64 * 1024,
      256 * MIB,
    ]),
  ),
  compactAfterMinutes: wholeNumber(
    "how long what was deleted may stay on the disk, but for busy times; 0: until `memoryd compact --now`",
    60,
    [0, 43_200],
  ),
  historyDays: wholeNumber(
    "days to keep earlier versions of memories, and what is in the trash; 0 keeps none",
    30,
    [0, 36_500],
  ),
  backupEvery: text(
    "make a backup so often, where anything was written since the last: off, 12h, 1d, …",
    "1d",
    { pattern: /^(off|[1-9][0-9]{0,3}[hd])$/, expected: "off, or hours or days such as 12h or 1d" },
  ),
  backupKeep: wholeNumber(
    "how many of the backups made by the schedule are kept; named ones stay",
    7,
    [1, 10_000],
  ),
  backupTo: path(
    "folder for backups; on another disk they outlive this one. Empty: `backups` in the data directory",
  ),
  timeZone: text('in which questions mean "yesterday" where they do not say; empty: the machine\'s own', "", {
    pattern: /^(?:[A-Za-z][\w+/-]{0,63}|[+-]\d\d:\d\d)?$/,
    expected: "a time zone, such as Europe/Berlin",
  }),
  exitWhenIdleMs: internal(
    wholeNumber("end after so long without a request, a job or an agent; 0: never", 0, [
      0,
      30 * 24 * 3_600_000,
    ]),
  ),
};
