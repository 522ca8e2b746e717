import { availableParallelism } from "node:os";
import envPaths from "env-paths";
import { Type } from "typebox";
import { NETWORK_REQUESTS_PER_MINUTE } from "./reach.ts";

/** The folders of this user for data and configuration, as the system has them. */
export const userFolders = envPaths("memoryd", { suffix: "" });

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export const INGEST_PRIVATE = ["auto", "allow", "deny"] as const;

/** More sessions than this gain nothing: they share the memory bandwidth. One core is left to the main thread. */
const MAX_DEFAULT_WORKERS = 4;

/**
 * The one list of settings. A setting `xY` is the flag `--x-y`, the variable `MEMORYD_X_Y` and the key `xY` of the
 * configuration file; in flags and variables, lists are separated by commas. Units are in the names: bytes, milliseconds.
 */
export const SettingsSchema = Type.Object(
  {
    host: Type.String({ minLength: 1, default: "127.0.0.1", description: "address to listen on" }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 8080,
      description: "port to listen on; 0 takes any free one",
    }),
    dataDir: Type.String({
      minLength: 1,
      default: userFolders.data,
      description: "folder that holds everything",
    }),
    logLevel: Type.Union(
      LOG_LEVELS.map((level) => Type.Literal(level)),
      { default: "info", description: `how much to log: ${LOG_LEVELS.join(", ")}; debug has each request` },
    ),
    apiKeyFile: Type.String({
      default: "",
      description: "file with the API key, or set MEMORYD_API_KEY; without a key only this machine is served",
    }),
    keyRequestsPerMinute: Type.String({
      pattern: "^(auto|off|[1-9][0-9]{0,6})$",
      default: "auto",
      description: `requests that a key may make in a minute, or off; auto: off where only this machine is served, else ${NETWORK_REQUESTS_PER_MINUTE}`,
    }),
    tlsCert: Type.String({
      default: "",
      description: "file with the certificate chain (PEM) for HTTPS; needs the key too",
    }),
    tlsKey: Type.String({ default: "", description: "file with the private key (PEM) of the certificate" }),
    trustedProxies: Type.Array(Type.String({ pattern: "^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$" }), {
      default: [],
      description:
        "addresses or networks of reverse proxies whose X-Forwarded-For names the client, for throttling and the log",
    }),
    allowedHosts: Type.Array(Type.String({ pattern: "^[^\\s/,@*]+$" }), {
      default: [],
      description: "further names in Host headers to answer to, besides the address listened on",
    }),
    allowedOrigins: Type.Array(Type.String({ pattern: "^[a-z][a-z0-9+.-]*://[^\\s/,@*]+$" }), {
      default: [],
      description: "web origins (such as https://app.example) whose pages may call the daemon",
    }),
    maxBodyBytes: Type.Integer({
      minimum: 1024,
      maximum: 1024 ** 3,
      default: 32 * 1024 ** 2,
      description: "largest JSON body accepted",
    }),
    maxUploadBytes: Type.Integer({
      minimum: 1024,
      maximum: 16 * 1024 ** 3,
      default: 100 * 1024 ** 2,
      description: "largest document accepted, sent or fetched",
    }),
    maxDocumentPages: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 5_000,
      description: "most pages of a document",
    }),
    maxDocumentChars: Type.Integer({
      minimum: 1_000,
      maximum: 100_000_000,
      default: 10_000_000,
      description: "most characters of text in a document",
    }),
    maxExtractionMs: Type.Integer({
      minimum: 1_000,
      maximum: 3_600_000,
      default: 120_000,
      description: "longest time spent working on reading one document",
    }),
    whisperModelDir: Type.String({
      default: "",
      description:
        "folder with another Whisper model that transcribes recordings, instead of the bundled one",
    }),
    modelIdleTimeoutMs: Type.Integer({
      minimum: 0,
      maximum: 86_400_000,
      default: 300_000,
      description: "how long a model stays in memory without work",
    }),
    maxMediaSeconds: Type.Integer({
      minimum: 1,
      maximum: 864_000,
      default: 21_600,
      description: "longest recording, in seconds",
    }),
    ffmpeg: Type.String({
      minLength: 1,
      default: "auto",
      description:
        "the ffmpeg program that decodes recordings; auto: the one on the PATH, if there is one; off: the decoders that come with memoryd",
    }),
    ingestWorkers: Type.Integer({
      minimum: 1,
      maximum: 16,
      default: 2,
      description: "documents taken in at a time",
    }),
    ingestPrivate: Type.Union(
      INGEST_PRIVATE.map((choice) => Type.Literal(choice)),
      {
        default: "auto",
        description:
          "whether pages on this machine and in private networks may be fetched: allow, deny, or auto: only while nobody else can ask",
      },
    ),
    httpProxy: Type.String({
      default: "",
      description:
        "proxy for fetching pages, such as http://proxy.example:3128; private pages are then never fetched",
    }),
    summaryLlmUrl: Type.String({
      pattern: "^(https?://[^\\s@]+)?$",
      default: "",
      description:
        "chat completions of a language model (OpenAI-compatible) to send what a summary is made of to; off without",
    }),
    summaryLlmModel: Type.String({ default: "", description: "its name there" }),
    summaryLlmKeyFile: Type.String({
      default: "",
      description: "file with the key it asks for, or set MEMORYD_SUMMARY_LLM_KEY",
    }),
    embeddingWorkers: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: Math.min(MAX_DEFAULT_WORKERS, Math.max(1, availableParallelism() - 1)),
      description: "threads that run the embedding model",
    }),
    checkpointBytes: Type.Integer({
      minimum: 64 * 1024,
      maximum: 256 * 1024 ** 2,
      default: 16 * 1024 ** 2,
      description: "bytes of new rows at which they go from the journal into the tables",
    }),
    compactAfterMinutes: Type.Integer({
      minimum: 0,
      maximum: 43_200,
      default: 60,
      description:
        "how long what was deleted may stay on the disk, but for busy times; 0: until `memoryd compact --now`",
    }),
    salienceHalfLifeDays: Type.Array(
      Type.String({ pattern: "^(off|(semantic|episodic|procedural|emotional|reflective)=[1-9]\\d{0,4})$" }),
      {
        default: [],
        description:
          "after how many days unseen the salience of a sector is halved, such as episodic=90; off: never",
      },
    ),
    mcpAddsPerHour: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 200,
      description: "notes, facts and documents that one agent may add within an hour",
    }),
    exitWhenIdleMs: Type.Integer({
      minimum: 0,
      maximum: 30 * 24 * 3_600_000,
      default: 0,
      description: "end after so long without a request, a job or an agent; 0: never",
    }),
    shutdownTimeoutMs: Type.Integer({
      minimum: 0,
      maximum: 600_000,
      default: 10_000,
      description: "how long a stop may take before it is cut short",
    }),
  },
  { additionalProperties: false },
);

/** All values that a setting can have, where they are few; else none. */
export function choicesOf(name: keyof typeof SettingsSchema.properties): string[] {
  const { anyOf = [] }: { type?: unknown; anyOf?: readonly { readonly const?: unknown }[] } =
    SettingsSchema.properties[name];
  return anyOf.map((each) => String(each.const));
}
