import { boolean, integer, record } from "../json-form.ts";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { connect } from "./daemon-client.ts";
import { pathOf } from "./facts.ts";
import { ask, oneLine, print, printJson } from "./output.ts";
import { counted } from "./users.ts";

const Page = record({ total: integer });
const Deleted = record({
  ok: boolean,
  deleted: integer,
  deleted_documents: integer,
  deleted_facts: integer,
});

export interface DeleteUserOptions {
  readonly keepDocuments?: boolean;
  readonly includeFacts?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Deletes what a user has stored, after asking; where nobody can be asked, only with `yes`. */
export async function deleteUser(
  dataDir: string,
  user: string,
  { keepDocuments, includeFacts, yes, json }: DeleteUserOptions,
): Promise<void> {
  const daemon = await connect(dataDir);
  const encoded = encodeURIComponent(user);
  const count = async (path: string) =>
    (await daemon.call(Page, "GET", pathOf(path, { user_id: user, l: 1 }))).total;
  const staying = async () => {
    const facts = includeFacts === true ? 0 : await count("/api/temporal/fact");
    return facts === 0 ? "" : `; ${facts} ${facts === 1 ? "fact stays" : "facts stay"} (--include-facts)`;
  };
  if (yes !== true) {
    const there = counted(
      {
        memory_count: await count("/memory/all"),
        fact_count: includeFacts === true ? await count("/api/temporal/fact") : 0,
      },
      keepDocuments === true ? 0 : await count("/documents"),
    );
    const facts = await staying();
    const documents = keepDocuments === true ? ", those of documents left out" : "";
    const nothing = facts === "" ? "nothing stored" : "no memories";
    const what = `${oneLine(user)} has ${there || nothing}${documents}${facts}`;
    const all = facts === "" ? "all of it" : "all but the facts";
    const answer = await ask(`${what}. Delete ${all} for good? [y/N] `);
    if (answer === undefined) {
      throw new CliFailure(`${what}; nothing was deleted. Nobody is there to be asked: say --yes.`, {
        exitCode: EXIT.usage,
      });
    }
    if (!answer) throw new CliFailure("Nothing was deleted.");
  }
  const deleted = await daemon.call(
    Deleted,
    "DELETE",
    pathOf(`/users/${encoded}/memories`, {
      keep: keepDocuments === true ? "documents" : undefined,
      include: includeFacts === true ? "facts" : undefined,
    }),
  );
  if (json === true) printJson(deleted);
  else {
    const { deleted: memories, deleted_facts: facts, deleted_documents: documents } = deleted;
    const gone = counted({ memory_count: memories, fact_count: facts }, documents);
    const stay = await staying();
    if (gone !== "") print(`deleted ${gone}${stay}`);
    else print(`There was nothing to delete${stay === "" ? "." : stay}`);
  }
}
