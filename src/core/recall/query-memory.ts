import { answeringFacts, type ScoredFact } from "../facts/answering-facts.ts";
import { presentOf } from "../facts/fact-store.ts";
import { gatherCandidates } from "./gather-candidates.ts";
import { likeness } from "../embedding.ts";
import type { SeenMemory } from "../memory.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { MemoryFilter, Ordinal, Selection } from "../ports.ts";
import { termWeights } from "./bm25.ts";
import { anotherBehind, namingAnother } from "./identifiers.ts";
import { currentFirst, LOOKED_AT, withSuccessors } from "./currency.ts";
import { checksValue, tenseOf } from "./tense.ts";
import { words } from "../text/expression.ts";
import { type Answer, answersByTime, type Naming, naming, within, withMemories } from "./period.ts";
import { readQuestion, withoutListing, timedQuestion, type TimedQuestion } from "./question.ts";
import {
  answeringCount,
  answerOdds,
  lackOfForm,
  type Level,
  NAMES_ANOTHER,
  plausibleCount,
  scoreByOdds,
} from "./relevance.ts";
import { rank, type RankedHit } from "./ranking.ts";
import { scoreOf, sumOf } from "./ranking-terms.ts";
import { snippetOf } from "./snippet.ts";
import { fromLanguages, wordsOfAll } from "../text/languages.ts";
import { type Prompt, readPrompt } from "../text/asking-part.ts";
import { fold, withoutVowelSigns } from "../text/fold.ts";
import { DAY_MS, fit } from "../text/time-periods.ts";

export interface QueryMemoryInput {
  readonly query: string;
  /** 1 … 200. */
  readonly limit: number;
  /** In which "yesterday" is meant; the service's own if absent. */
  readonly timeZone?: string;
  /** It is a text to find the like of, no question: times in it are words as any others. */
  readonly isText?: boolean;
  readonly filter: MemoryFilter;
  /** In [0, 1]. */
  readonly minScore?: number;
  /** Longest snippet wanted, in characters; absent: none. */
  readonly snippetChars?: number;
  readonly explain?: boolean;
  /** Answers as of that moment: later memories have no say. */
  readonly asOf?: number;
  /** Also answer facts. */
  readonly includeFacts?: boolean;
}

export interface MemoryHit {
  readonly memory: SeenMemory;
  /** In [0, 1]: near 1 for the same text, low for unrelated; comparable between questions. */
  readonly score: number;
  readonly level: Level;
  /** Ids walked over waypoints, the hit last; the hit alone when it was found directly. */
  readonly path: readonly string[];
  readonly snippet?: string;
  /** Each term's share of the score, by its name; they add up to `score`. */
  readonly explain?: Readonly<Record<string, number>>;
}

export interface QueryMemoryResult {
  /** Best first. */
  readonly hits: readonly MemoryHit[];
  /** How many leading hits answer the question. */
  readonly relevant: number;
  /** How many leading hits are worth reading: at least `relevant`, at most three more. */
  readonly plausible: number;
  /** Facts of the same user and projects that are valid now (or at `asOf`), see `answeringFacts`. Only where they were asked for. */
  readonly facts?: readonly ScoredFact[];
}

/** Cosine from which two notes say the same in other words, or are states of one thing. */
const SAYS_THE_SAME = 0.75;
/** Of a note that names the coming time that a question asks for, at least. */
const NAMES_THE_TIME = 0.25;
/** Characters of a paste that the question is understood by; 250 and 1 000 find as much. */
const READ_OF_PASTE = 500;
/** The least score of an answer to a question that asks for more than a time. */
const LEAST_OF_ANSWER = 0.1;
/** Lower ones, which print as 0.00, are no matches unless a caller asks for them. */
const LEAST_SCORE = 0.005;

/**
 * Finds the memories that answer a question, best first.
 *
 * @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED, NOT_READY.
 */
export async function queryMemory(ports: MemoryPorts, input: QueryMemoryInput): Promise<QueryMemoryResult> {
  const { store, clock, timeZone } = ports;
  const { query, limit, minScore = LEAST_SCORE, snippetChars, explain = false, asOf } = input;
  const filter =
    asOf === undefined
      ? input.filter
      : { ...input.filter, to: Math.min(input.filter.to ?? Infinity, asOf + 1) };
  const now = asOf ?? clock.now();
  const prompt = input.isText === true ? undefined : readPrompt(query);
  const question = prompt?.asking ?? query;
  const time = prompt === undefined ? undefined : timedQuestion(question, now, input.timeZone ?? timeZone);
  // Beside a paste "today" and "this year" are the time of asking: what answers may have been written long before.
  const isNow = time !== undefined && time.period.from <= now && now < time.period.to;
  const timed = isNow && prompt?.pasted !== "" && !time.isTimeAlone ? undefined : time;
  const asked = await whenAsked(store, filter, timed && untilNow(timed, now), now);
  const topic = prompt === undefined ? query : withoutListing(asked?.topic ?? question);
  const { ordered, answering, scoreOf, memories, idOf, weightOfTerm, vector } =
    asked?.isTimeAlone === true
      ? await answersByTime(store, filter, asked, limit, now)
      : await answersByMeaning(ports, { text: question, topic, prompt, asked, limit }, filter, now, asOf);
  const scored = (hit: RankedHit, least = 0) => rescored(hit, Math.max(scoreOf(hit), least), explain);
  // Of what is to come, every note that names the time is worth a look.
  const named = new Set(asked?.naming);
  const coming = ordered
    .filter(({ ordinal }) => named.has(ordinal))
    .map((hit) => scored(hit, NAMES_THE_TIME));
  const others = ordered.filter(({ ordinal }) => !named.has(ordinal)).slice(0, limit);
  const ranked = [...coming, ...others.map((hit) => scored(hit))]
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .filter(({ score }) => score >= minScore);
  // Matches that fell behind made room for others.
  const missing = ranked.flatMap(({ ordinal }) => idOf(ordinal) ?? []).filter((id) => !memories.has(id));
  for (const [id, memory] of await store.readMemories(missing)) memories.set(id, memory);
  // Without those that were deleted while the question was answered.
  const readable = ranked.filter(({ ordinal }) => memories.has(idOf(ordinal) ?? ""));
  // Most notes of the time that the question names have nothing to do with the rest of it.
  const leading = ordered.slice(0, answering).filter((hit) => scoreOf(hit) >= LEAST_OF_ANSWER);
  const isAnswer = new Set(leading.map(({ ordinal }) => ordinal));
  const behind = readable.findIndex(({ ordinal }) => !isAnswer.has(ordinal));
  const relevant = behind < 0 ? readable.length : behind;
  const plausible = plausibleCount(
    readable.map(({ score }) => score),
    relevant,
  );
  const hits = readable.flatMap(({ ordinal, score, shares, path }, place): MemoryHit[] => {
    const memory = memories.get(idOf(ordinal) ?? "");
    if (memory === undefined) return [];
    return [
      {
        memory:
          asOf === undefined
            ? memory
            : { ...memory, superseded: store.catalogue.supersession(ordinal, asOf) ?? null },
        score,
        level: place < relevant ? "answer" : place < plausible ? "perhaps" : "near",
        path: path.flatMap((step) => idOf(step) ?? []),
        ...(snippetChars === undefined
          ? {}
          : { snippet: snippetOf(memory.content, snippetChars, weightOfTerm) }),
        ...(explain ? { explain: shares } : {}),
      },
    ];
  });
  if (input.includeFacts !== true) return { hits, relevant, plausible };
  const { userId, projects } = filter;
  const answers = await answeringFacts(ports, {
    question,
    vector,
    at: asOf ?? momentAsked(timed, presentOf(clock, store.catalogue.facts.latestRecordedAt)),
    minScore: input.minScore ?? 0,
    ...(userId === undefined ? {} : { userId }),
    ...(projects === undefined ? {} : { projects }),
  });
  return { hits, relevant, plausible, facts: answers };
}

/** The last moment of the time that a question names, for facts; the present where it names none, or one that goes on. */
const momentAsked = (timed: TimedQuestion | undefined, present: number): number =>
  timed === undefined || timed.period.to > present ? present : timed.period.to - 1;

/** Ends a time that goes on at now: a memory dated ahead has not happened in "the last 48 hours". */
function untilNow(timed: TimedQuestion, now: number): TimedQuestion {
  const { period, days, isTimeAlone, isComing } = timed;
  if (!isTimeAlone || isComing || period.to !== Infinity) return timed;
  const to = now + 1;
  return { ...timed, period: { ...period, to }, days: { ...days, to: days.from + to - period.from } };
}

type AskedTime = TimedQuestion & { readonly naming: readonly Ordinal[] };

/**
 * The time of a question where any memory happened then or, of one that is or may be to come and where nothing else is asked, names
 * it; undefined where none does. A memory that was given another time of its own only names it.
 */
async function whenAsked(
  store: MemoryPorts["store"],
  filter: MemoryFilter,
  timed: TimedQuestion | undefined,
  now: number,
): Promise<AskedTime | undefined> {
  const then = timed?.isComing === true ? undefined : withMemories(store.catalogue, filter, timed, now);
  if (timed?.isComing !== true && timed?.isTimeAlone !== true) {
    const coming = timed?.mayCome && (await naming(store, filter, timed.mayCome.days));
    const named = coming?.map(({ ordinal }) => ordinal) ?? [];
    if (then !== undefined || named.length === 0) return then && { ...then, naming: named };
    return timed?.mayCome && { ...timed, ...timed.mayCome, isComing: true, naming: named };
  }
  const found = then ?? timed;
  const { from, to } = found.days;
  const longest = Math.max(to - from, DAY_MS);
  const tells = ({ ordinal, date }: Naming) =>
    date.to - date.from <= longest &&
    (timed.isComing || (date.isCertain && store.catalogue.at(ordinal)?.isTimeGiven !== true));
  const named = (await naming(store, filter, found.days)).filter(tells).map(({ ordinal }) => ordinal);
  return then === undefined && named.length === 0 ? undefined : { ...found, naming: named };
}

interface Asked {
  readonly text: string;
  /** The text without its time and without words that ask for a list. */
  readonly topic: string;
  readonly prompt: Prompt | undefined;
  readonly asked: AskedTime | undefined;
  readonly limit: number;
}

/** Answers a question that asks for more than a time: memories that still hold come first, each with how surely it answers. */
async function answersByMeaning(
  ports: MemoryPorts,
  question: Asked,
  filter: MemoryFilter,
  now: number,
  asOf: number | undefined,
): Promise<Answer> {
  const { store } = ports;
  const { text, prompt, asked, limit } = question;
  const isText = prompt === undefined;
  const { found, best, oddsWith, isCommon, ...rest } = await findByMeaning(
    ports,
    question,
    filter,
    now,
    asOf,
  );
  const ids = [...found.slice(0, Math.max(limit, LOOKED_AT)), ...best].flatMap(
    ({ ordinal }) => store.catalogue.idAt(ordinal) ?? [],
  );
  const memories = await store.readMemories(ids);
  const contentOf = (ordinal: Ordinal) => memories.get(store.catalogue.idAt(ordinal) ?? "")?.content ?? "";
  const looked = [...found.slice(0, LOOKED_AT), ...best].map((hit) => ({
    hit,
    content: contentOf(hit.ordinal),
  }));
  const isCheck = checksValue(
    text,
    looked.map(({ content }) => content),
  );
  const another = namingAnother(isText || isCheck ? "" : text, looked);
  const lackOf = lackOfForm(text, {
    isYearNamed: asked === undefined || asked.period.isEmpty === true,
    isCheck,
  });
  const period = asked?.period;
  const { hits, areStates } = currentFirst(
    store,
    isText ? found : denialsFirst(text, anotherBehind(found, another), contentOf),
    memories,
    { question: text, tense: tenseOf(text), asOf, period, lackOf, isCommon },
  );
  const ordered = isText ? hits : withSuccessors(store, hits, { asOf, period });
  const oddsByTerms = oddsWith((a, b) => areStates(a, b) || another.has(b));
  const oddsOf = (hit: RankedHit) =>
    oddsByTerms(hit) - lackOf(contentOf(hit.ordinal)) - (another.has(hit.ordinal) ? NAMES_ANOTHER : 0);
  const [first] = [...(best.some(({ ordinal }) => another.has(ordinal)) ? ordered : []), ...best];
  // How alike two texts are does not depend on what else there is.
  const byOdds = isText || first === undefined ? undefined : scoreByOdds(first, oddsOf);
  // A match by its terms stays one, and what happened when the question says is one.
  const leastScoreOf = ({ ordinal, score }: RankedHit) => {
    const occurredAt = store.catalogue.at(ordinal)?.occurredAt ?? -Infinity;
    return period !== undefined && fit(period, occurredAt) === 1 ? LEAST_SCORE : Math.min(score, LEAST_SCORE);
  };
  return {
    ...rest,
    ordered,
    answering: answeringCount(ordered, oddsOf),
    scoreOf: (hit) => (byOdds === undefined ? hit.score : Math.max(byOdds(hit.score), leastScoreOf(hit))),
    memories,
  };
}

/** Everything that the filter lets through, as far as it may answer, best first. */
async function findByMeaning(
  { store, embedder, frequencies }: MemoryPorts,
  { text, topic, prompt, asked, limit }: Asked,
  filter: MemoryFilter,
  now: number,
  asOf: number | undefined,
) {
  const embedding = await embedder.embedQuestion(
    withoutVowelSigns([topic, prompt?.pointedAt ?? ""].join("\n").trim()),
  );
  const beside = prompt?.pasted.slice(0, READ_OF_PASTE) ?? "";
  const whole =
    beside === "" ? undefined : await embedder.embedQuestion(withoutVowelSigns(`${topic}\n${beside}`));
  const { userId } = filter;
  const selections = new Map<string, Selection>();
  /** Undefined for all memories. Some of the filters of a question are the same. */
  const select = (among: MemoryFilter): Selection | undefined => {
    if (Object.keys(among).length === 0) return undefined;
    const key = JSON.stringify(among);
    const selection = selections.get(key) ?? store.catalogue.select(among);
    selections.set(key, selection);
    return selection;
  };
  // The words of the named user's memories, whatever else filters: else a score would tell which words somebody else wrote.
  const statistics = store.termStatistics(select(userId === undefined ? {} : { userId }));
  const weights = termWeights(statistics, frequencies);
  const question = readQuestion({
    text,
    topic,
    pasted: prompt?.pasted ?? "",
    period: asked?.period,
    periodTerms: asked?.isComing === true ? [] : asked?.terms,
    naming: asked?.naming ?? [],
    words: embedding.words,
    weights,
    profile: embedder.profile,
  });
  // How an answer stands out among all, so that a filter does not change its score.
  const everything: MemoryFilter = {
    ...(userId === undefined ? {} : { userId }),
    ...(asOf === undefined ? {} : { to: asOf + 1 }),
  };
  const preferred = [everything, filter].flatMap((among) =>
    asked === undefined ? [] : (select(within(among, asked.period)) ?? []),
  );
  const among = { whole: select(everything), selection: select(filter), preferred, limit };
  const { candidates, edges, surroundings } = await gatherCandidates(
    store,
    question,
    embedding,
    among,
    whole?.vector,
  );
  const ranked = rank(question, candidates, { now, edges, surroundings });
  const candidateOf = (ordinal: Ordinal) => candidates[surroundings.places.get(ordinal) ?? -1];
  const selected = (ordinal: Ordinal) => {
    const candidate = candidateOf(ordinal);
    return candidate?.isSelected === true ? candidate : undefined;
  };
  const oddsWith = (areStates: (a: Ordinal, b: Ordinal) => boolean) =>
    answerOdds(
      question,
      ranked,
      candidateOf,
      (a, b) => likeness(store.windowsOf(a), store.windowsOf(b)) >= SAYS_THE_SAME || areStates(a, b),
      now,
    );
  return {
    found: ranked.filter(({ ordinal }) => selected(ordinal) !== undefined),
    best: ranked.slice(0, 1),
    oddsWith,
    idOf: (ordinal: Ordinal) => selected(ordinal)?.id,
    weightOfTerm: new Map(question.terms.map(({ term, weight }) => [term, weight])),
    isCommon: weights.isCommon,
    vector: embedding.vector,
  };
}

/** The hit with another score, of which each term has the same part as before; of no terms unless they are explained. */
function rescored(hit: RankedHit, score: number, explain: boolean): RankedHit {
  const factor = hit.score > 0 ? score / hit.score : 0;
  const shares = explain ? Object.entries(hit.shares).map(([term, share]) => [term, share * factor]) : [];
  return { ...hit, score, shares: Object.fromEntries(shares) };
}

/**
 * "What did we decide against?", "Was isst sie nicht?": vectors and tokens hardly tell a statement from its opposite, and
 * the words of denial are stop words. So they are compared here, in the best few only.
 */

/** Words that deny, folded, in any language. */
const DENIAL = fromLanguages((languages) => words(wordsOfAll(languages, "question").denial));
/** The term of a denial where the question has one too. At .15 half as much is gained, at .6 no more. */
const SHARED_DENIAL = 0.4;

/** The hits, best first: of the first few those that deny something gain on the others, where the question does so too. */
export function denialsFirst(
  question: string,
  hits: readonly RankedHit[],
  contentOf: (ordinal: Ordinal) => string | undefined,
): readonly RankedHit[] {
  if (!DENIAL().test(fold(question))) return hits;
  return hits
    .map((hit, place): RankedHit => {
      const content = place < LOOKED_AT ? contentOf(hit.ordinal) : undefined;
      if (content === undefined || !DENIAL().test(fold(content))) return hit;
      const score = scoreOf(sumOf(hit.score) + SHARED_DENIAL);
      return { ...hit, score, shares: { ...hit.shares, denial: score - hit.score } };
    })
    .sort((a, b) => b.score - a.score || b.ordinal - a.ordinal);
}
