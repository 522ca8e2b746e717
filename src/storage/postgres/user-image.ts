import { type EmbeddingStamp, stampKey } from "../../core/embedding.ts";
import { ANALYSER_VERSION } from "../../core/text/analyser.ts";
import { encodeImage, IMAGE_FROM, IMAGE_LAYOUT, IndexImage } from "../image/index-image.ts";
import {
  catchUp,
  imageOf,
  inOrderOfAdding,
  loadIndexes,
  missingInImage,
  type StoreIndexes,
  type StoreLog,
} from "../store-indexes.ts";
import { type Database, DatabaseError, type Query } from "./database.ts";
import { type Head, readChanges } from "./newer-records.ts";
import { scannedRows } from "./user-rows.ts";

/** Rows since an image that are taken over, some 50 ms; with more, a new image is worth loading all rows. */
const MOST_SINCE = 1_000;
/** Some 140 000 memories; one statement writes an image. */
const MOST_BYTES = 128 * 1024 ** 2;
/** The answer is a text of twice the length; larger ones take longer to be put together. */
const BYTES_PER_READ = 1024 ** 2;

export interface LoadOptions {
  /** Makes indexes of a user without memories. */
  readonly newIndexes: () => StoreIndexes;
  readonly stamp: EmbeddingStamp;
  readonly log: StoreLog;
  /** Memories from which an image is made; for tests. */
  readonly imageFrom?: number | undefined;
}

export interface LoadedIndexes {
  readonly indexes: StoreIndexes;
  /** A new image of them, where it is worth storing. */
  readonly image?: Uint8Array;
}

/** Everything besides the rows that the image of a user depends on. */
const imageKey = (stamp: EmbeddingStamp): string =>
  JSON.stringify([IMAGE_LAYOUT, ANALYSER_VERSION, stampKey(stamp)]);

/**
 * Fills indexes with the memories of a user in one snapshot: from the image and the rows since, where there is an image that
 * can be used, else from all rows.
 */
export async function loadUserIndexes(
  query: Query,
  owner: string,
  { sequence }: Head,
  { newIndexes, stamp, log, imageFrom = IMAGE_FROM }: LoadOptions,
): Promise<LoadedIndexes> {
  const key = imageKey(stamp);
  const rows = scannedRows(query, owner);
  let indexes = newIndexes();
  if (sequence === 0) return { indexes };
  try {
    const image = await findImage(query, owner, key);
    if (image !== undefined) {
      await loadIndexes(indexes, rows, log, image);
      const changes = missingInImage(await readChanges(query, owner, image.sequence));
      catchUp(indexes, inOrderOfAdding(indexes.catalogue, changes));
      return { indexes };
    }
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    log.warn({ err: error }, "the image of a user is damaged and made anew");
    indexes = newIndexes();
  }
  await loadIndexes(indexes, rows, log);
  if (indexes.catalogue.size < imageFrom) return { indexes };
  // At once: the next write changes what the parts refer to.
  const image = Buffer.concat(encodeImage({ key, sequence }, imageOf(indexes)));
  return image.length > MOST_BYTES ? { indexes } : { indexes, image };
}

/** @throws {TypeError} where it is damaged. */
async function findImage(query: Query, owner: string, key: string): Promise<IndexImage | undefined> {
  const [found] = await query<[number]>(
    `select octet_length(i.content) from memoryd.image i join memoryd.owner o using (owner)
      where owner = $1 and i.key = $2 and i.sequence >= o.floor
        and (select count(*) from (
          select from memoryd.row r where r.owner = $1 and r.sequence > i.sequence limit $3
        ) since) < $3`,
    [owner, key, MOST_SINCE],
  );
  if (found === undefined) return undefined;
  const [length] = found;
  const content = Buffer.alloc(length);
  for (let at = 0; at < length; at += BYTES_PER_READ) {
    const [row] = await query<[Buffer]>(
      "select substring(content from $2 for $3) from memoryd.image where owner = $1",
      [owner, at + 1, BYTES_PER_READ],
    );
    row?.[0].copy(content, at);
  }
  const file = {
    read: async (bytes: Uint8Array, position: number) => content.copy(bytes, 0, position),
    close: async () => {},
  };
  const image = await IndexImage.at(file, 0, key);
  if (image === undefined) throw new TypeError("its header cannot be read");
  return image;
}

/**
 * Stores an image of a user as of a record, unless the database has lost that record, or has a later image, which that of a
 * final deletion is, too: see `EMPTY_IMAGE`.
 */
export async function storeImage(
  { query }: Pick<Database, "query">,
  owner: string,
  { sequence, token }: Head,
  { image, stamp }: { readonly image: Uint8Array; readonly stamp: EmbeddingStamp },
): Promise<void> {
  await query(
    `insert into memoryd.image (owner, sequence, key, content)
      select $1, $2::bigint, $3, $5 where exists (
        select from memoryd.owner where owner = $1 and sequence = $2 and token = $4
      ) or exists (
        select from memoryd.record where owner = $1 and sequence = $2 and token = $4
      )
      on conflict (owner) do update
        set sequence = excluded.sequence, key = excluded.key, content = excluded.content
        where memoryd.image.sequence <= excluded.sequence`,
    [owner, sequence, imageKey(stamp), token, image],
  );
}

/**
 * Puts an image without content, as of the record `$2` of the user `$1`, in the place of one that holds terms of memories which
 * go for good. It stays, so that a node which loaded the user before stores no earlier image afterwards.
 */
export const EMPTY_IMAGE = `insert into memoryd.image (owner, sequence, key, content)
  select $1, $2, '', '' from moved
  on conflict (owner) do update set sequence = excluded.sequence, key = '', content = ''`;
