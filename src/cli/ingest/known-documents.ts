import { anything, arrayOf, type Formed, mapOf, nullable, record, string } from "../../json-form.ts";
import type { DaemonClient } from "../daemon-client.ts";
import type { LedgerScope } from "./ledger.ts";

const Page = record({
  items: arrayOf(
    record({
      id: string,
      user_id: nullable(string),
      metadata: mapOf(anything),
    }),
  ),
  next_cursor: nullable(string),
});

/** The documents of a scope by id, each with the path it says that it is from. */
export async function knownDocuments(
  daemon: DaemonClient,
  { user, project }: LedgerScope,
): Promise<ReadonlyMap<string, string | undefined>> {
  const known = new Map<string, string | undefined>();
  const query = new URLSearchParams({
    l: "1000",
    project: project ?? "",
    ...(user === null ? {} : { user_id: user }),
  });
  for (let cursor: string | null = ""; cursor !== null;) {
    if (cursor !== "") query.set("cursor", cursor);
    const page: Formed<typeof Page> = await daemon.call(Page, "GET", `/documents?${query.toString()}`);
    for (const { id, user_id: owner, metadata } of page.items) {
      // Without a user, the list is of everybody's.
      if (owner === user) known.set(id, typeof metadata.path === "string" ? metadata.path : undefined);
    }
    cursor = page.next_cursor;
  }
  return known;
}
