/** A note in a list. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Memory } from "../../client/client.ts";
import { dateOf, textOf } from "../format.ts";
import { go, hashOf, type Route } from "../hooks.ts";
import { Tags } from "../parts.tsx";
import { SourceLink, SupersededBy } from "./note.tsx";

/** Shown of a long note. */
const ROW_CHARS = 300;

interface NoteRowProps {
  readonly memory: Memory;
  /** The page and its parameters, which a note beside it is added to. */
  readonly page: string;
  readonly at: Route["at"];
  readonly kind?: string;
  readonly isCurrent?: boolean;
  /** Before the text. */
  readonly box?: ComponentChildren;
  /** In place of the beginning of the text. */
  readonly text?: ComponentChildren;
  /** In place of the day it happened. */
  readonly time?: ComponentChildren;
  /** Below. */
  readonly children?: ComponentChildren;
  readonly onChanged: () => void;
}

export function NoteRow(props: NoteRowProps) {
  const { memory, page, at, kind = "", isCurrent = false, box, children, onChanged } = props;
  const { id, occurred_at, user_id, project, tags, source } = memory;
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  const shown = textOf(memory);
  const {
    text = shown.length > ROW_CHARS ? `${shown.slice(0, ROW_CHARS)}…` : shown,
    time = <time dateTime={occurred_at}>{dateOf(occurred_at)}</time>,
  } = props;
  return (
    <article class={`note ${kind}${isCurrent ? " current" : ""}${id === at["id"] ? " open" : ""}`} ref={row}>
      {box}
      <button type="button" class="text" onClick={() => go(hashOf(page, { ...at, id }))}>
        {text}
      </button>
      <p class="about">
        {time}
        {user_id !== null && <span>{user_id}</span>}
        {project !== null && <span>{project}</span>}
        {source !== null && <SourceLink of={source} />}
        <Tags of={tags} onPick={(tag) => go(hashOf("notes", { tag }))} />
      </p>
      <SupersededBy
        memory={memory}
        hashOfNote={(other) => hashOf(page, { ...at, id: other })}
        onChanged={onChanged}
      />
      {children}
    </article>
  );
}
