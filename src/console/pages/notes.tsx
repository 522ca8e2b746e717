import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Memory, MemoryPage } from "../../client/client.ts";
import { api, forEach, reasonOf } from "../api.ts";
import { type PageProps, useMayWrite, useTell } from "../context.ts";
import { conditionsOf, Filters, isFiltered } from "../filters.tsx";
import { clockOf, dateOf, dayOf } from "../format.ts";
import { go, hashOf, useKeys, useLoad, useRows } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { AskedDeed, Deed, Empty, Input, Problem } from "../parts.tsx";
import { texts } from "../texts.ts";
import { AddNote } from "./add-note.tsx";
import { NoteRow } from "./note-row.tsx";
import { BesideNote, tagsOf } from "./note.tsx";
import { Overview } from "./overview.tsx";

const PAGE = 50;
/** Pages in the document at a time: 200 rows, however many notes there are. */
const SHOWN_PAGES = 4;
/** Tagged in one request. */
const MOST_PICKED = 1_000;

export function Notes({ at }: PageProps) {
  const mayWrite = useMayWrite();
  const conditions = conditionsOf(at);
  const list = usePages(JSON.stringify(conditions));
  useChanges(["memory", "user"], list.reload);
  const [picked, setPicked] = useState<ReadonlyMap<string, Memory>>(new Map());
  const current = useRows(list.rows, ({ id }) => go(hashOf("notes", { ...at, id })));
  useKeys({
    x: () => {
      const row = list.rows[current];
      if (row !== undefined && mayWrite) pick(row);
    },
    a: () => mayWrite && pickShown(),
    t: () => document.querySelector<HTMLInputElement>(".picked input")?.focus(),
    // An open note has this key to itself.
    ...(at["id"] === undefined && {
      Delete: () => document.querySelector<HTMLButtonElement>(".picked .danger")?.click(),
    }),
  });
  const pick = (memory: Memory) => {
    const next = new Map(picked);
    if (!next.delete(memory.id) && next.size < MOST_PICKED) next.set(memory.id, memory);
    setPicked(next);
  };
  const pickShown = () =>
    setPicked(new Map([...picked, ...list.rows.map((row) => [row.id, row] as const)].slice(0, MOST_PICKED)));
  return (
    <BesideNote page="notes" at={at} onChanged={list.reload}>
      {mayWrite && (
        <details>
          <summary>{texts.notes.add}</summary>
          <AddNote at={at} onAdded={list.reload} />
        </details>
      )}
      <Filters page="notes" at={at} />
      <Overview at={at} />
      {list.total !== undefined && <p class="count">{texts.notes.total(list.total)}</p>}
      {picked.size > 0 && (
        <Picked
          notes={[...picked.values()]}
          onNone={() => setPicked(new Map())}
          onDone={() => {
            setPicked(new Map());
            list.reload();
          }}
        />
      )}
      {list.total === 0 && <Empty>{isFiltered(at) ? texts.notes.emptyFiltered : texts.notes.empty}</Empty>}
      <Edge beyond={list.pageAbove} label={texts.notes.newer} onReached={list.showNewer} />
      <ol class="notes" ref={list.listRef}>
        {list.rows.map((memory, index) => (
          <li key={memory.id} data-id={memory.id}>
            {dayOf(memory.created_at) !== dayOf(list.rows[index - 1]?.created_at ?? "1970-01-01") && (
              <h2 class="day">{dayOf(memory.created_at)}</h2>
            )}
            <NoteRow
              memory={memory}
              page="notes"
              at={at}
              isCurrent={index === current}
              box={
                mayWrite && (
                  <input
                    type="checkbox"
                    aria-label={texts.notes.select}
                    checked={picked.has(memory.id)}
                    onChange={() => pick(memory)}
                  />
                )
              }
              time={
                <>
                  <time dateTime={memory.created_at}>{clockOf(memory.created_at)}</time>
                  {dayOf(memory.occurred_at) !== dayOf(memory.created_at) && (
                    <span>
                      {texts.note.happened} {dateOf(memory.occurred_at)}
                    </span>
                  )}
                </>
              }
              onChanged={list.reload}
            />
          </li>
        ))}
      </ol>
      <Problem of={list.problem} />
      <Edge beyond={list.pageBelow} label={texts.notes.older} onReached={list.showOlder} />
      {list.pageBelow === undefined && list.rows.length > 0 && <p class="count">{texts.notes.end}</p>}
    </BesideNote>
  );
}

interface EdgeProps {
  /** Number of the page behind it; undefined: the list ends here. */
  readonly beyond: number | undefined;
  readonly label: string;
  readonly onReached: () => void;
}

/** Loads more when it comes into sight; a button too, for those who do not scroll. */
function Edge({ beyond, label, onReached }: EdgeProps) {
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef(onReached);
  latest.current = onReached;
  useEffect(() => {
    if (button.current === null) return;
    // A new one for each page: it tells at once where the edge is, also where it never left the sight.
    const watcher = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && latest.current(),
      { rootMargin: "400px" },
    );
    watcher.observe(button.current);
    return () => watcher.disconnect();
  }, [beyond]);
  return beyond !== undefined ? (
    <button type="button" class="edge" ref={button} onClick={onReached}>
      {label}
    </button>
  ) : null;
}

interface Window {
  /** The cursor that each page begins at; the first page has none. Known up to one page after the last that was read. */
  readonly cursors: readonly (string | null)[];
  /** Number of the first page shown. */
  readonly first: number;
  readonly pages: readonly MemoryPage[];
}

const NO_PAGES: Window = { cursors: [null], first: 0, pages: [] };

/** A window of pages onto all notes that match; scrolled in both directions. */
function usePages(conditions: string) {
  const [{ cursors, first, pages }, setWindow] = useState(NO_PAGES);
  const [total, setTotal] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const isLoading = useRef(false);
  const listRef = useRef<HTMLOListElement>(null);
  /** The conditions that the shown pages match. */
  const shownFor = useRef<string>(undefined);
  /** A row that stays where it is on the screen while rows above it come and go. */
  const anchor = useRef<{ id: string; top: number } | undefined>(undefined);

  const read = async (cursor: string | null, signal?: AbortSignal): Promise<MemoryPage> =>
    await api.memories.page(
      { ...(JSON.parse(conditions) as object), l: PAGE, ...(cursor !== null && { cursor }) },
      signal === undefined ? undefined : { signal },
    );

  /** The pages that are shown, read anew: who has scrolled down stays there. */
  const readShown = async (signal: AbortSignal): Promise<Window> => {
    const isSame = shownFor.current === conditions;
    const window: Window = isSame ? { cursors: cursors.slice(0, first + 1), first, pages: [] } : NO_PAGES;
    const [known, fresh] = [[...window.cursors], [] as MemoryPage[]];
    do {
      const page = await read(known.at(-1) ?? null, signal);
      known.push(page.next_cursor);
      fresh.push(page);
    } while (known.at(-1) !== null && fresh.length < (isSame ? pages.length : 1));
    return { cursors: known, first: window.first, pages: fresh };
  };

  const { error, reload } = useLoad(
    async (signal) => {
      const shown = await readShown(signal);
      if (signal.aborted) return;
      shownFor.current = conditions;
      // At the top a new note is to be seen.
      if (first > 0 || scrollY > innerHeight / 2) keepPlace();
      setProblem(undefined);
      setTotal(shown.pages.at(-1)?.total);
      setWindow(shown);
    },
    [conditions],
  );

  useLayoutEffect(() => {
    const kept = anchor.current;
    anchor.current = undefined;
    if (kept === undefined) return;
    const row = listRef.current?.querySelector(`[data-id="${kept.id}"]`);
    if (row !== null && row !== undefined) scrollBy(0, row.getBoundingClientRect().top - kept.top);
  }, [pages]);

  function keepPlace(): void {
    for (const row of listRef.current?.querySelectorAll<HTMLElement>("[data-id]") ?? []) {
      const { top } = row.getBoundingClientRect();
      if (top < 0) continue;
      anchor.current = { id: row.dataset["id"] ?? "", top };
      return;
    }
  }

  async function show(number: number, change: (page: MemoryPage) => Window): Promise<void> {
    const cursor = cursors[number];
    if (isLoading.current || cursor === undefined || (number > 0 && cursor === null)) return;
    isLoading.current = true;
    try {
      const page = await read(cursor);
      keepPlace();
      setWindow(change(page));
      setProblem(undefined);
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      isLoading.current = false;
    }
  }

  const after = first + pages.length;
  return {
    // A note that came back from the trash is the last added: it stands where it stood.
    rows: pages
      .flatMap(({ items }) => items)
      .sort((a, b) => Number(b.created_at > a.created_at) - Number(b.created_at < a.created_at)),
    total,
    problem: error ?? problem,
    listRef,
    pageAbove: first > 0 ? first - 1 : undefined,
    pageBelow: (cursors[after] ?? null) === null ? undefined : after,
    reload,
    showOlder: () =>
      void show(after, (page) => ({
        cursors: [...cursors.slice(0, after + 1), page.next_cursor],
        first: Math.max(first, after + 1 - SHOWN_PAGES),
        pages: [...pages, page].slice(-SHOWN_PAGES),
      })),
    showNewer: () =>
      void show(first - 1, (page) => ({
        cursors,
        first: first - 1,
        pages: [page, ...pages].slice(0, SHOWN_PAGES),
      })),
  };
}

interface PickedProps {
  readonly notes: readonly Memory[];
  readonly onNone: () => void;
  readonly onDone: () => void;
}

function Picked({ notes, onNone, onDone }: PickedProps) {
  const [tag, setTag] = useState("");
  const tell = useTell();
  const change = async (kind: "add" | "remove") => {
    const tags = tagsOf(tag);
    const memories = notes.map(({ id, version }) => ({ id, version }));
    const { results, failed } = await api.memories.tag({ memories, [kind]: tags });
    const changed = new Set(results.flatMap((each) => ("tags" in each && each.changed ? [each.id] : [])));
    // A tag that a note had before stays.
    const undo = async () => {
      for (const each of tags) {
        const touched = notes.filter(
          (note) => changed.has(note.id) && note.tags.includes(each) === (kind === "remove"),
        );
        const back = { memories: touched.map(({ id }) => ({ id })) };
        await api.memories.tag({ ...back, [kind === "add" ? "remove" : "add"]: [each] });
      }
      onDone();
    };
    const problem = results.find((each) => "detail" in each);
    tell({
      text:
        problem === undefined
          ? texts.notes.tagged(changed.size)
          : texts.notes.notTagged(failed, problem.detail),
      ...(changed.size > 0 && { undo }),
    });
    onDone();
  };
  const remove = async () => {
    const all = notes.map(({ id }) => id);
    await forEach(all, (id) => api.memories.delete(id, { trash: true }));
    const undo = async () => {
      await forEach(all, (id) => api.trash.restore(id));
      onDone();
    };
    tell({ text: texts.notes.deleted(all.length), undo });
    onDone();
  };
  return (
    <form class="picked" onSubmit={(event) => event.preventDefault()}>
      <span role="status">{texts.notes.selected(notes.length)}</span>
      <Input label={texts.note.tags} list="tags" value={tag} onInput={setTag} />
      <span class="deeds">
        <Deed kind="main" run={() => change("add")} isDisabled={tag.trim() === ""}>
          {texts.notes.addTag}
        </Deed>
        <Deed run={() => change("remove")} isDisabled={tag.trim() === ""}>
          {texts.notes.removeTag}
        </Deed>
        <AskedDeed question={texts.notes.deleteSure(notes.length)} run={remove}>
          {texts.remove}
        </AskedDeed>
        <button type="button" onClick={onNone}>
          {texts.notes.selectNone}
        </button>
      </span>
    </form>
  );
}
