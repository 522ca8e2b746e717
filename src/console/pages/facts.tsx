import { useEffect, useState } from "preact/hooks";
import type { Fact } from "../../client/client.ts";
import { api } from "../api.ts";
import { type PageProps, useMayWrite } from "../context.ts";
import { dateOf, fieldDateOf, startOfDay } from "../format.ts";
import { go, hashOf, type Loaded, useLoad, useSettled } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { Deed, Dialog, Empty, Field, Input, Outcome, SearchForm } from "../parts.tsx";
import { texts } from "../texts.ts";
import { Timeline } from "./timeline.tsx";

const SUBJECTS = 200;
/** All that is drawn of a subject. */
const FACTS = 500;
const DAY_MS = 86_400_000;
/** While a slider is moved. */
const SETTLED_MS = 120;

export function Facts({ at }: PageProps) {
  const mayWrite = useMayWrite();
  const subjects = useLoad((signal) => api.facts.subjects({ l: SUBJECTS }, { signal }), []);
  useChanges(["fact", "user"], subjects.reload);
  const [text, setText] = useState(at["subject"] ?? "");
  const subject = at["subject"];
  const wanted = text.trim().toLowerCase();
  const show = (name: string) => {
    setText(name);
    go(hashOf("facts", { subject: name }));
  };
  useEffect(() => setText(subject ?? ""), [subject]);
  return (
    <>
      <SearchForm
        label={texts.facts.subject}
        value={text}
        onInput={setText}
        onSubmit={() => wanted !== "" && show(text.trim())}
      />
      {mayWrite && <AddFact subject={subject ?? ""} onAdded={(name) => (subjects.reload(), show(name))} />}
      {subject === undefined ? (
        <Outcome of={subjects}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty>{texts.facts.none}</Empty>
            ) : (
              <ul class="subjects" aria-label={texts.facts.subjects}>
                {items
                  .filter((each) => each.subject.toLowerCase().includes(wanted))
                  .map((each) => (
                    <li key={each.subject}>
                      <a href={hashOf("facts", { subject: each.subject })}>{each.subject}</a>{" "}
                      <small>{each.fact_count}</small>
                    </li>
                  ))}
              </ul>
            )
          }
        </Outcome>
      ) : (
        <Subject key={subject} subject={subject} />
      )}
    </>
  );
}

function Subject({ subject }: { subject: string }) {
  const mayWrite = useMayWrite();
  // Also what was corrected since: all that was ever recorded stands in the timeline.
  const all = useLoad(
    async (signal) => (await api.facts.page({ subject, l: FACTS }, { signal })).facts,
    [subject],
  );
  const [trueAt, setTrueAt] = useState<number>();
  const [knownAt, setKnownAt] = useState<number>();
  const moment = useSettled(`${trueAt ?? ""} ${knownAt ?? ""}`, SETTLED_MS);
  const then: Loaded<readonly Fact[]> = useLoad(
    async (signal) => {
      const conditions = {
        subject,
        l: FACTS,
        at: new Date(trueAt ?? Date.now()).toISOString(),
        ...(knownAt !== undefined && { known_at: new Date(knownAt).toISOString() }),
      };
      return (await api.facts.page(conditions, { signal })).facts;
    },
    [subject, moment],
  );
  const reload = () => {
    all.reload();
    then.reload();
  };
  useChanges(["fact", "user"], reload);
  return (
    <Outcome of={all}>
      {(facts) => {
        if (facts.length === 0) return <Empty>{texts.facts.noneOf(subject)}</Empty>;
        const now = Date.now();
        const first = Math.min(...facts.map(({ valid_from }) => Date.parse(valid_from)));
        const last = Math.max(
          now,
          ...facts.map(({ valid_to }) => (valid_to === null ? now : Date.parse(valid_to))),
        );
        const recorded = Math.min(...facts.map(({ recorded_at }) => Date.parse(recorded_at)));
        return (
          <>
            <h2>{texts.facts.history(subject)}</h2>
            <Timeline facts={facts} first={first} last={last} mark={trueAt ?? now} />
            <div class="sliders">
              <Slider
                label={texts.facts.trueAt}
                between={[first, last]}
                value={trueAt}
                onChange={setTrueAt}
              />
              <Slider
                label={texts.facts.knownAt}
                between={[recorded, now]}
                value={knownAt}
                onChange={setKnownAt}
              />
            </div>
            <h3>{texts.facts.atThatTime}</h3>
            <Outcome of={then}>
              {(valid) =>
                valid.length === 0 ? (
                  <Empty>{texts.facts.nothingThen}</Empty>
                ) : (
                  <ul class="facts">
                    {valid.map((fact) => (
                      <FactRow
                        key={fact.id}
                        fact={fact}
                        mayWrite={mayWrite && knownAt === undefined}
                        onChanged={reload}
                      />
                    ))}
                  </ul>
                )
              }
            </Outcome>
            <Compare subject={subject} first={first} />
          </>
        );
      }}
    </Outcome>
  );
}

interface SliderProps {
  readonly label: string;
  /** Epoch milliseconds. */
  readonly between: readonly [first: number, last: number];
  /** Undefined: now. */
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}

function Slider({ label, between: [first, last], value, onChange }: SliderProps) {
  return (
    <Field label={`${label} ${value === undefined ? texts.facts.now : dateOf(value)}`}>
      <input
        type="range"
        min={first - DAY_MS}
        max={last + DAY_MS}
        step={DAY_MS / 24}
        value={value ?? Date.now()}
        onInput={(event) => onChange(Number(event.currentTarget.value))}
      />
      {value !== undefined && (
        <button type="button" onClick={() => onChange(undefined)}>
          {texts.facts.now}
        </button>
      )}
    </Field>
  );
}

function FactRow({ fact, mayWrite, onChanged }: { fact: Fact; mayWrite: boolean; onChanged: () => void }) {
  const [deed, setDeed] = useState<"end" | "correct">();
  const [date, setDate] = useState(fieldDateOf(Date.now()));
  const [object, setObject] = useState(fact.object);
  const owner = fact.user_id === null ? {} : { user_id: fact.user_id };
  const done = () => {
    setDeed(undefined);
    onChanged();
  };
  const end = async () => {
    // Today means now: it may have begun today.
    const valid_to = date === fieldDateOf(Date.now()) ? undefined : startOfDay(date);
    await api.facts.close(fact.id, { ...owner, ...(valid_to !== undefined && { valid_to }) });
    done();
  };
  /** The same period with another object: what was recorded before is still known as of then. */
  const correct = async () => {
    const { subject, predicate, valid_from, valid_to, cardinality, project } = fact;
    if (cardinality === "many") await api.facts.close(fact.id, { ...owner, valid_to: valid_from });
    await api.facts.record({
      subject,
      predicate,
      object: object.trim(),
      valid_from,
      cardinality,
      ...owner,
      ...(valid_to !== null && { valid_to }),
      ...(project !== null && { project }),
    });
    done();
  };
  return (
    <li>
      {fact.predicate} <strong>{fact.object}</strong>{" "}
      <small>
        {fact.valid_to === null
          ? texts.facts.since(dateOf(fact.valid_from))
          : `${dateOf(fact.valid_from)} – ${dateOf(fact.valid_to)}`}
        {fact.user_id !== null && ` · ${fact.user_id}`}
        {fact.created_by !== null && ` · ${texts.note.by} ${fact.created_by}`}
      </small>
      {mayWrite && (
        <span class="deeds">
          <button type="button" onClick={() => setDeed("correct")}>
            {texts.facts.correct}
          </button>
          {fact.valid_to === null && (
            <button type="button" onClick={() => setDeed("end")}>
              {texts.facts.end}
            </button>
          )}
        </span>
      )}
      {deed !== undefined && (
        <Dialog title={`${fact.predicate} ${fact.object}`} onClose={() => setDeed(undefined)}>
          {deed === "end" ? (
            <Input label={texts.facts.endOn} type="date" value={date} onInput={setDate} />
          ) : (
            <Input label={fact.predicate} hint={texts.facts.correctWhy} value={object} onInput={setObject} />
          )}
          <p class="deeds">
            <Deed kind="main" run={deed === "end" ? end : correct} isDisabled={object.trim() === ""}>
              {texts.save}
            </Deed>
          </p>
        </Dialog>
      )}
    </li>
  );
}

function AddFact({ subject: given, onAdded }: { subject: string; onAdded: (subject: string) => void }) {
  const [subject, setSubject] = useState(given);
  const [predicate, setPredicate] = useState("");
  const [object, setObject] = useState("");
  const [from, setFrom] = useState("");
  const [similar, setSimilar] = useState<readonly { id: string; predicate: string; object: string }[]>([]);
  useEffect(() => setSubject(given), [given]);
  const add = async () => {
    const valid_from = startOfDay(from);
    const { similar = [] } = await api.facts.record({
      subject: subject.trim(),
      predicate: predicate.trim(),
      object: object.trim(),
      ...(valid_from !== undefined && { valid_from }),
    });
    setSimilar(similar);
    setObject("");
    onAdded(subject.trim());
  };
  return (
    <details class="add">
      <summary>{texts.facts.add}</summary>
      <div class="fields">
        <Input label={texts.facts.subject} value={subject} onInput={setSubject} />
        <Input label={texts.facts.predicate} value={predicate} onInput={setPredicate} />
        <Input label={texts.facts.object} value={object} onInput={setObject} />
        <Input label={texts.facts.from} type="date" value={from} onInput={setFrom} />
        <Deed
          kind="main"
          run={add}
          isDisabled={[subject, predicate, object].some((text) => text.trim() === "")}
        >
          {texts.save}
        </Deed>
      </div>
      {similar.length > 0 && (
        <p role="status">
          {texts.facts.similar} {similar.map(({ predicate, object }) => `${predicate} ${object}`).join("; ")}
        </p>
      )}
    </details>
  );
}

function Compare({ subject, first }: { subject: string; first: number }) {
  const [one, setOne] = useState(fieldDateOf(first));
  const [two, setTwo] = useState(fieldDateOf(Date.now()));
  const compared = useLoad(
    async (signal) => {
      const [time1, time2] = [startOfDay(one), startOfDay(two, 1)];
      if (time1 === undefined || time2 === undefined) return null;
      return await api.facts.compare({ subject, time1, time2, l: FACTS }, { signal });
    },
    [subject, one, two],
  );
  const said = ({ id, predicate, object }: Fact) => (
    <li key={id}>
      {predicate} <strong>{object}</strong>
    </li>
  );
  return (
    <details>
      <summary>{texts.facts.compare}</summary>
      <div class="fields">
        <Input label={texts.facts.first} type="date" value={one} onInput={setOne} />
        <Input label={texts.facts.second} type="date" value={two} onInput={setTwo} />
      </div>
      <Outcome of={compared}>
        {(result) => {
          if (result === null) return null;
          const { added, removed, changed, summary } = result;
          return (
            <>
              {added.length > 0 && <h4>{texts.facts.added}</h4>}
              <ul>{added.map(said)}</ul>
              {removed.length > 0 && <h4>{texts.facts.removed}</h4>}
              <ul>{removed.map(said)}</ul>
              {changed.length > 0 && <h4>{texts.facts.changed}</h4>}
              <ul>
                {changed.map(({ before, after }) => (
                  <li key={after.id}>
                    {after.predicate} <del>{before.object}</del> <ins>{after.object}</ins>
                  </li>
                ))}
              </ul>
              <p class="count">
                {added.length + removed.length + changed.length === 0 ? texts.facts.noDifference : ""}{" "}
                {texts.facts.same(summary.unchanged)}
              </p>
            </>
          );
        }}
      </Outcome>
    </details>
  );
}
