import type { Operations } from "../../core/operations.ts";
import { type Database, databaseAway } from "./database.ts";

/** The times of the facts of the user `o.owner`: of each its latest version, null where that has an empty period. */
const FACTS = `select distinct on (split_part(id, '#', 1)) at from memoryd.row
  where owner = o.owner and kind = 6 and slim is not null
  order by split_part(id, '#', 1), split_part(id, '#', 2)::integer desc`;

const LIST = `with o as materialized (
  select owner from memoryd.owner o
    where exists (select from memoryd.row where owner = o.owner and kind = 0 and slim is not null)
      or exists (select from (${FACTS}) fact where at is not null)
), page as (
  select owner from o where $3::text is null or owner > $3 collate "C" order by owner collate "C" offset $2 limit $1
)
select (select count(*) from o), o.owner, memory.*, fact.* from (select) one left join page o on true
  left join lateral (
    select count(*), min(at), max(at) from memoryd.row where owner = o.owner and kind = 0 and slim is not null
  ) memory on true
  left join lateral (select count(at) from (${FACTS}) fact) fact on true
  order by o.owner collate "C"`;

type Listed = [
  total: string,
  userId: string | null,
  memoryCount: string,
  firstMemoryAt: number | null,
  lastMemoryAt: number | null,
  factCount: string,
];

/**
 * As the operation of a data directory, in one statement, in the order of the code points of the ids.
 *
 * @throws {ServiceError} NOT_READY while the database does not answer.
 */
export async function listUsers(
  { query }: Pick<Database, "query">,
  { limit, offset, after }: Parameters<Operations["listUsers"]>[0],
): Promise<Awaited<ReturnType<Operations["listUsers"]>>> {
  const listed = await query<Listed>(LIST, [limit + 1, offset, after]).catch((error: unknown) => {
    throw databaseAway(error);
  });
  const users = listed.flatMap(([, userId, memoryCount, firstMemoryAt, lastMemoryAt, factCount]) =>
    userId === null
      ? []
      : {
          userId,
          memoryCount: Number(memoryCount),
          factCount: Number(factCount),
          documentCount: 0,
          firstMemoryAt,
          lastMemoryAt,
        },
  );
  return { items: users.slice(0, limit), total: Number(listed[0]?.[0]), isMore: users.length > limit };
}
