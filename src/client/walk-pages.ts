/**
 * The items of all pages, in order; a page is asked for when the one before is used up. Each is there once, whatever is
 * added meanwhile.
 *
 * @param read the page at a cursor; undefined asks for the first.
 */
export async function* walkPages<Page extends { readonly next_cursor: string | null }, Item>(
  read: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const page: Page = await read(cursor);
    yield* itemsOf(page);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
