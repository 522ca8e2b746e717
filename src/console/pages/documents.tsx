import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DocumentWithChunks, Memory, StoredDocument } from "../../client/client.ts";
import { api, reasonOf } from "../api.ts";
import { type PageProps, useMayWrite, useTell } from "../context.ts";
import { bytesOf, dateOf, positionOf } from "../format.ts";
import { go, hashOf, useLoad } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { AskedDeed, Deed, Empty, Outcome, PanelHead, PartText, Problem } from "../parts.tsx";
import { texts } from "../texts.ts";
import { Uploads } from "./uploads.tsx";

const DOCUMENTS = 100;
const CHUNKS = 50;
/** CSS pixels. */
const PART_BELOW_TOP = 60;

const nameOf = ({ filename, url, title }: Pick<StoredDocument, "filename" | "url" | "title">): string =>
  title ?? filename ?? url ?? texts.documents.untitled;

export function Documents({ at }: PageProps) {
  const mayWrite = useMayWrite();
  const [listed, setListed] = useState(DOCUMENTS);
  const list = useLoad((signal) => api.documents.page({ l: listed }, { signal }), [listed]);
  useChanges(["document", "user"], list.reload);
  const open = (id: string | undefined) => go(hashOf("documents", { id }));
  return (
    <div class={at["id"] === undefined ? "columns" : "columns has-panel"}>
      <div>
        {mayWrite && <Uploads onTaken={list.reload} />}
        <Outcome of={list}>
          {({ items, total }) =>
            items.length === 0 ? (
              <Empty>{mayWrite ? texts.documents.none : texts.documents.noneYet}</Empty>
            ) : (
              <>
                <h2>{texts.documents.list}</h2>
                <ul class="documents">
                  {items.map((document) => (
                    <li key={document.id}>
                      <a href={hashOf("documents", { id: document.id })}>{nameOf(document)}</a>
                      <small>
                        {dateOf(document.created_at)} · {bytesOf(document.bytes)} ·{" "}
                        {texts.documents.partsOf(Math.max(1, document.child_count))}
                        {document.user_id !== null && ` · ${document.user_id}`}
                      </small>
                    </li>
                  ))}
                </ul>
                {items.length < total && (
                  <button type="button" onClick={() => setListed(listed + DOCUMENTS)}>
                    {texts.more}
                  </button>
                )}
              </>
            )
          }
        </Outcome>
      </div>
      {at["id"] !== undefined && (
        <DocumentPanel
          key={at["id"]}
          id={at["id"]}
          at={at}
          onClose={() => open(undefined)}
          onDeleted={() => {
            open(undefined);
            list.reload();
          }}
        />
      )}
    </div>
  );
}

interface PanelProps {
  readonly id: string;
  readonly at: PageProps["at"];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** The parts of a document in order, each a note; its recording to listen to. */
function DocumentPanel({ id, at, onClose, onDeleted }: PanelProps) {
  const mayWrite = useMayWrite();
  const tell = useTell();
  const from = Math.max(0, Number(at["part"] ?? 0));
  const [shown, setShown] = useState(CHUNKS);
  const document = useLoad((signal) => api.documents.get(id, { l: from + shown }, { signal }), [id, shown]);
  const cited = Number(at["at"]);
  const [place, setPlace] = useState({ ms: Number.isFinite(cited) ? cited : 0, isWanted: false });
  const play = (ms: number) => setPlace({ ms, isWanted: true });
  const remove = async () => {
    const root = document.value?.root_memory_id;
    await api.documents.delete(id, { trash: true });
    const undo = async () => {
      if (root !== undefined) await api.trash.restore(root);
      onDeleted();
    };
    tell({ text: texts.documents.deleted, undo });
    onDeleted();
  };
  const wanted = useRef<HTMLLIElement>(null);
  // Within the panel alone: the page stays where it is.
  useEffect(() => {
    const part = wanted.current;
    part?.closest(".panel")?.scrollTo({ top: part.offsetTop - PART_BELOW_TOP });
  }, [document.value === undefined]);
  return (
    <aside class="panel" aria-label={texts.documents.parts}>
      <Outcome of={document}>
        {(found: DocumentWithChunks) => (
          <>
            <PanelHead title={nameOf(found)} onClose={onClose} />
            <p class="about">
              <span>{found.media_type}</span>
              <span>{bytesOf(found.bytes)}</span>
              <span>{dateOf(found.created_at)}</span>
            </p>
            <Original of={found} place={place}>
              {mayWrite && (
                <AskedDeed question={texts.documents.sure(nameOf(found))} run={remove}>
                  {texts.remove}
                </AskedDeed>
              )}
            </Original>
            <h3>{texts.documents.partsOf(found.chunk_total)}</h3>
            <ol class="parts">
              {found.chunks.map((chunk, index) => (
                <Fragment key={chunk.id}>
                  {isNewPage(chunk, found.chunks[index - 1]) && (
                    <li class="page">{texts.note.page(chunk.source?.page ?? 0)}</li>
                  )}
                  <li
                    ref={String(chunk.source?.chunk_index) === at["part"] ? wanted : null}
                    class={String(chunk.source?.chunk_index) === at["part"] ? "wanted" : ""}
                  >
                    <Place of={chunk} onPlay={isPlayed(found) ? play : undefined} />
                    <a href={hashOf("notes", { id: chunk.id })} aria-label={texts.documents.note}>
                      {texts.open}
                    </a>
                    <PartText of={chunk} />
                  </li>
                </Fragment>
              ))}
            </ol>
            {found.chunk_total > from + shown && (
              <button type="button" onClick={() => setShown(shown + CHUNKS)}>
                {texts.more}
              </button>
            )}
          </>
        )}
      </Outcome>
    </aside>
  );
}

const isNewPage = ({ source }: Memory, before: Memory | undefined): boolean =>
  source?.page !== undefined && source.page !== before?.source?.page;

/** The place of a part in its document; the second of a recording is a button that plays from there. */
function Place({ of: { source }, onPlay }: { of: Memory; onPlay: ((ms: number) => void) | undefined }) {
  const start = source?.start_ms;
  return (
    <small>
      {source?.section} {start !== undefined && onPlay === undefined && positionOf(start)}
      {start !== undefined && onPlay !== undefined && (
        <button
          type="button"
          aria-label={texts.documents.playFrom(positionOf(start))}
          onClick={() => onPlay(start)}
        >
          ▶ {positionOf(start)}
        </button>
      )}
    </small>
  );
}

/** Recordings that a browser plays; everything else is only saved, never shown in this origin. */
const PLAYED = /^(audio\/(mpeg|mp4|ogg|wav|webm|flac|aac)|video\/(mp4|webm|ogg))$/;
const isPlayed = ({ media_type, has_original }: DocumentWithChunks): boolean =>
  has_original && PLAYED.test(media_type);

interface OriginalProps {
  readonly of: DocumentWithChunks;
  /** From where it is played, and whether that was asked for. */
  readonly place: { readonly ms: number; readonly isWanted: boolean };
  /** Further deeds. */
  readonly children: ComponentChildren;
}

function Original({ of, place, children }: OriginalProps) {
  const { id, media_type, filename } = of;
  const [source, setSource] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const player = useRef<HTMLVideoElement>(null);
  useEffect(() => () => source !== undefined && URL.revokeObjectURL(source), [source]);
  const bytes = async (type: string) => new Blob([await api.documents.file(id)], { type });
  const save = async () => {
    const url = URL.createObjectURL(await bytes("application/octet-stream"));
    const link = Object.assign(document.createElement("a"), { href: url, download: filename ?? id });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };
  const load = async () => setSource(URL.createObjectURL(await bytes(media_type)));
  useEffect(() => {
    if (!place.isWanted) return;
    setProblem(undefined);
    if (source === undefined) load().catch((error: unknown) => setProblem(reasonOf(error)));
    else playFrom(player.current, place.ms);
  }, [place]);
  return (
    <>
      <p class="deeds">
        {isPlayed(of) && source === undefined && <Deed run={load}>{texts.documents.play}</Deed>}
        {of.has_original ? <Deed run={save}>{texts.documents.original}</Deed> : texts.documents.noOriginal}
        {children}
      </p>
      {source !== undefined && (
        <video
          ref={player}
          controls
          src={source}
          class={media_type.startsWith("audio") ? "sound" : ""}
          onLoadedMetadata={(event) => playFrom(event.currentTarget, place.ms)}
          onError={() => setProblem(texts.documents.notPlayed)}
        >
          <track kind="captions" />
        </video>
      )}
      <Problem of={problem} />
    </>
  );
}

function playFrom(player: HTMLVideoElement | null, ms: number): void {
  if (player === null) return;
  player.currentTime = ms / 1_000;
  // A browser that plays nothing by itself shows its own button.
  player.play().catch(() => undefined);
}
