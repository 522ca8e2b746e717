import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isTimeZone } from "../core/text/calendar.ts";
import { nearestName } from "../core/text/near-words.ts";
import { isLoopback, KEY_CHARACTERS, MIN_KEY_LENGTH, nameIn } from "../http/access.ts";
import { KEY_FILE_NAME } from "../storage/files/key-file.ts";
import { messageOf } from "./narrow.ts";
import { type Setting, SETTINGS_SCHEMA, type SettingValue, userFolders } from "./settings-schema.ts";

const PREFIX = "MEMORYD_";

/** Variables that no flag stands for. */
const SECRETS = ["MEMORYD_API_KEY"] as const;

type SettingName = keyof typeof SETTINGS_SCHEMA;
export type Settings = { readonly [Name in SettingName]: SettingValue<(typeof SETTINGS_SCHEMA)[Name]> };

/** All that the daemon is started with. Never log it whole: it holds the key. */
export type Config = ReturnType<typeof loadConfig>;

/** Flags and variables, without the configuration file; secrets are names only, as this is kept in a file. */
export interface StartedWith {
  readonly configFile?: string;
  /** Values of flags by setting name, as they may be typed anywhere: paths are absolute. */
  readonly flags: Readonly<Record<string, string>>;
  /** Variables that held a secret. */
  readonly secrets: readonly string[];
}

/** A setting that is unknown, out of range or unsafe. The message is one sentence that names it and what to do. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** @param fault the sentence before what went wrong. @throws {ConfigError} */
export function orConfigError<T>(fault: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ConfigError(`${fault}: ${messageOf(error)}.`, { cause: error });
  }
}

interface SettingSources {
  /** Values of flags by setting name, as they were typed. */
  readonly flags?: Readonly<Record<string, string>>;
  /** The file given with `--config`, which must exist; without it the one in the user's configuration folder, if any. */
  readonly configFile?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
}

/** Read where `--config` names no other. Never searched for in the working directory, which may be anybody's. */
export const DEFAULT_CONFIG_FILE = join(userFolders.config, "config.json");

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
export const flagOf = (name: string): string => `--${kebab(name)}`;
const variableOf = (name: string): string => `${PREFIX}${kebab(name).replaceAll("-", "_").toUpperCase()}`;

/** Every setting, with what the help and the documentation show of it. */
export const ALL_SETTINGS = (Object.keys(SETTINGS_SCHEMA) as SettingName[]).map((name) => {
  const setting: Setting = SETTINGS_SCHEMA[name];
  return { ...setting, name, flag: flagOf(name), variable: variableOf(name) };
});
/** Settings for people. */
export const SETTINGS = ALL_SETTINGS.filter(({ isInternal }) => !isInternal);
const DEFAULTS = Object.fromEntries(
  ALL_SETTINGS.map((setting) => [setting.name, setting.default]),
) as unknown as Settings;

/**
 * The settings in order of precedence: flags, environment, file, defaults. Relative paths count from the working
 * directory; those in a file, from the file's folder.
 * @throws {ConfigError} for the first one that is unknown or out of range.
 */
export const readSettings = (sources: SettingSources = {}): Settings => settingsOf(layersOf(sources));

/** Settings by source. */
type Layers = Readonly<Record<"file" | "variable" | "flag", Partial<Settings>>>;

function layersOf({ flags = {}, configFile, env = process.env }: SettingSources): Layers {
  return { file: fromFile(configFile), variable: fromEnvironment(env), flag: fromFlags(flags) };
}

function settingsOf({ file, variable, flag }: Layers): Settings {
  const settings = Object.freeze({ ...DEFAULTS, ...file, ...variable, ...flag });
  const fault = faultOfStore(settings.store);
  if (fault !== undefined) throw new ConfigError(fault);
  return settings;
}

/** As `readSettings`, with the key. @throws {ConfigError} also when others were let in without a key. */
export function loadConfig(sources: SettingSources = {}) {
  const layers = layersOf(sources);
  const settings = settingsOf(layers);
  const env = sources.env ?? process.env;
  const apiKey = readApiKey(settings, env);
  // The daemon reads the file later, once it owns the directory.
  const isKeyless = apiKey === undefined && !existsSync(join(settings.dataDir, KEY_FILE_NAME));
  // Keys of a database are read later, too.
  const fault = isKeyless && settings.store === "" ? strangersLetIn(settings) : undefined;
  if (fault !== undefined) throw new ConfigError(fault);
  if ((settings.tlsCert === "") !== (settings.tlsKey === ""))
    throw new ConfigError("For HTTPS both --tls-cert and --tls-key are needed; only one is set.");
  if (settings.timeZone !== "" && !isTimeZone(settings.timeZone))
    throw new ConfigError(
      `--time-zone must be a time zone, such as Europe/Berlin; got ${settings.timeZone}.`,
    );
  return Object.freeze({
    ...settings,
    /** Sentences on variables that were ignored. */
    warnings: ignoredVariables(env),
    apiKey,
    /** The variable `PATH`. */
    searchPath: env["PATH"] ?? "",
    /** Arguments and variables of the start, for a restart. */
    startedWith: {
      ...(sources.configFile !== undefined && { configFile: resolve(sources.configFile) }),
      flags: Object.fromEntries(
        Object.entries({ ...layers.variable, ...layers.flag, dataDir: settings.dataDir }).map(
          ([name, value]) => [name, String(value)],
        ),
      ),
      secrets: SECRETS.filter((name) => env[name] !== undefined),
    },
    /** The settings and where each comes from, without secrets. */
    shown: shownSettings(settings, layers, resolve(sources.configFile ?? DEFAULT_CONFIG_FILE), env),
  });
}

/** Addresses, which may hold a password or a token. */
const ADDRESSES: ReadonlySet<string> = new Set<SettingName>(["httpProxy", "store"]);

/** Settings with their values and where each comes from; secrets without their values. */
function shownSettings(values: Settings, layers: Layers, configFile: string, env: NodeJS.ProcessEnv) {
  const items = SETTINGS.map(({ name, flag, variable, description, default: usual }) => {
    const source =
      (["flag", "variable", "file"] as const).find((each) => layers[each][name] !== undefined) ??
      ("default" as const);
    const value = values[name];
    return {
      name,
      flag,
      variable,
      description,
      value: ADDRESSES.has(name) && typeof value === "string" ? withoutCredentials(value) : value,
      default: usual,
      source,
      from: { flag, variable, file: configFile, default: null }[source],
    };
  });
  return {
    items,
    secrets: SECRETS.map((name) => ({
      name,
      from: env[name] === undefined ? values.apiKeyFile || null : name,
    })),
    configFile: existsSync(configFile) ? configFile : null,
  };
}

function withoutCredentials(address: string): string {
  // Up to the last "@": a password may hold any sign.
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1…@").replace(/[?#].*$/s, "?…");
}

/** The names of those variables of this process that are settings or secrets of the daemon. */
export function variablesOfDaemon(): string[] {
  const ours = [...ALL_SETTINGS.map(({ variable }) => variable), ...SECRETS];
  return ours.filter((name) => process.env[name] !== undefined);
}

/** Sets variables for native libraries, which see those of the main thread only. */
export function setVariables(variables: Readonly<Record<string, string>>): void {
  Object.assign(process.env, variables);
}

function fromFlags(flags: Readonly<Record<string, string>>): Partial<Settings> {
  const found: Record<string, unknown> = {};
  for (const [key, text] of Object.entries(flags)) {
    if (!isSettingName(key))
      throw unknownSetting(
        "option",
        flagOf(key),
        SETTINGS.map((setting) => setting.flag),
      );
    found[key] = checked(key, SETTINGS_SCHEMA[key].fromText(text), flagOf(key), process.cwd());
  }
  return found;
}

/** Kubernetes sets these in every container beside a service called memoryd. */
const OF_KUBERNETES = /^MEMORYD_(?:SERVICE_(?:HOST|PORT)|PORT_\d+_)/;
const ADDRESS_OF_KUBERNETES = /^(?:tcp|udp|sctp):\/\//;

/** Why variables of this program are ignored. */
function ignoredVariables(env: NodeJS.ProcessEnv): string[] {
  const port = variableOf("port");
  if (!ADDRESS_OF_KUBERNETES.test(env[port] ?? "")) return [];
  return [`${port} is ${env[port]}, which Kubernetes sets for a service; it is ignored. Use --port.`];
}

function fromEnvironment(env: NodeJS.ProcessEnv): Partial<Settings> {
  const found: Record<string, unknown> = {};
  for (const { name, variable } of ALL_SETTINGS) {
    const text = env[variable];
    if (text === undefined || text === "" || (name === "port" && ADDRESS_OF_KUBERNETES.test(text))) continue;
    found[name] = checked(name, SETTINGS_SCHEMA[name].fromText(text), variable, process.cwd());
  }
  // Other programs may have variables of this prefix; one that is nearly ours is a slip, and could leave the door open.
  const known = [...ALL_SETTINGS.map((setting) => setting.variable), ...SECRETS];
  const suffixes = known.map((variable) => variable.slice(PREFIX.length));
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith(PREFIX) || known.includes(variable) || OF_KUBERNETES.test(variable)) continue;
    const nearest = nearestName(variable.slice(PREFIX.length), suffixes);
    if (nearest !== undefined)
      throw new ConfigError(`Unknown variable ${variable}; did you mean ${PREFIX}${nearest}?`);
  }
  return found;
}

function fromFile(given: string | undefined): Partial<Settings> {
  const file = resolve(given ?? DEFAULT_CONFIG_FILE);
  const text = orConfigError(`The configuration file ${file} cannot be read`, () =>
    given === undefined && statSync(file, { throwIfNoEntry: false }) === undefined
      ? "{}"
      : readFileSync(file, "utf8"),
  );
  if (text.includes("\0"))
    throw new ConfigError(
      `The configuration file ${file} is not UTF-8 text, perhaps UTF-16; save it as UTF-8.`,
    );
  // Some editors of Windows begin a file with a byte order mark.
  const values = orConfigError(`The configuration file ${file} is not JSON`, (): unknown =>
    JSON.parse(text.replace(/^\ufeff/, "")),
  );
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw new ConfigError(`The configuration file ${file} must hold one JSON object of settings.`);

  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    if (key === "apiKey")
      throw new ConfigError(
        `The configuration file ${file} holds a key; put it into a file of its own and name that as "apiKeyFile".`,
      );
    if (!isSettingName(key))
      throw unknownSetting(
        `setting in ${file}:`,
        `"${key}"`,
        SETTINGS.map((setting) => setting.name),
      );
    found[key] = checked(key, value, `"${key}" in ${file}`, dirname(file));
  }
  return found;
}

function checked(name: SettingName, value: unknown, where: string, baseFolder: string): unknown {
  const { accepts, expected, isPath: isAlwaysPath }: Setting = SETTINGS_SCHEMA[name];
  if (!accepts(value))
    throw new ConfigError(`${where} is ${JSON.stringify(value)}, but must be ${expected}.`);
  const isPath = isAlwaysPath === true || (name === "ffmpeg" && value !== "auto" && value !== "off");
  return isPath && typeof value === "string" && value !== "" ? resolve(baseFolder, value) : value;
}

function readApiKey({ apiKeyFile: file }: Settings, env: NodeJS.ProcessEnv): string | undefined {
  const variable = env["MEMORYD_API_KEY"];
  if (variable !== undefined && file !== "")
    throw new ConfigError("Both MEMORYD_API_KEY and a key file are set; keep one of them.");
  if (variable !== undefined) return checkedKey(variable, "MEMORYD_API_KEY");
  if (file === "") return undefined;
  const read = () => readFileSync(file, "utf8").trim();
  return checkedKey(orConfigError(`The key file ${file} cannot be read`, read), `The key in ${file}`);
}

/** An empty key is refused like any short one: a variable that came out empty must not open the door. */
function checkedKey(key: string, where: string): string {
  if (key.length < MIN_KEY_LENGTH)
    throw new ConfigError(
      `${where} has ${key.length} characters, but a key needs at least ${MIN_KEY_LENGTH}.`,
    );
  if (!KEY_CHARACTERS.test(key))
    throw new ConfigError(
      `${where} must be visible ASCII characters without spaces, so that it fits into a header.`,
    );
  return key;
}

type Exposure = Pick<Settings, "host" | "allowedHosts">;

/** A key's rate where others can call: 20 a second, with room for a burst. */
const NETWORK_REQUESTS_PER_MINUTE = 1_200;

/** How many requests a key may make in a minute; any number where only this machine is served. */
export const rateLimit = ({ host, allowedHosts }: Exposure): { readonly requestsPerMinute?: number } =>
  [host, ...allowedHosts.map(nameIn)].every(isLoopback)
    ? {}
    : { requestsPerMinute: NETWORK_REQUESTS_PER_MINUTE };

/** A sentence on the first setting that lets others in, and what to do, for when there is no key; undefined if none does. */
export function strangersLetIn({ host, allowedHosts }: Exposure): string | undefined {
  const remedy = `make one with \`memoryd keys create\`, or set MEMORYD_API_KEY (at least ${MIN_KEY_LENGTH} characters) or --api-key-file FILE`;
  if (!isLoopback(host))
    return `Listening on ${host} lets other machines in, so a key is needed: ${remedy}, or listen on 127.0.0.1.`;
  const foreign = allowedHosts.find((name) => !isLoopback(nameIn(name)));
  if (foreign === undefined) return undefined;
  return `Answering to the host name ${foreign} lets others in, so a key is needed: ${remedy}, or take it out of --allowed-hosts.`;
}

/** Says why an address of a database is refused, without the address, which may hold a password; undefined: it is not. */
function faultOfStore(store: string): string | undefined {
  if (store === "") return undefined;
  const url = URL.canParse(store) ? new URL(store) : undefined;
  if (
    url === undefined ||
    !/^postgres(ql)?:$/.test(url.protocol) ||
    url.hostname === "" ||
    url.pathname.length < 2
  )
    return "--store must be the address of a PostgreSQL database, such as postgres://memoryd@db.example/memoryd.";
  if (url.password !== "")
    return "A password on the command line or in a variable is seen by others: take it out of --store, and name a file with it as --store-password-file.";
  return url.search + url.hash === ""
    ? undefined
    : "--store takes no parameters: connections are encrypted, and the certificate is checked, unless the database is on this machine.";
}

function unknownSetting(kind: string, name: string, known: readonly string[]): ConfigError {
  const plain = name.replaceAll('"', "");
  const nearest = nearestName(plain, known);
  const hint = nearest === undefined ? `the settings are ${known.join(", ")}` : `did you mean ${nearest}?`;
  return new ConfigError(`Unknown ${kind} ${name}; ${hint}`);
}

const isSettingName = (key: string): key is SettingName => Object.hasOwn(SETTINGS_SCHEMA, key);

/**
 * The arguments and variables that start a daemon again as one was started: the variables of this process, but of those for
 * the daemon only its secrets.
 * @throws {ConfigError} where a secret is not set here, or a start would refuse the settings.
 */
export function startLike(before: StartedWith) {
  const { configFile, flags, secrets } = before;
  const others = new Set(variablesOfDaemon().filter((name) => !secrets.includes(name)));
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !others.has(name)));
  const missing = secrets.filter((name) => env[name] === undefined);
  if (missing.length > 0)
    throw new ConfigError(
      `The daemon was started with ${missing.join(" and ")}, which is not set here and stands in no file; set it and try again.`,
    );
  loadConfig({ ...before, env });
  const given = Object.entries(flags).map(([name, value]) => `${flagOf(name)}=${value}`);
  return { words: ["start", ...(configFile === undefined ? [] : [`--config=${configFile}`]), ...given], env };
}

/** Settings in the arguments of a start, in both spellings of flags; ignores unknown flags and other words. */
export function readStartWords(words: readonly string[]): Omit<StartedWith, "secrets"> {
  const flags: Record<string, string> = {};
  let configFile: string | undefined;
  for (const [index, word] of words.entries()) {
    const [flag = "", ...rest] = word.split("=");
    const value = rest.length > 0 ? rest.join("=") : words[index + 1];
    if (value === undefined) continue;
    if (flag === "--config") configFile = value;
    const setting = ALL_SETTINGS.find((each) => each.flag === flag);
    if (setting !== undefined) flags[setting.name] = value;
  }
  return { ...(configFile !== undefined && { configFile }), flags };
}
