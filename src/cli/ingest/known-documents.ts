import { type Static, Type } from "typebox";
import type { DaemonClient } from "../daemon-client.ts";
import type { LedgerScope } from "./ledger.ts";

const Page = Type.Object({
  items: Type.Array(
    Type.Object({
      id: Type.String(),
      user_id: Type.Union([Type.String(), Type.Null()]),
      metadata: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" }),
    }),
  ),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
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
    const page: Static<typeof Page> = await daemon.call(Page, "GET", `/documents?${query.toString()}`);
    for (const { id, user_id: owner, metadata } of page.items) {
      // Without a user, the list is of everybody's.
      if (owner === user) known.set(id, typeof metadata.path === "string" ? metadata.path : undefined);
    }
    cursor = page.next_cursor;
  }
  return known;
}
