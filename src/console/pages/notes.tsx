import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Memory, MemoryPage } from "../../client/client.ts";
import { api, reasonOf } from "../api.ts";
import { type PageProps, useSession, useTell } from "../context.ts";
import { conditionsOf, Filters, isFiltered } from "../filters.tsx";
import { clockOf, dateOf, dayOf } from "../format.ts";
import { go, hashOf, useKeys } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { Deed, Empty, Field, Tags } from "../parts.tsx";
import { texts } from "../texts.ts";
import { BesideNote, tagsOf } from "./note.tsx";
import { Overview } from "./overview.tsx";

const PAGE = 50;
/** Pages in the document at a time: 200 rows, however many notes there are. */
const SHOWN_PAGES = 4;
/** Tagged in one request. */
const MOST_PICKED = 1_000;
/** Shown of a long note. */
const ROW_CHARS = 300;

export function Notes({ at }: PageProps) {
  const { scope } = useSession();
  const conditions = conditionsOf(at);
  const list = usePages(JSON.stringify(conditions));
  // Further down rows would jump under the reader.
  useChanges(["memory", "user"], () => {
    if (list.pageAbove === undefined) list.reload();
  });
  const [picked, setPicked] = useState<ReadonlyMap<string, Memory>>(new Map());
  const [current, setCurrent] = useState(-1);
  const open = (id: string) => go(hashOf("notes", { ...at, id }));
  const move = (step: number) => setCurrent((n) => Math.max(0, Math.min(list.rows.length - 1, n + step)));
  useKeys({
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = list.rows[current];
      if (row !== undefined) open(row.id);
    },
    x: () => {
      const row = list.rows[current];
      if (row !== undefined && scope !== "read") pick(row);
    },
    a: () => scope !== "read" && pickShown(),
    t: () => document.querySelector<HTMLInputElement>(".picked input")?.focus(),
  });
  const pick = (memory: Memory) => {
    const next = new Map(picked);
    if (!next.delete(memory.id) && next.size < MOST_PICKED) next.set(memory.id, memory);
    setPicked(next);
  };
  const pickShown = () =>
    setPicked(new Map([...picked, ...list.rows.map((row) => [row.id, row] as const)].slice(0, MOST_PICKED)));
  const mayWrite = scope !== "read";
  return (
    <BesideNote page="notes" at={at} onChanged={list.reload}>
      {mayWrite && <AddNote at={at} onAdded={list.reload} />}
      <Filters page="notes" at={at} />
      <Overview at={at} />
      {list.total !== undefined && <p class="count">{texts.browse.total(list.total)}</p>}
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
      {list.total === 0 && <Empty>{isFiltered(at) ? texts.browse.emptyFiltered : texts.browse.empty}</Empty>}
      <Edge beyond={list.pageAbove} label={texts.browse.newer} onReached={list.showNewer} />
      <ol class="notes" ref={list.listRef}>
        {list.rows.map((memory, index) => (
          <li key={memory.id} data-id={memory.id}>
            {dayOf(memory.created_at) !== dayOf(list.rows[index - 1]?.created_at ?? "1970-01-01") && (
              <h2 class="day">{dayOf(memory.created_at)}</h2>
            )}
            <article
              class={`note${index === current ? " current" : ""}${memory.id === at["id"] ? " open" : ""}`}
            >
              {mayWrite && (
                <input
                  type="checkbox"
                  aria-label={texts.browse.select}
                  checked={picked.has(memory.id)}
                  onChange={() => pick(memory)}
                />
              )}
              <button type="button" class="text" onClick={() => open(memory.id)}>
                {memory.content.length > ROW_CHARS
                  ? `${memory.content.slice(0, ROW_CHARS)}…`
                  : memory.content}
              </button>
              <p class="about">
                <time dateTime={memory.created_at}>{clockOf(memory.created_at)}</time>
                {dayOf(memory.occurred_at) !== dayOf(memory.created_at) && (
                  <span>
                    {texts.note.happened} {dateOf(memory.occurred_at)}
                  </span>
                )}
                {memory.user_id !== null && <span>{memory.user_id}</span>}
                {memory.project !== null && <span>{memory.project}</span>}
                <span>{memory.primary_sector}</span>
                <Tags of={memory.tags} onPick={(tag) => go(hashOf("notes", { ...at, tag }))} />
              </p>
            </article>
          </li>
        ))}
      </ol>
      {list.problem !== undefined && (
        <p class="problem" role="alert">
          {list.problem}
        </p>
      )}
      <Edge beyond={list.pageBelow} label={texts.browse.older} onReached={list.showOlder} />
      {list.pageBelow === undefined && list.rows.length > 0 && <p class="count">{texts.browse.end}</p>}
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
  const [round, setRound] = useState(0);
  const isLoading = useRef(false);
  const listRef = useRef<HTMLOListElement>(null);
  /** A row that stays where it is on the screen while rows above it come and go. */
  const anchor = useRef<{ id: string; top: number } | undefined>(undefined);

  const read = async (cursor: string | null, signal?: AbortSignal): Promise<MemoryPage> =>
    await api.memories.page(
      { ...(JSON.parse(conditions) as object), l: PAGE, ...(cursor !== null && { cursor }) },
      signal === undefined ? undefined : { signal },
    );

  useEffect(() => {
    const control = new AbortController();
    read(null, control.signal).then(
      (page) => {
        setProblem(undefined);
        setTotal(page.total);
        setWindow({ cursors: [null, page.next_cursor], first: 0, pages: [page] });
      },
      (error: unknown) => control.signal.aborted || setProblem(reasonOf(error)),
    );
    return () => control.abort();
  }, [conditions, round]);

  useLayoutEffect(() => {
    const kept = anchor.current;
    anchor.current = undefined;
    if (kept === undefined) return;
    const row = listRef.current?.querySelector(`[data-id="${kept.id}"]`);
    if (row !== null && row !== undefined) scrollBy(0, row.getBoundingClientRect().top - kept.top);
  }, [first]);

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
    rows: pages.flatMap(({ items }) => items),
    total,
    problem,
    listRef,
    pageAbove: first > 0 ? first - 1 : undefined,
    pageBelow: (cursors[after] ?? null) === null ? undefined : after,
    reload: () => setRound((n) => n + 1),
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

function AddNote({ at, onAdded }: { at: PageProps["at"]; onAdded: () => void }) {
  const [content, setContent] = useState("");
  const [tags, setTags] = useState("");
  const add = async () => {
    const { user, project } = at;
    await api.memories.add({
      content,
      tags: tagsOf(tags),
      ...(user !== undefined && { user_id: user }),
      ...(project !== undefined && { project }),
    });
    setContent("");
    onAdded();
  };
  return (
    <details class="add">
      <summary>{texts.browse.add}</summary>
      <Field label={texts.browse.addLabel}>
        <textarea rows={3} value={content} onInput={(event) => setContent(event.currentTarget.value)} />
      </Field>
      <Field label={texts.note.tags}>
        <input type="text" value={tags} onInput={(event) => setTags(event.currentTarget.value)} />
      </Field>
      <Deed kind="main" run={add} isDisabled={content.trim() === ""}>
        {texts.save}
      </Deed>
    </details>
  );
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
          ? texts.browse.tagged(changed.size)
          : texts.browse.notTagged(failed, problem.detail),
      ...(changed.size > 0 && { undo }),
    });
    onDone();
  };
  return (
    <form class="picked" onSubmit={(event) => event.preventDefault()}>
      <span role="status">{texts.browse.selected(notes.length)}</span>
      <Field label={texts.note.tags}>
        <input type="text" list="tags" value={tag} onInput={(event) => setTag(event.currentTarget.value)} />
      </Field>
      <span class="deeds">
        <Deed kind="main" run={() => change("add")} isDisabled={tag.trim() === ""}>
          {texts.browse.addTag}
        </Deed>
        <Deed run={() => change("remove")} isDisabled={tag.trim() === ""}>
          {texts.browse.removeTag}
        </Deed>
        <button type="button" onClick={onNone}>
          {texts.browse.selectNone}
        </button>
      </span>
    </form>
  );
}
