/** Growth, kinds, tags, people: figures over what a memory holds. */
import { useState } from "preact/hooks";
import type { MemoryCounts, UserSummary } from "../../client/client.ts";
import { api } from "../api.ts";
import { type PageProps, useSession } from "../context.ts";
import { conditionsOf, Filters } from "../filters.tsx";
import { countOf, dateOf, minuteOf, timeZone } from "../format.ts";
import { hashOf, useLoad } from "../hooks.ts";
import { Deed, Empty, Outcome } from "../parts.tsx";
import type { PlotProps } from "../plot.tsx";
import { texts } from "../texts.ts";
import { Activity } from "./activity.tsx";

/** Days that are drawn: thirty years. */
const DAYS = 10_000;
const ROWS = 20;
const DAY_MS = 86_400_000;

export function Insight({ at }: PageProps) {
  const conditions = conditionsOf(at);
  const inputs = [JSON.stringify(conditions)];
  const days = useLoad(
    (signal) => api.memories.counts({ ...conditions, by: "day", l: DAYS, time_zone: timeZone }, { signal }),
    inputs,
  );
  const owner = conditions.user_id === undefined ? {} : { user_id: conditions.user_id };
  const sectors = useLoad((signal) => api.sectors(owner, { signal }), inputs);
  return (
    <>
      <Filters page="insight" at={at} />
      <Outcome of={days}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              {Object.keys(conditions).length === 0 ? texts.browse.empty : texts.browse.emptyFiltered}
            </Empty>
          ) : (
            <>
              <h2>{texts.insight.calendar}</h2>
              <Activity days={items} hashOfDay={(day) => hashOf("browse", { ...at, day })} />
              <h2>{texts.insight.growth}</h2>
              <Growth days={items} />
            </>
          )
        }
      </Outcome>
      <div class="cards">
        <section class="card">
          <h2>{texts.insight.sectors}</h2>
          <Outcome of={sectors}>
            {({ sectors: all }) => (
              <Bars
                rows={all.map(({ name, count }) => ({
                  key: name,
                  count,
                  hash: hashOf("browse", { ...at, sector: name }),
                }))}
              />
            )}
          </Outcome>
        </section>
        <Weights at={at} />
        <Top by="tag" at={at} />
        <Top by="project" at={at} />
        <People at={at} />
      </div>
    </>
  );
}

function Top({ by, at }: { by: "tag" | "project"; at: PageProps["at"] }) {
  const conditions = conditionsOf(at);
  const counts = useLoad(
    (signal) => api.memories.counts({ ...conditions, by, l: ROWS }, { signal }),
    [by, JSON.stringify(conditions)],
  );
  return (
    <section class="card">
      <h2>{texts.insight.top[by]}</h2>
      <Outcome of={counts}>
        {({ items }) => {
          const rows = items.flatMap(({ key, count }) =>
            key === null ? [] : [{ key, count, hash: hashOf("browse", { ...at, [by]: key }) }],
          );
          return rows.length === 0 ? <Empty>{texts.insight.none}</Empty> : <Bars rows={rows} />;
        }}
      </Outcome>
    </section>
  );
}

function Bars({ rows }: { rows: readonly { key: string; count: number; hash: string }[] }) {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return (
    <ul class="bars">
      {rows.map(({ key, count, hash }) => (
        <li key={key}>
          <a href={hash}>{key}</a>
          <span class="bar" aria-hidden="true">
            <span style={{ width: `${(100 * count) / most}%` }} />
          </span>
          <span>{countOf(count)}</span>
        </li>
      ))}
    </ul>
  );
}

/** How many notes there were at the end of each day. */
function Growth({ days }: { days: MemoryCounts["items"] }) {
  let sum = 0;
  const points = days.map(({ last_at, count }) => ({ at: Date.parse(last_at), sum: (sum += count) }));
  // From nothing, the day before.
  const first = (points[0]?.at ?? 0) - DAY_MS;
  const drawn = [{ at: first, sum: 0 }, ...points, { at: Date.now(), sum }];
  return (
    <PlotLater
      kind="line"
      label={texts.insight.grown(dateOf(first), sum)}
      titles={texts.insight.growthTitles}
      x={drawn.map(({ at }) => at)}
      y={drawn.map(({ sum: reached }) => reached)}
      nameOfX={Date.now() - first < 3 * DAY_MS ? minuteOf : dateOf}
    />
  );
}

const TENTHS = Array.from({ length: 10 }, (_, tenth) => tenth / 10);

/** How many notes have which weight now. */
function Weights({ at }: { at: PageProps["at"] }) {
  const conditions = conditionsOf(at);
  const counts = useLoad(
    (signal) => api.memories.counts({ ...conditions, by: "salience" }, { signal }),
    [JSON.stringify(conditions)],
  );
  return (
    <section class="card">
      <h2>{texts.insight.weights}</h2>
      <Outcome of={counts}>
        {({ items }) => {
          const found = new Map(items.map(({ key, count }) => [Number(key), count]));
          return (
            <PlotLater
              kind="bars"
              label={items.map(({ key, count }) => `${key}: ${texts.browse.total(count)}`).join("; ")}
              titles={texts.insight.weightTitles}
              x={TENTHS}
              y={TENTHS.map((tenth) => found.get(tenth) ?? 0)}
              nameOfX={(tenth) => tenth.toFixed(1)}
            />
          );
        }}
      </Outcome>
      <p class="quiet">{texts.insight.fading}</p>
    </section>
  );
}

/** The library is loaded where it is needed. */
function PlotLater(props: PlotProps) {
  const code = useLoad(() => import("../plot.tsx"), []);
  return <Outcome of={code}>{({ default: Plot }) => <Plot {...props} />}</Outcome>;
}

/** The people who have notes, with a summary of the one chosen. */
function People({ at }: { at: PageProps["at"] }) {
  const { user_id: own } = useSession();
  const people = useLoad((signal) => api.memories.counts({ by: "user", l: ROWS }, { signal }), []);
  const [shown, setShown] = useState<string | undefined>(own ?? at["user"]);
  const summary = useLoad(
    async (signal) => (shown === undefined ? null : await api.users.summary(shown, { signal })),
    [shown],
  );
  return (
    <section class="card">
      <h2>{texts.insight.people}</h2>
      <Outcome of={people}>
        {({ items }) => (
          <p class="deeds">
            {items.map(
              ({ key, count }) =>
                key !== null && (
                  <button key={key} type="button" aria-pressed={key === shown} onClick={() => setShown(key)}>
                    {key} <small>{countOf(count)}</small>
                  </button>
                ),
            )}
            {items.every(({ key }) => key === null) && texts.insight.nobody}
          </p>
        )}
      </Outcome>
      <Outcome of={summary}>{(of) => of !== null && <Summary of={of} again={summary.reload} />}</Outcome>
    </section>
  );
}

function Summary({ of, again }: { of: UserSummary; again: () => void }) {
  const { scope } = useSession();
  return (
    <>
      <ul class="links">
        {of.highlights.map(({ memory_id, text }) => (
          <li key={memory_id}>
            <a href={hashOf("browse", { id: memory_id })}>{text}</a>
          </li>
        ))}
        {of.facts.map(({ id, subject, predicate, object }) => (
          <li key={id}>
            <a href={hashOf("facts", { subject })}>{subject}</a> {predicate} {object}
          </li>
        ))}
      </ul>
      {of.stale && scope !== "read" && (
        <Deed run={async () => (await api.users.regenerateSummary(of.user_id), again())}>
          {texts.insight.again}
        </Deed>
      )}
    </>
  );
}
