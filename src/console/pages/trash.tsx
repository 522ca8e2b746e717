import { api } from "../api.ts";
import { useMayWrite, useTell } from "../context.ts";
import { dateOf, minuteOf, short } from "../format.ts";
import { useLoad } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { AskedDeed, Deed, Empty, Outcome } from "../parts.tsx";
import { texts } from "../texts.ts";

const ENTRIES = 100;

export function Trash() {
  const mayWrite = useMayWrite();
  const tell = useTell();
  const trash = useLoad((signal) => api.trash.page({ l: ENTRIES }, { signal }), []);
  useChanges(["memory", "document", "user"], trash.reload);
  const done = (text: string) => {
    tell({ text });
    trash.reload();
  };
  return (
    <section class="card">
      <h2>{texts.trash.title}</h2>
      <Outcome of={trash}>
        {({ items, total }) =>
          total === 0 ? (
            <Empty>{texts.trash.empty}</Empty>
          ) : (
            <>
              <ul class="rows">
                {items.map((entry) => (
                  <li key={entry.id}>
                    <span>{short(entry.content, 140)}</span>
                    <small>
                      {minuteOf(entry.deleted_at)}
                      {entry.deleted_by !== null && ` ${texts.note.by} ${entry.deleted_by}`} ·{" "}
                      {texts.trash.until(dateOf(entry.purge_after))}
                      {entry.memories > 1 && ` · ${texts.notes.total(entry.memories)}`}
                    </small>
                    {mayWrite && (
                      <span class="deeds">
                        <Deed run={async () => (await api.trash.restore(entry.id), done(texts.note.back))}>
                          {texts.trash.restore}
                        </Deed>
                        <Deed
                          kind="danger"
                          run={async () => (await api.trash.delete(entry.id), done(texts.trash.gone))}
                        >
                          {texts.trash.forGood}
                        </Deed>
                      </span>
                    )}
                  </li>
                ))}
              </ul>
              {mayWrite && (
                <AskedDeed
                  question={texts.trash.sure(total)}
                  run={async () => (await api.trash.empty(), done(texts.trash.gone))}
                >
                  {texts.trash.emptyIt}
                </AskedDeed>
              )}
            </>
          )
        }
      </Outcome>
    </section>
  );
}
