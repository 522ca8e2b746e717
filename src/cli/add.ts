import { Type } from "typebox";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { connect } from "./daemon-client.ts";
import { print, printJson } from "./output.ts";

export interface AddOptions {
  readonly tag?: readonly string[];
  readonly user?: string;
  readonly project?: string;
  readonly session?: string;
  readonly occurredAt?: string;
  readonly metadata?: string;
  readonly json?: boolean;
}

const Added = Type.Object({ id: Type.String(), primary_sector: Type.String(), deduplicated: Type.Boolean() });

/** Remembers the words given, or, without any, all of standard input but its last line end. */
export async function add(dataDir: string, words: readonly string[], options: AddOptions): Promise<void> {
  const metadata = options.metadata === undefined ? undefined : parseMetadata(options.metadata);
  const content = words.length > 0 ? words.join(" ") : await readStandardInput();
  if (content.trim() === "") {
    throw new CliFailure("There is nothing to remember; give the text as arguments or on standard input.", {
      exitCode: EXIT.usage,
    });
  }

  const daemon = await connect(dataDir);
  const added = await daemon.call(Added, "POST", "/memory/add", {
    content,
    tags: options.tag,
    metadata,
    user_id: options.user,
    project: options.project,
    session_id: options.session,
    occurred_at: options.occurredAt,
  });
  if (options.json === true) printJson(added);
  else
    print(
      `${added.deduplicated ? "already remembered" : "remembered"} ${added.id} (${added.primary_sector})`,
    );
}

export function parseMetadata(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new CliFailure(`--metadata must be a JSON object, such as '{"source":"diary"}'.`, {
    exitCode: EXIT.usage,
  });
}

async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY) return "";
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  } catch (error) {
    throw new CliFailure("Standard input is not text in UTF-8, so nothing was remembered.", { cause: error });
  }
}
