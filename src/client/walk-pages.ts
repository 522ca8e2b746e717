/**
 * The items of all pages, in order; a page is asked for when the one before is used up. Each is there once, whatever is
 * added meanwhile.
 *
 * @param read the page at a place; an empty one is the first.
 */
export async function* walkPages<Page extends { readonly next_cursor: string | null }, Item>(
  read: (place: { readonly cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null;
  do {
    const page: Page = await read(cursor === null ? {} : { cursor });
    yield* itemsOf(page);
    cursor = page.next_cursor;
  } while (cursor !== null);
}
