/** Takes the changes of a program back: the number first, then the deed, which can itself be undone. */
import { useState } from "preact/hooks";
import type { Undone } from "../../client/client.ts";
import { api, forEach } from "../api.ts";
import { useTell } from "../context.ts";
import { momentFieldOf, short } from "../format.ts";
import { useLoad } from "../hooks.ts";
import { Choice, Deed, Dialog, Empty, Field, Outcome } from "../parts.tsx";
import { texts } from "../texts.ts";

const say = texts.takeBack;
const HOUR_MS = 3_600_000;
const SHOWN = 50;
/** Thousands of notes may be embedded again. */
const TIMEOUT_MS = 3_600_000;

type Item = Undone["items"][number];

interface TakeBackProps {
  readonly client: string;
  readonly onDone: () => void;
}

export function TakeBack({ client, onDone }: TakeBackProps) {
  const tell = useTell();
  const [choice, setChoice] = useState<keyof typeof say.spans>("2");
  const [since, setSince] = useState(() => hoursAgo(2));
  const [isAddedOnly, setAddedOnly] = useState(true);
  const undo = async (dry_run: boolean, signal?: AbortSignal) =>
    await api.undo(
      { client, since, dry_run, ...(isAddedOnly && { kinds: ["added"] }) },
      { signal, timeoutMs: TIMEOUT_MS },
    );
  const plan = useLoad((signal) => undo(true, signal), [since, isAddedOnly]);
  const choose = (value: typeof choice) => {
    setChoice(value);
    if (value === "all") setSince(new Date(0).toISOString());
    else if (value !== "moment") setSince(hoursAgo(Number(value)));
  };
  const run = async () => {
    const items = (await undo(false)).items;
    const taken = items.filter(({ done }) => done);
    tell({ text: say.done(taken.length, items.length - taken.length), undo: () => bringBack(taken) });
    onDone();
  };
  return (
    <Dialog title={say.title(client)} onClose={onDone}>
      <div class="fields">
        <Choice label={say.since} of={say.spans} value={choice} onChoose={choose} />
        {choice === "moment" && (
          <Field label={say.from}>
            <input
              type="datetime-local"
              value={momentFieldOf(since)}
              onChange={(event) => {
                const at = new Date(event.currentTarget.value);
                if (!Number.isNaN(at.getTime())) setSince(at.toISOString());
              }}
            />
          </Field>
        )}
        <Choice
          label={say.what}
          of={say.extents}
          value={isAddedOnly ? "added" : "all"}
          onChoose={(extent) => setAddedOnly(extent === "added")}
        />
      </div>
      <Outcome of={plan}>
        {({ items }) =>
          plan.error === undefined && (
            <Plan items={items} run={run} isAddedOnly={isAddedOnly} isOld={plan.isLoading} />
          )
        }
      </Outcome>
    </Dialog>
  );
}

interface PlanProps {
  readonly items: readonly Item[];
  readonly run: () => Promise<void>;
  readonly isAddedOnly: boolean;
  /** Whether another plan is under way. */
  readonly isOld: boolean;
}

function Plan({ items, run, isAddedOnly, isOld }: PlanProps) {
  const ready = items.filter(({ done }) => done);
  if (items.length === 0) return <Empty>{say.nothing}</Empty>;
  const kinds = Object.entries(say.kinds).flatMap(([kind, label]) => {
    const n = ready.filter((item) => item.kind === kind).length;
    return n === 0 ? [] : [`${n.toLocaleString()} ${label}`];
  });
  return (
    <>
      <p role="status">{say.plan(kinds.join(", "), items.length - ready.length)}</p>
      <p class="deeds">
        <Deed kind="danger" run={run} isDisabled={isOld || ready.length === 0}>
          {say.deed(ready.length, isAddedOnly)}
        </Deed>
      </p>
      <ul class="rows">
        {items.slice(0, SHOWN).map(({ id, kind, text, done, reason }) => (
          <li key={id}>
            <span>
              {say.kinds[kind]}: {done ? short(text, 100) : <del>{short(text, 100)}</del>}
            </span>
            {reason !== undefined && <small>{reason}</small>}
          </li>
        ))}
      </ul>
      {items.length > SHOWN && <p>{say.others(items.length - SHOWN)}</p>}
    </>
  );
}

const hoursAgo = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();

/** As it was before the changes were taken back. */
async function bringBack(items: readonly Item[]): Promise<void> {
  const deeds: Readonly<Record<Item["kind"], (id: string) => Promise<unknown>>> = {
    added: (id) => api.trash.restore(id),
    restored: (id) => api.trash.restore(id),
    deleted: (id) => api.memories.delete(id, { trash: true }),
    updated: async (id) => {
      const { version } = await api.memories.get(id);
      await api.memories.restore(id, { version: version - 1 });
    },
  };
  await forEach(items, ({ kind, id }) => deeds[kind](id));
}
