import envPaths from "env-paths";
import { choice, list, text, wholeNumber } from "./setting-kinds.ts";

export const userFolders = envPaths("memoryd", { suffix: "" });

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export const INGEST_PRIVATE = ["auto", "allow", "deny"] as const;

/**
 * The one list of settings. A setting `xY` is the flag `--x-y`, the variable `MEMORYD_X_Y` and the key `xY` of the
 * configuration file; in flags and variables, lists are separated by commas. Units are in the names: bytes, milliseconds.
 */
export const SETTINGS_SCHEMA = {
  host: text({ default: "127.0.0.1", description: "address to listen on" }),
  port: wholeNumber({
    minimum: 0,
    maximum: 65_535,
    default: 8080,
    description: "port to listen on; 0 takes any free one",
  }),
  socket: text({
    default: "",
    description: "path of a Unix socket to listen on besides; only its owner may open it",
  }),
  dataDir: text({
    default: userFolders.data,
    description: "folder that holds everything",
  }),
  logLevel: choice({
    choices: LOG_LEVELS,
    default: "info",
    description: `how much to log: ${LOG_LEVELS.join(", ")}; debug has each request`,
  }),
  apiKeyFile: text({
    default: "",
    description: "file with the API key, or set MEMORYD_API_KEY; without a key only this machine is served",
  }),
  tlsCert: text({
    default: "",
    description: "file with the certificate chain (PEM) for HTTPS; needs the key too",
  }),
  tlsKey: text({ default: "", description: "file with the private key (PEM) of the certificate" }),
  trustedProxies: list({
    pattern: /^[0-9A-Fa-f.:]+(\/[0-9]{1,3})?$/,
    expected: "addresses such as 10.0.0.7 or networks such as 10.0.0.0/8",
    description:
      "addresses or networks of reverse proxies whose X-Forwarded-For names the client, for throttling and the log",
  }),
  allowedHosts: list({
    pattern: /^[^\s/,@*]+$/,
    expected: "host names, without scheme and path",
    description: "further names in Host headers to answer to, besides the address listened on",
  }),
  allowedOrigins: list({
    pattern: /^[a-z][a-z0-9+.-]*:\/\/[^\s/,@*]+$/,
    expected: "origins such as https://app.example, without a path",
    description: "web origins (such as https://app.example) whose pages may call the daemon",
  }),
  maxUploadBytes: wholeNumber({
    minimum: 1024,
    maximum: 16 * 1024 ** 3,
    default: 100 * 1024 ** 2,
    description: "largest document accepted, sent or fetched",
  }),
  whisperModelDir: text({
    default: "",
    description: "folder with another Whisper model that transcribes recordings, instead of the bundled one",
  }),
  ffmpeg: text({
    default: "auto",
    description:
      "the ffmpeg program that decodes recordings; auto: the one on the PATH, if there is one; off: the decoders that come with memoryd",
  }),
  ingestPrivate: choice({
    choices: INGEST_PRIVATE,
    default: "auto",
    description:
      "whether pages on this machine and in private networks may be fetched: allow, deny, or auto: only while nobody else can ask",
  }),
  httpProxy: text({
    default: "",
    description:
      "proxy for fetching pages, such as http://proxy.example:3128; private pages are then never fetched",
  }),
  summaryLlmUrl: text({
    pattern: /^(https?:\/\/[^\s@]+)?$/,
    expected: "an http or https address without credentials",
    default: "",
    description:
      "chat completions of a language model (OpenAI-compatible) to send what a summary is made of to; off without",
  }),
  summaryLlmModel: text({ default: "", description: "its name there" }),
  summaryLlmKeyFile: text({
    default: "",
    description: "file with the key it asks for, or set MEMORYD_SUMMARY_LLM_KEY",
  }),
  model: text({
    pattern: /^[A-Za-z0-9][\w.-]{0,63}$/,
    expected: "the name of a model, as `memoryd models` lists them",
    default: "multilingual-e5-small",
    description:
      "embedding model of a new store: multilingual-e5-small, all-MiniLM-L6-v2, or one that was pulled; a store that has one keeps it",
  }),
  checkpointBytes: wholeNumber({
    isInternal: true,
    minimum: 64 * 1024,
    maximum: 256 * 1024 ** 2,
    default: 16 * 1024 ** 2,
    description: "bytes of new rows at which they go from the journal into the tables",
  }),
  compactAfterMinutes: wholeNumber({
    minimum: 0,
    maximum: 43_200,
    default: 60,
    description:
      "how long what was deleted may stay on the disk, but for busy times; 0: until `memoryd compact --now`",
  }),
  historyDays: wholeNumber({
    minimum: 0,
    maximum: 36_500,
    default: 30,
    description: "days to keep earlier versions of memories, and what is in the trash; 0 keeps none",
  }),
  backupEvery: text({
    default: "off",
    pattern: /^(off|[1-9][0-9]{0,3}[hd])$/,
    expected: "off, or hours or days such as 12h or 1d",
    description: "make a backup so often, where anything was written since the last: off, 12h, 1d, …",
  }),
  backupKeep: wholeNumber({
    minimum: 1,
    maximum: 10_000,
    default: 7,
    description: "how many of the backups made by the schedule are kept; named ones stay",
  }),
  backupTo: text({
    default: "",
    description:
      "folder for backups; on another disk they outlive this one. Empty: `backups` in the data directory",
  }),
  timeZone: text({
    default: "",
    pattern: /^(?:[A-Za-z][\w+/-]{0,63}|[+-]\d\d:\d\d)?$/,
    expected: "a time zone, such as Europe/Berlin",
    description: 'in which questions mean "yesterday" where they do not say; empty: the machine\'s own',
  }),
  exitWhenIdleMs: wholeNumber({
    isInternal: true,
    minimum: 0,
    maximum: 30 * 24 * 3_600_000,
    default: 0,
    description: "end after so long without a request, a job or an agent; 0: never",
  }),
};
