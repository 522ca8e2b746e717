import { readFile } from "node:fs/promises";
import { boolean, isObject, record, string } from "../json-form.ts";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { connect } from "./daemon-client.ts";
import { print, printJson, sayIfLost } from "./output.ts";

export interface AddOptions {
  readonly tag?: readonly string[];
  readonly user?: string;
  readonly project?: string;
  readonly session?: string;
  readonly occurredAt?: string;
  readonly metadata?: string;
  readonly file?: string;
  readonly json?: boolean;
}

const Added = record({ id: string, primary_sector: string, deduplicated: boolean });

/** Remembers the words given, or all of a file or of standard input but its last line end. */
export async function add(dataDir: string, words: readonly string[], options: AddOptions): Promise<void> {
  const metadata = options.metadata === undefined ? undefined : parseMetadata(options.metadata);
  const content = await contentOf(words, options.file);
  if (content.trim() === "") {
    throw new CliFailure(
      "There is nothing to remember; give the text as arguments, on standard input or with --file.",
      {
        exitCode: EXIT.usage,
      },
    );
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
  sayIfLost(`The memory is stored: ${added.id}.`);
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
  if (isObject(value)) return value;
  throw new CliFailure(`--metadata must be a JSON object, such as '{"source":"diary"}'.`, {
    exitCode: EXIT.usage,
  });
}

async function contentOf(words: readonly string[], file: string | undefined): Promise<string> {
  if (file !== undefined) {
    if (words.length === 0) return decoded(await bytesOf(file), file);
    throw new CliFailure("Give either a text or --file, not both.", { exitCode: EXIT.usage });
  }
  const isAsked = words.length === 1 && words[0] === "-";
  if (words.length > 0 && !isAsked) return words.join(" ");
  // Somebody who has not asked for it would wait for nothing.
  if (process.stdin.isTTY && !isAsked) return "";
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return decoded(Buffer.concat(chunks), "Standard input");
}

async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFailure(`${file} cannot be read (${why}), so nothing was remembered.`, { cause: error });
  }
}

function decoded(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch (error) {
    throw new CliFailure(`${what} is not text in UTF-8, so nothing was remembered.`, { cause: error });
  }
}
