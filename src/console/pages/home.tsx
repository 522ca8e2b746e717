import { useEffect, useRef, useState } from "preact/hooks";
import type { Match, QueryResult } from "../../client/client.ts";
import { api } from "../api.ts";
import type { PageProps } from "../context.ts";
import { conditionsOf, Filters } from "../filters.tsx";
import { dateOf, marked, timeZone } from "../format.ts";
import { go, hashOf, type Loaded, useKeys, useLoad, useSettled } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { Empty, Outcome, SearchForm, Tags } from "../parts.tsx";
import { texts } from "../texts.ts";
import { BesideNote } from "./note.tsx";

/** Long enough that a word is not asked letter by letter. */
const SETTLED_MS = 180;
const MATCHES = 20;
const SNIPPET_CHARS = 400;

export function Home({ at }: PageProps) {
  const [text, setText] = useState(at["q"] ?? "");
  const question = useSettled(text.trim(), SETTLED_MS);
  useEffect(() => go(hashOf("home", { ...at, q: question, id: "" }), { replace: true }), [question]);
  const found: Loaded<QueryResult | null> = useLoad(
    async (signal) => (question === "" ? null : await ask(question, at, signal)),
    [question, JSON.stringify(conditionsOf(at))],
  );
  useChanges(["memory", "fact", "user"], found.reload);
  const open = (id: string) => go(hashOf("home", { ...at, id }));
  return (
    <BesideNote page="home" at={at} onChanged={found.reload}>
      <SearchForm
        label={texts.ask.label}
        placeholder={texts.ask.example}
        isFocused
        maxLength={8_192}
        value={text}
        onInput={setText}
      />
      <Filters page="home" at={at} />
      <Outcome of={found}>
        {(result) =>
          result === null ? (
            <Empty>{texts.ask.begin}</Empty>
          ) : (
            <Answer key={result.query} result={result} open={open} openId={at["id"]} />
          )
        }
      </Outcome>
    </BesideNote>
  );
}

function ask(question: string, at: PageProps["at"], signal: AbortSignal): Promise<QueryResult> {
  const { tag, user_id, created_from: _from, created_to: _to, ...filters } = conditionsOf(at);
  return api.query(
    question,
    {
      k: MATCHES,
      explain: true,
      snippet: SNIPPET_CHARS,
      time_zone: timeZone,
      ...(user_id !== undefined && { user_id }),
      filters: { ...filters, ...(tag !== undefined && { tags: [tag] }) },
    },
    { signal },
  );
}

interface AnswerProps {
  readonly result: QueryResult;
  readonly open: (id: string) => void;
  readonly openId: string | undefined;
}

function Answer({ result, open, openId }: AnswerProps) {
  const { query, matches, relevant, plausible, facts = [], took_ms } = result;
  const [isAllShown, setAllShown] = useState(false);
  const [current, setCurrent] = useState(-1);
  const shown = isAllShown ? matches : matches.slice(0, plausible);
  const move = (step: number) => setCurrent((n) => Math.max(0, Math.min(shown.length - 1, n + step)));
  useKeys({
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const chosen = shown[current];
      if (chosen !== undefined) open(chosen.id);
    },
  });
  return (
    <>
      <p class="count" role="status">
        {relevant > 0
          ? texts.ask.found(relevant, took_ms)
          : facts.length > 0
            ? texts.ask.onlyFacts
            : plausible === 0 && texts.ask.nothingAnswers}
      </p>
      {facts.length > 0 && (
        <section class="card beside">
          <h2>{texts.ask.facts}</h2>
          <ul>
            {facts.map(({ id, subject, predicate, object, valid_from }) => (
              <li key={id}>
                <a href={hashOf("facts", { subject })}>{subject}</a> {predicate} <strong>{object}</strong>{" "}
                <small>{texts.facts.since(dateOf(valid_from))}</small>
              </li>
            ))}
          </ul>
        </section>
      )}
      <ol class="notes">
        {shown.map((match, index) => (
          <li key={match.id}>
            {index === relevant && index < plausible && <p class="count">{texts.ask.perhaps(relevant)}</p>}
            {index === plausible && <p class="count">{texts.ask.nearest}</p>}
            <MatchRow
              match={match}
              question={query}
              isCurrent={index === current}
              isOpen={match.id === openId}
              onOpen={() => open(match.id)}
            />
          </li>
        ))}
      </ol>
      {!isAllShown && matches.length > plausible && (
        <button type="button" onClick={() => setAllShown(true)}>
          {texts.ask.showNearest(matches.length - plausible)}
        </button>
      )}
    </>
  );
}

interface MatchRowProps {
  readonly match: Match;
  readonly question: string;
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function MatchRow({ match, question, isCurrent, isOpen, onOpen }: MatchRowProps) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  const { content, snippet = content, occurred_at, tags, path, score, superseded_by, superseded_how } = match;
  return (
    <article class={`note ${match.level}${isCurrent ? " current" : ""}${isOpen ? " open" : ""}`} ref={row}>
      <button type="button" class="text" onClick={onOpen}>
        <Marked text={snippet} question={question} />
      </button>
      <p class="about">
        <time dateTime={occurred_at}>{dateOf(occurred_at)}</time>
        {match.user_id !== null && <span>{match.user_id}</span>}
        {match.project !== null && <span>{match.project}</span>}
        <span>{match.primary_sector}</span>
        <Tags of={tags} />
        {path.length > 1 && <span>{texts.ask.over(path.length - 1)}</span>}
        {superseded_by !== null && (
          <span class="superseded">
            {superseded_how === "told" ? texts.note.supersededBy : texts.note.supersededGuess}
          </span>
        )}
      </p>
      <details class="why">
        <summary>
          {texts.ask.why}
          <meter min={0} max={1} value={score} aria-label={texts.ask.score} />
          <span>{Math.round(score * 100)} %</span>
        </summary>
        <Shares of={match.explain ?? {}} />
      </details>
    </article>
  );
}

export function Marked({ text, question }: { text: string; question: string }) {
  return (
    <>
      {marked(text, question).map((piece, index) =>
        piece.isMarked ? <mark key={index}>{piece.text}</mark> : piece.text,
      )}
    </>
  );
}

/** Terms of less than this are left out. */
const LEAST_SHARE = 0.01;

/** The score as one bar of its terms, and as a list. */
function Shares({ of }: { of: Readonly<Record<string, number>> }) {
  const sums = new Map<string, number>();
  for (const [term, share] of Object.entries(of)) {
    const name = texts.terms[term] ?? term;
    sums.set(name, (sums.get(name) ?? 0) + share);
  }
  const terms = [...sums].filter(([, share]) => Math.abs(share) >= LEAST_SHARE).sort(([, a], [, b]) => b - a);
  const whole = terms.reduce((sum, [, share]) => sum + Math.max(0, share), 0);
  return (
    <div>
      <div class="shares" aria-hidden="true">
        {terms.map(([name, share], index) =>
          share > 0 ? (
            <span key={name} class={`share-${index % 6}`} style={{ width: `${(100 * share) / whole}%` }} />
          ) : null,
        )}
      </div>
      <ul class="terms">
        {terms.map(([name, share], index) => (
          <li key={name}>
            <i class={share > 0 ? `share-${index % 6}` : ""} />
            {name} {share > 0 ? "+" : "−"}
            {Math.abs(share).toFixed(2)}
          </li>
        ))}
      </ul>
    </div>
  );
}
