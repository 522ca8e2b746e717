/** What a memory holds in all: a calendar by the day it happened, kinds, tags, projects, people. */
import { useState } from "preact/hooks";
import type { MemoryCounts, UserSummary } from "../../client/client.ts";
import { api } from "../api.ts";
import { type PageProps, useSession } from "../context.ts";
import { conditionsOf } from "../filters.tsx";
import { countOf, timeZone } from "../format.ts";
import { hashOf, useLoad } from "../hooks.ts";
import { Outcome } from "../parts.tsx";
import { texts } from "../texts.ts";
import { Activity } from "./activity.tsx";

const ROWS = 15;
const BY = ["tag", "project", "user"] as const;

export function Overview({ at }: { at: PageProps["at"] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.overview.title}</summary>
      {isOpen && <Figures at={at} />}
    </details>
  );
}

function Figures({ at }: { at: PageProps["at"] }) {
  const { from: _from, to: _to, ...conditions } = conditionsOf(at);
  const { user_id: own } = useSession();
  const user = own ?? at["user"];
  const figures = useLoad(
    async (signal) => {
      const count = (by: "happened" | (typeof BY)[number], l?: number) =>
        api.memories.counts(
          { ...conditions, by, time_zone: timeZone, ...(l !== undefined && { l }) },
          { signal },
        );
      const [days, { sectors }, ...tops] = await Promise.all([
        count("happened"),
        api.sectors(user === undefined ? {} : { user_id: user }, { signal }),
        ...BY.map((by) => count(by, ROWS)),
      ]);
      return { days: days.items, sectors, tops };
    },
    [JSON.stringify(conditions)],
  );
  const hash = (changes: Record<string, string>) => hashOf("notes", { ...at, ...changes, id: undefined });
  return (
    <Outcome of={figures}>
      {({ days, sectors, tops }) => (
        <>
          <h2>{texts.overview.calendar}</h2>
          <Activity
            label={texts.overview.calendar}
            days={days}
            hashOfDay={(day) => hash({ from: day, to: day })}
          />
          <div class="cards">
            <Bars
              title={texts.overview.kinds}
              rows={sectors.map(({ name, count, description }) => ({
                name,
                count,
                hint: description,
                hash: hash({ sector: name }),
              }))}
            />
            {BY.map((by, index) => (
              <Bars
                key={by}
                title={texts.overview.top[by]}
                rows={named(tops[index], (key) => hash({ [by]: key }))}
              />
            ))}
            {user !== undefined && <Summary key={user} user={user} />}
          </div>
        </>
      )}
    </Outcome>
  );
}

function named(counts: MemoryCounts | undefined, hashOfKey: (key: string) => string): readonly Row[] {
  return (
    counts?.items.flatMap(({ key, count }) =>
      key === null ? [] : [{ name: key, count, hash: hashOfKey(key) }],
    ) ?? []
  );
}

interface Row {
  readonly name: string;
  readonly count: number;
  readonly hash: string;
  readonly hint?: string;
}

function Bars({ title, rows }: { title: string; rows: readonly Row[] }) {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  if (rows.length === 0) return null;
  return (
    <section class="card">
      <h2>{title}</h2>
      <ul class="bars">
        {rows.map(({ name, count, hash, hint }) => (
          <li key={name}>
            <a href={hash}>{name}</a>
            <span class="bar" aria-hidden="true">
              <span style={{ width: `${(100 * count) / most}%` }} />
            </span>
            <span>{countOf(count)}</span>
            {hint !== undefined && <small>{hint}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What stands out about a person. */
function Summary({ user }: { user: string }) {
  const summary = useLoad((signal) => api.users.summary(user, { signal }), [user]);
  return (
    <section class="card">
      <h2>{texts.overview.about(user)}</h2>
      <Outcome of={summary}>
        {({ highlights, facts }: UserSummary) => (
          <ul class="links">
            {highlights.map(({ memory_id, text }) => (
              <li key={memory_id}>
                <a href={hashOf("notes", { id: memory_id })}>{text}</a>
              </li>
            ))}
            {facts.map(({ id, subject, predicate, object }) => (
              <li key={id}>
                <a href={hashOf("facts", { subject })}>{subject}</a> {predicate} {object}
              </li>
            ))}
          </ul>
        )}
      </Outcome>
    </section>
  );
}
