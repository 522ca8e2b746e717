import { existsSync, readFileSync } from "node:fs";
import { ConfigError, readSettings, type Settings } from "../../config/config.ts";
import { readStartWords } from "../../config/start-words.ts";
import { isMissing } from "../../config/system-error.ts";
import { definitionHere, isRunning, run } from "./keeper.ts";
import type { ServiceDefinition } from "./service-definition.ts";
import { commandIn } from "./service-words.ts";

/** The service as it was installed, by whichever version of this program. */
export interface InstalledService {
  readonly definition: ServiceDefinition;
  readonly node: string;
  readonly launcher: string;
  readonly words: readonly string[];
}

/** The service that starts the daemon of a data directory; undefined where there is none, or it starts another's. */
export function serviceOf(settings: Settings): InstalledService | undefined {
  const service = installedService();
  return service !== undefined && dataDirOf(service) === settings.dataDir ? service : undefined;
}

function installedService(): InstalledService | undefined {
  const definition = definitionHere([]);
  if (definition === undefined) return undefined;
  const text = textOf(definition);
  const [node, launcher, ...words] = (text && commandIn(process.platform, text)) || [];
  if (node === undefined || launcher === undefined) return undefined;
  return { definition, node, launcher, words };
}

function textOf({ file, isKept, show, ...definition }: ServiceDefinition): string | undefined {
  if (show !== undefined) return isRunning(definition) ? run(show) : undefined;
  try {
    return isKept ? readFileSync(file, "utf8") : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Undefined where its configuration cannot be read, which a start would say. */
function dataDirOf({ words }: InstalledService): string | undefined {
  try {
    // The variables of this terminal are not those of the service.
    return readSettings({ ...readStartWords(words), env: {} }).dataDir;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Why the service cannot start its daemon; undefined if it can. */
export function faultOf({ node, launcher }: InstalledService): string | undefined {
  const gone = [node, launcher].find((path) => !existsSync(path));
  return gone === undefined ? undefined : `it starts ${gone}, which is gone`;
}
