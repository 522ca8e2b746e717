/** The question and its answers; without one what is new, what is coming up and what waits for a decision. */
import { useEffect, useState } from "preact/hooks";
import type { Match, QueryResult, SupersededPage } from "../../client/client.ts";
import { api } from "../api.ts";
import { type PageProps, useMayWrite } from "../context.ts";
import { conditionsOf, Filters, isFiltered } from "../filters.tsx";
import { dateOf, marked, namedDayOf, short, textOf, timeZone } from "../format.ts";
import { go, hashOf, type Loaded, useLoad, useRows, useSettled } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { CommandLine, Deed, Empty, Outcome, SearchForm, Sentence } from "../parts.tsx";
import { texts } from "../texts.ts";
import { AddNote } from "./add-note.tsx";
import { NoteRow } from "./note-row.tsx";
import { BesideNote } from "./note.tsx";

/** Long enough that a word is not asked letter by letter. */
const SETTLED_MS = 180;
const MATCHES = 20;
const SNIPPET_CHARS = 400;
const LAST = 8;
const COMING = 8;
const WAITING = 5;
const PAIR_CHARS = 200;

export function Home({ at }: PageProps) {
  const [text, setText] = useState(at["q"] ?? "");
  const question = useSettled(text.trim(), SETTLED_MS);
  useEffect(() => go(hashOf("home", { ...at, q: question }), { replace: true }), [question]);
  const found: Loaded<QueryResult | null> = useLoad(
    async (signal) => (question === "" ? null : await ask(question, at, signal)),
    [question, JSON.stringify(conditionsOf(at))],
  );
  const news = useLoad(readNews, []);
  const reload = () => {
    found.reload();
    news.reload();
  };
  useChanges(["memory", "fact", "user"], reload);
  const isEmpty = news.value?.last.total === 0;
  return (
    <BesideNote page="home" at={at} onChanged={reload}>
      <SearchForm
        label={texts.home.ask}
        placeholder={texts.home.example}
        isFocused
        maxLength={8_192}
        value={text}
        onInput={setText}
      />
      {(question !== "" || isFiltered(at)) && <Filters page="home" at={at} />}
      <Outcome of={found}>
        {(result) =>
          result === null ? (
            <News of={news} at={at} />
          ) : isEmpty ? (
            <Empty>{texts.notes.empty}</Empty>
          ) : (
            <Answer key={result.query} result={result} at={at} onChanged={reload} />
          )
        }
      </Outcome>
    </BesideNote>
  );
}

async function readNews(signal: AbortSignal) {
  const options = { signal };
  const [last, coming, waiting] = await Promise.all([
    api.memories.page({ l: LAST }, options),
    api.memories.coming({ l: COMING, time_zone: timeZone }, options),
    api.call<SupersededPage>({
      method: "GET",
      path: "/memory/superseded",
      query: { how: "inferred", l: WAITING },
      options,
    }),
  ]);
  return { last, coming: coming.items, waiting };
}

function News({ of, at }: { of: Loaded<Awaited<ReturnType<typeof readNews>>>; at: PageProps["at"] }) {
  const mayWrite = useMayWrite();
  return (
    <>
      {mayWrite && <AddNote at={at} onAdded={of.reload} />}
      <Outcome of={of}>
        {({ last, coming, waiting }) => (
          <>
            {last.total === 0 && <FirstSteps />}
            {waiting.total > 0 && mayWrite && (
              <section>
                <h2>{texts.home.waiting(waiting.total)}</h2>
                <ul class="rows">
                  {waiting.items.map((pair) => (
                    <WaitingPair key={pair.older.id} pair={pair} at={at} onDone={of.reload} />
                  ))}
                </ul>
              </section>
            )}
            {coming.length > 0 && (
              <section>
                <h2>{texts.home.coming}</h2>
                {coming.map(({ on, memory }) => (
                  <NoteRow
                    key={memory.id}
                    memory={memory}
                    page="home"
                    at={at}
                    time={<strong>{namedDayOf(on)}</strong>}
                    onChanged={of.reload}
                  />
                ))}
              </section>
            )}
            {last.total > 0 && (
              <section>
                <h2>{texts.home.last}</h2>
                {last.items.map((memory) => (
                  <NoteRow key={memory.id} memory={memory} page="home" at={at} onChanged={of.reload} />
                ))}
                <a href="#/notes">{texts.home.all(last.total)}</a>
              </section>
            )}
          </>
        )}
      </Outcome>
    </>
  );
}

/** What there is to do in an empty store. */
function FirstSteps() {
  const { write, connect, bring, command } = texts.home.first;
  return (
    <section class="card">
      <h2>{texts.home.first.title}</h2>
      <ol class="steps">
        <li>{write}</li>
        <li>
          {connect} <CommandLine command={command} /> <a href="#/agents">{texts.home.first.others}</a>
        </li>
        <li>
          <Sentence of={bring} /> <a href="#/documents">{texts.pages.documents}</a>
        </li>
      </ol>
    </section>
  );
}

interface WaitingPairProps {
  readonly pair: SupersededPage["items"][number];
  readonly at: PageProps["at"];
  readonly onDone: () => void;
}

/** An earlier note and the later one that perhaps replaces it: to be confirmed or rejected. */
function WaitingPair({ pair: { older, newer }, at, onDone }: WaitingPairProps) {
  const confirm = { supersedes: [...newer.supersedes, older.id] };
  const said = (memory: typeof older) => (
    <>
      <a href={hashOf("home", { ...at, id: memory.id })}>{short(textOf(memory), PAIR_CHARS)}</a>{" "}
      <small>{dateOf(memory.occurred_at)}</small>
    </>
  );
  return (
    <li>
      <span>
        {said(older)} <br />
        <span aria-hidden="true">→</span> {said(newer)}
      </span>
      <span class="deeds">
        <Deed run={async () => (await api.memories.update(newer.id, confirm), onDone())}>
          {texts.home.replaced}
        </Deed>
        <Deed run={async () => (await api.memories.update(older.id, { still_holds: true }), onDone())}>
          {texts.home.bothHold}
        </Deed>
      </span>
    </li>
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
  readonly at: PageProps["at"];
  readonly onChanged: () => void;
}

function Answer({ result, at, onChanged }: AnswerProps) {
  const { query, matches, relevant, plausible, facts = [], took_ms } = result;
  const [isAllShown, setAllShown] = useState(false);
  const shown = isAllShown ? matches : matches.slice(0, plausible);
  const current = useRows(shown, ({ id }) => go(hashOf("home", { ...at, id })));
  return (
    <>
      <p class="count" role="status">
        {relevant > 0
          ? texts.home.found(relevant, took_ms)
          : facts.length > 0
            ? texts.home.onlyFacts
            : plausible === 0 && texts.home.nothingAnswers}
      </p>
      {facts.length > 0 && (
        <section class="card beside">
          <h2>{texts.home.facts}</h2>
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
            {index === relevant && index < plausible && <p class="count">{texts.home.perhaps(relevant)}</p>}
            {index === plausible && <p class="count">{texts.home.nearest}</p>}
            <NoteRow
              memory={match}
              page="home"
              at={at}
              kind={match.level}
              isCurrent={index === current}
              text={<Marked of={match} question={query} />}
              onChanged={onChanged}
            >
              <Why of={match} />
            </NoteRow>
          </li>
        ))}
      </ol>
      {!isAllShown && matches.length > plausible && (
        <button type="button" onClick={() => setAllShown(true)}>
          {texts.home.showNearest(matches.length - plausible)}
        </button>
      )}
    </>
  );
}

function Marked({ of, question }: { of: Match; question: string }) {
  return (
    <>
      {marked(textOf(of, of.snippet), question).map((piece, index) =>
        piece.isMarked ? <mark key={index}>{piece.text}</mark> : piece.text,
      )}
    </>
  );
}

/** Why a term of the ranking speaks for a note, and against it. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  words: ["it has words of your question"],
  pasted: ["it fits what you pasted"],
  phrase: ["it has your words in their order"],
  vectors: ["it is about the same thing"],
  tokens: ["it fits your question word by word"],
  context: ["it fits your question word by word"],
  neighbours: ["the notes around it are about this"],
  session: ["it is from the same conversation"],
  speaker: ["it is by the one you ask about", "it is by somebody else"],
  time: ["it is of the time you ask about", "it is of another time"],
  tellsTime: ["it names a time"],
  tellsName: ["it names somebody"],
  asks: ["it is a question itself", "it is a question itself"],
  sector: ["it is of the kind you ask for"],
  salience: ["it was often needed"],
  recency: ["it is recent"],
  currency: ["it is the latest on this", "a later note may replace it"],
  denial: ["it says no", "it says no"],
};

/** Reasons that count less are left out. */
const LEAST_SHARE = 0.03;
const MOST_REASONS = 3;

/** Why a note was found, in a sentence. */
function Why({ of: { explain = {}, score, path } }: { of: Match }) {
  const found = Object.entries(explain)
    .filter(([, share]) => Math.abs(share) >= LEAST_SHARE)
    .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a))
    .flatMap(([term, share]) => REASONS[term]?.[share > 0 ? 0 : 1] ?? []);
  const all = [...new Set(found)].slice(0, MOST_REASONS);
  if (path.length > 1) all.push(texts.home.over(path.length - 1));
  return (
    <details class="why">
      <summary>
        {texts.home.why}
        <meter min={0} max={1} value={score} aria-label={texts.home.score} />
        <span>{Math.round(score * 100)} %</span>
      </summary>
      <p>{all.length === 0 ? texts.home.nothingMuch : texts.home.because(all)}</p>
    </details>
  );
}
