/** One note beside the list: read, edited, deleted, with what it is linked to and where it came from. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Memory, MemorydError, type RelatedMemories } from "../../client/client.ts";
import { api, reasonOf } from "../api.ts";
import { useMayWrite, useTell } from "../context.ts";
import { hasDraft, useDraft } from "../drafts.ts";
import { dateOf, minuteOf, positionOf, short, textOf } from "../format.ts";
import { go, hashOf, type Route, useFocus, useKeys, useLoad } from "../hooks.ts";
import { useChanges } from "../live.ts";
import {
  Deed,
  Dialog,
  Empty,
  Field,
  Input,
  Outcome,
  Pairs,
  PanelHead,
  PartText,
  Tags,
  WritingForm,
} from "../parts.tsx";
import { texts } from "../texts.ts";
import { History } from "./history.tsx";

const MOST_RELATED = 12;
const RELATED_CHARS = 120;

/** A page with the note beside it that its address names. */
export function BesideNote({
  page,
  at,
  onChanged,
  children,
}: {
  page: string;
  at: Route["at"];
  /** After the note was changed or deleted. */
  onChanged: () => void;
  children: ComponentChildren;
}) {
  const id = at["id"];
  return (
    <div class={id === undefined ? "columns" : "columns has-panel"}>
      <div>{children}</div>
      {id !== undefined && (
        <NotePanel
          key={id}
          id={id}
          onClose={() => go(hashOf(page, { ...at, id: undefined }))}
          onChanged={onChanged}
          hashOfNote={(other) => hashOf(page, { ...at, id: other })}
        />
      )}
    </div>
  );
}

interface NoteProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onChanged: () => void;
  /** The address of another note in this place. */
  readonly hashOfNote: (id: string) => string;
}

function NotePanel({ id, onClose, onChanged, hashOfNote }: NoteProps) {
  const mayWrite = useMayWrite();
  const tell = useTell();
  const note = useLoad((signal) => api.memories.get(id, {}, { signal }), [id]);
  const related = useLoad((signal) => api.memories.related(id, {}, { signal }), [id, note.value?.version]);
  const [isEdited, setEdited] = useState(() => hasDraft(id));
  // Under an editor the text that it began with stays; saving finds the other.
  useChanges(["memory", "user"], () => isEdited || note.reload());
  const panel = useRef<HTMLElement>(null);
  // The keyboard goes to the opened note, and back to where it was.
  useLayoutEffect(() => {
    const before = document.activeElement;
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  useLayoutEffect(() => {
    if (!isEdited) panel.current?.focus();
  }, [isEdited]);
  const changed = () => {
    setEdited(false);
    note.reload();
    onChanged();
  };
  const remove = async () => {
    await api.memories.delete(id, { trash: true });
    const undo = async () => {
      await api.trash.restore(id);
      onChanged();
    };
    tell({ text: texts.note.deleted, undo });
    onChanged();
    onClose();
  };
  useKeys({
    Escape: onClose,
    e: () => mayWrite && setEdited(true),
    Delete: () => mayWrite && void remove().catch((error: unknown) => tell({ text: reasonOf(error) })),
  });
  return (
    <aside class="panel" aria-label={texts.note.title} tabIndex={-1} ref={panel}>
      <PanelHead title={texts.note.title} onClose={onClose} />
      <Outcome of={note}>
        {(memory) =>
          isEdited ? (
            <Editor memory={memory} onSaved={changed} onCancel={() => setEdited(false)} />
          ) : (
            <>
              {memory.source !== null && (
                <p class="about">
                  {memory.source.section} <SourceLink of={memory.source} />
                </p>
              )}
              <PartText of={memory} />
              <SupersededBy memory={memory} hashOfNote={hashOfNote} onChanged={changed} />
              {memory.supersedes.length > 0 && (
                <p>
                  {texts.note.supersedes}{" "}
                  {memory.supersedes.map((each) => (
                    <a key={each} href={hashOfNote(each)}>
                      {each.slice(-6)}{" "}
                    </a>
                  ))}
                </p>
              )}
              {mayWrite && (
                <p class="deeds">
                  <button type="button" onClick={() => setEdited(true)}>
                    {texts.edit}
                  </button>
                  <Deed kind="danger" run={remove}>
                    {texts.remove}
                  </Deed>
                </p>
              )}
              <About memory={memory} />
              <History id={id} version={memory.version} onChanged={changed} />
            </>
          )
        }
      </Outcome>
      <h3>{texts.note.neighbours}</h3>
      <Outcome of={related}>
        {(neighbours) =>
          neighbours.nodes.length < 2 ? (
            <Empty>{texts.note.noNeighbours}</Empty>
          ) : (
            <Related of={neighbours} hashOfNote={hashOfNote} />
          )
        }
      </Outcome>
    </aside>
  );
}

/** The notes nearest to the first, each with what links it. */
function Related({
  of: { nodes, edges },
  hashOfNote,
}: {
  of: RelatedMemories;
  hashOfNote: NoteProps["hashOfNote"];
}) {
  const self = nodes[0]?.id;
  const kindOf = (id: string) =>
    edges.find(({ source, target }) => [source, target].every((end) => end === id || end === self))?.kind;
  return (
    <ul class="links">
      {nodes.slice(1, 1 + MOST_RELATED).map((memory) => (
        <li key={memory.id}>
          <a href={hashOfNote(memory.id)}>{short(textOf(memory), RELATED_CHARS)}</a>{" "}
          <small>
            {dateOf(memory.occurred_at)} {texts.note.kinds[kindOf(memory.id) ?? ""]}
          </small>
        </li>
      ))}
    </ul>
  );
}

interface CurrencyProps {
  readonly memory: Memory;
  readonly hashOfNote: (id: string) => string;
  readonly onChanged: () => void;
}

/** The later note that took this one's place, or seems to. */
export function SupersededBy({ memory, hashOfNote, onChanged }: CurrencyProps) {
  const mayWrite = useMayWrite();
  const { id, superseded_by, superseded_how, superseded_at } = memory;
  if (superseded_by === null) return null;
  return (
    <p class="superseded">
      <a href={hashOfNote(superseded_by)}>
        {superseded_how === "told" ? texts.note.supersededBy : texts.note.supersededGuess}
      </a>
      {superseded_at !== null && <small> {dateOf(superseded_at)}</small>}{" "}
      {mayWrite && superseded_how === "inferred" && (
        <Deed run={async () => (await api.memories.update(id, { still_holds: true }), onChanged())}>
          {texts.note.stillHolds}
        </Deed>
      )}
    </p>
  );
}

/** Leads to the place in its document that a note is a part of. */
export function SourceLink({ of }: { of: NonNullable<Memory["source"]> }) {
  const { document_id, chunk_index, chunk_count, start_ms, page } = of;
  const name = of.filename ?? of.url ?? texts.documents.untitled;
  return (
    <a href={hashOf("documents", { id: document_id, part: String(chunk_index), at: String(start_ms ?? "") })}>
      {chunk_index < 0 || chunk_count < 2 ? name : texts.note.part(chunk_index + 1, chunk_count, name)}
      {page !== undefined && `, ${texts.note.page(page)}`}
      {start_ms !== undefined && `, ${texts.note.at(positionOf(start_ms))}`}
    </a>
  );
}

function About({ memory }: { memory: Memory }) {
  const { metadata } = memory;
  const rows: readonly (readonly [string, string | null])[] = [
    [texts.note.happened, minuteOf(memory.occurred_at)],
    [
      texts.note.added,
      `${minuteOf(memory.created_at)}${memory.created_by === null ? "" : ` ${texts.note.by} ${memory.created_by}`}`,
    ],
    [texts.note.changed, memory.version > 1 ? minuteOf(memory.updated_at) : null],
    [texts.filters.user, memory.user_id],
    [texts.filters.project, memory.project],
    [texts.note.sector, memory.sectors.map((name) => `${name}: ${texts.note.sectors[name]}`).join("\n")],
    [texts.note.salience, memory.salience.toFixed(2)],
    [texts.note.metadata, Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata, undefined, 1)],
  ];
  return (
    <>
      <Tags of={memory.tags} onPick={(tag) => (location.hash = hashOf("notes", { tag }))} />
      <Pairs of={rows} />
    </>
  );
}

interface EditorProps {
  readonly memory: Memory;
  readonly onSaved: () => void;
  readonly onCancel: () => void;
}

/** Saves over the version that was read only; what stands there by then is shown beside what was written. */
function Editor({ memory, onSaved, onCancel }: EditorProps) {
  const { id } = memory;
  const tell = useTell();
  // With a draft goes the note that it began with.
  const { draft, change, forget } = useDraft(id, {
    base: memory,
    content: memory.content,
    tags: memory.tags.join(", "),
    project: memory.project ?? "",
  });
  const { base, content, tags, project } = draft;
  const [theirs, setTheirs] = useState<Memory>();
  const [isAsked, setAsked] = useState(false);
  const field = useFocus<HTMLTextAreaElement>();
  useEffect(() => {
    const { hash } = location;
    // Whoever is back at a draft need not be led to it.
    if (hasDraft(id)) tell(undefined);
    return () => {
      if (hasDraft(id))
        tell({ text: texts.note.unsaved, label: texts.note.toDraft, undo: async () => go(hash) });
    };
  }, []);
  const save = async (ifVersion: number) => {
    const list = tagsOf(tags);
    try {
      await api.memories.update(
        id,
        {
          ...(content !== base.content && { content }),
          ...(list.join("\n") !== base.tags.join("\n") && { tags: list }),
          ...(project !== (base.project ?? "") && { project: project === "" ? null : project }),
        },
        { ifVersion },
      );
      forget();
      onSaved();
    } catch (error) {
      if (!(error instanceof MemorydError) || error.code !== "VERSION_MISMATCH") throw error;
      setTheirs(await api.memories.get(id));
    }
  };
  const leave = () => {
    forget();
    if (theirs === undefined) onCancel();
    else onSaved();
  };
  const cancel = () => (hasDraft(id) ? setAsked(true) : leave());
  return (
    <>
      <WritingForm kind="editor" onEscape={cancel}>
        {theirs !== undefined && (
          <div class="problem" role="alert">
            <p>{texts.note.conflict}</p>
            <p class="content">{theirs.content}</p>
            <Tags of={theirs.tags} />
          </div>
        )}
        <Field label={texts.note.content}>
          <textarea
            rows={Math.min(20, Math.max(4, content.split("\n").length, content.length / 50))}
            value={content}
            ref={field}
            onInput={(event) => change({ content: event.currentTarget.value })}
          />
        </Field>
        <Input label={texts.note.tags} value={tags} onInput={(value) => change({ tags: value })} />
        <Input label={texts.note.project} value={project} onInput={(value) => change({ project: value })} />
        <p class="deeds">
          <Deed kind="main" run={() => save((theirs ?? base).version)}>
            {theirs === undefined ? texts.save : texts.note.saveAnyway}
          </Deed>
          <button type="button" onClick={theirs === undefined ? cancel : leave}>
            {theirs === undefined ? texts.cancel : texts.note.takeTheirs}
          </button>
        </p>
      </WritingForm>
      {isAsked && (
        <Dialog title={texts.note.discardSure} onClose={() => setAsked(false)}>
          <p class="deeds">
            <button type="button" class="danger" onClick={leave}>
              {texts.note.discard}
            </button>
            <button type="button" onClick={() => setAsked(false)}>
              {texts.note.goOn}
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}

export function tagsOf(text: string): string[] {
  return text.split(",").flatMap((tag) => (tag.trim() === "" ? [] : [tag.trim()]));
}
