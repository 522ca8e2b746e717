/** The versions of a note, each with what it changed. */
import { api } from "../api.ts";
import { useMayWrite } from "../context.ts";
import { difference, minuteOf } from "../format.ts";
import { useLoad } from "../hooks.ts";
import { AskedDeed, Deed, Outcome } from "../parts.tsx";
import { texts } from "../texts.ts";

const VERSIONS = 50;

export function History({ id, version, onChanged }: { id: string; version: number; onChanged: () => void }) {
  const mayWrite = useMayWrite();
  const history = useLoad((signal) => api.memories.history(id, { l: VERSIONS }, { signal }), [id, version]);
  const restore = async (earlier: number) => {
    await api.memories.restore(id, { version: earlier }, { ifVersion: version });
    onChanged();
  };
  const erase = async () => {
    await api.memories.eraseHistory(id);
    history.reload();
  };
  return (
    <Outcome of={history}>
      {({ items }) =>
        items.length < 2 ? null : (
          <details class="history">
            <summary>{texts.history.title(items.length)}</summary>
            <ol>
              {items.map((each, index) => (
                <li key={each.version}>
                  <small>
                    {minuteOf(each.changed_at)}
                    {each.changed_by !== null && ` ${texts.note.by} ${each.changed_by}`} ·{" "}
                    {texts.history.changes[each.change]}
                  </small>
                  <p class="content">
                    {difference(items[index + 1]?.content ?? each.content, each.content).map(
                      ({ text, kind }, piece) =>
                        kind === "added" ? (
                          <ins key={piece}>{text}</ins>
                        ) : kind === "removed" ? (
                          <del key={piece}>{text}</del>
                        ) : (
                          text
                        ),
                    )}
                  </p>
                  {index > 0 && mayWrite && (
                    <Deed run={() => restore(each.version)}>{texts.history.restore}</Deed>
                  )}
                </li>
              ))}
            </ol>
            {mayWrite && (
              <AskedDeed question={texts.history.sure} run={erase}>
                {texts.history.erase}
              </AskedDeed>
            )}
          </details>
        )
      }
    </Outcome>
  );
}
