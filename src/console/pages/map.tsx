/** Notes and what links them: drawn, or as a list for those who cannot see or point at a drawing. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { MemoryGraph } from "../../client/client.ts";
import { api } from "../api.ts";
import type { PageProps } from "../context.ts";
import { conditionsOf, Filters, isFiltered } from "../filters.tsx";
import { dateOf, short } from "../format.ts";
import { go, hashOf, useLoad, useMedia } from "../hooks.ts";
import { useChanges } from "../live.ts";
import { type Drawing, drawGraph, hasWebGl } from "../map/drawing.ts";
import { Empty, Field, Outcome } from "../parts.tsx";
import { texts } from "../texts.ts";
import { BesideNote } from "./note.tsx";

const MOST_NODES = 5_000;
const MOST_STEPS = 10;
const ROWS = 100;

export function Map({ at }: PageProps) {
  const { around } = at;
  const depth = Math.min(MOST_STEPS, Math.max(1, Number(at["depth"] ?? 1) || 1));
  const conditions = conditionsOf(at);
  const graph = useLoad(
    (signal) => {
      const walk = around === undefined ? {} : { around, depth };
      return api.memories.graph({ ...conditions, ...walk, l: MOST_NODES }, { signal });
    },
    [JSON.stringify(conditions), around, depth],
  );
  useChanges(["memory", "user"], graph.reload);
  const show = (changes: Record<string, string | undefined>) => go(hashOf("map", { ...at, ...changes }));
  return (
    <BesideNote page="map" at={at} onChanged={graph.reload}>
      <Filters page="map" at={at} />
      <Outcome of={graph}>
        {(found) =>
          found.nodes.length === 0 ? (
            <Empty>{isFiltered(at) ? texts.browse.emptyFiltered : texts.browse.empty}</Empty>
          ) : (
            <>
              {around === undefined ? (
                <p class="count" role="status">
                  {texts.map.shown(found.nodes.length, found.edges.length, found.total)}
                </p>
              ) : (
                <p class="count" role="status">
                  {texts.map.around(short(found.nodes[0]?.text ?? "", 60), depth, found.nodes.length)}{" "}
                  <span class="deeds">
                    <button
                      type="button"
                      disabled={depth === MOST_STEPS}
                      onClick={() => show({ depth: String(depth + 1) })}
                    >
                      {texts.map.further}
                    </button>
                    {depth > 1 && (
                      <button type="button" onClick={() => show({ depth: String(depth - 1) })}>
                        {texts.map.nearer}
                      </button>
                    )}
                    <button type="button" onClick={() => show({ around: undefined, depth: undefined })}>
                      {texts.map.all}
                    </button>
                  </span>
                </p>
              )}
              <Views graph={found} at={at} show={show} />
            </>
          )
        }
      </Outcome>
    </BesideNote>
  );
}

interface ViewProps {
  readonly graph: MemoryGraph;
  readonly at: PageProps["at"];
  readonly show: (changes: Record<string, string | undefined>) => void;
}

function Views({ graph, at, show }: ViewProps) {
  const [isDrawable, setDrawable] = useState(hasWebGl);
  const isList = !isDrawable || at["view"] === "list";
  return (
    <>
      {!isDrawable && <p class="problem">{texts.map.noWebGl}</p>}
      {isDrawable && (
        <p class="deeds">
          {(["drawing", "list"] as const).map((view) => (
            <button
              key={view}
              type="button"
              aria-pressed={isList === (view === "list")}
              onClick={() => show({ view: view === "list" ? view : undefined })}
            >
              {texts.map.views[view]}
            </button>
          ))}
        </p>
      )}
      {isList ? (
        <List graph={graph} at={at} />
      ) : (
        <Drawn graph={graph} at={at} show={show} onLost={() => setDrawable(false)} />
      )}
    </>
  );
}

/** Colours of each sector: [on a light ground, on a dark one]. */
const SECTOR_COLOURS: Readonly<Record<string, readonly [string, string]>> = {
  semantic: ["#2f6fb0", "#6fb1f0"],
  episodic: ["#23604f", "#7fc9b1"],
  procedural: ["#9a5b00", "#f0b056"],
  emotional: ["#a8326b", "#f58abb"],
  reflective: ["#6a4fb3", "#b79ef5"],
};
/** From the earliest to the latest. */
const TIME_COLOURS: readonly (readonly [string, string])[] = [
  ["#8a8f93", "#6c7378"],
  ["#6d86a8", "#5b7fb5"],
  ["#4a6fb8", "#58a0d8"],
  ["#3f4fae", "#5fd0d0"],
  ["#35126e", "#d6f27a"],
];

/** Colour by node, and the legend; times in fifths by rank, so that a single old note does not paint all others alike. */
function colouring(nodes: MemoryGraph["nodes"], by: string, shade: 0 | 1) {
  const grey = ["#666", "#999"] as const;
  if (by !== "time") {
    const colourOf = (sector: string) => (SECTOR_COLOURS[sector] ?? grey)[shade];
    return {
      legend: Object.keys(SECTOR_COLOURS).map((sector) => ({ name: sector, colour: colourOf(sector) })),
      colourOf: ({ primary_sector }: MemoryGraph["nodes"][number]) => colourOf(primary_sector),
    };
  }
  const times = nodes.map(({ occurred_at }) => occurred_at).toSorted();
  const starts = TIME_COLOURS.map(
    (_, fifth) => times[Math.floor((fifth * times.length) / TIME_COLOURS.length)] ?? "",
  );
  const colourAt = (fifth: number) => (TIME_COLOURS[fifth] ?? grey)[shade];
  return {
    legend: starts.map((start, fifth) => ({
      name: texts.facts.since(dateOf(start)),
      colour: colourAt(fifth),
    })),
    colourOf: ({ occurred_at }: MemoryGraph["nodes"][number]) =>
      colourAt(starts.findLastIndex((start) => start <= occurred_at)),
  };
}

function Drawn({ graph, at, show, onLost }: ViewProps & { onLost: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing>(undefined);
  const [isSettled, setSettled] = useState(false);
  const isDark = useMedia("(prefers-color-scheme: dark)");
  const latest = useRef({ show, onLost });
  latest.current = { show, onLost };
  const by = at["by"] ?? "sector";
  const { legend, colourOf } = colouring(graph.nodes, by, isDark ? 1 : 0);
  useEffect(() => {
    if (place.current === null) return;
    const drawn = drawGraph(place.current, {
      onPick: (id) => latest.current.show({ id }),
      onGrow: (id) => latest.current.show({ id, around: id, depth: undefined }),
      onSettled: setSettled,
      onLost: () => latest.current.onLost(),
    });
    drawing.current = drawn;
    return () => drawn.remove();
    // Anew in another theme: the colours of text and lines are read once.
  }, [isDark]);
  useEffect(() => drawing.current?.show(graph), [graph, isDark]);
  useEffect(() => drawing.current?.paint(colourOf, at["id"]), [graph, isDark, by, at["id"]]);
  return (
    <>
      <div class="fields">
        <Field label={texts.map.colourBy}>
          <select value={by} onChange={(event) => show({ by: event.currentTarget.value })}>
            {Object.entries(texts.map.colours).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <ul class="terms">
          {legend.map(({ name, colour }) => (
            <li key={name}>
              <i style={{ background: colour }} /> {name}
            </li>
          ))}
        </ul>
      </div>
      <div class="map" aria-busy={!isSettled}>
        <div ref={place} role="img" aria-label={texts.map.drawn(graph.nodes.length)} />
        <span class="deeds">
          {(["in", "out", "whole"] as const).map((direction) => (
            <button key={direction} type="button" onClick={() => drawing.current?.zoom(direction)}>
              {texts.map.zoom[direction]}
            </button>
          ))}
        </span>
      </div>
      <p class="quiet">{texts.map.how}</p>
    </>
  );
}

function List({ graph: { nodes, edges }, at }: Pick<ViewProps, "graph" | "at">) {
  const [shown, setShown] = useState(ROWS);
  const links: Record<string, number> = {};
  for (const end of edges.flatMap(({ source, target }) => [source, target]))
    links[end] = (links[end] ?? 0) + 1;
  return (
    <>
      <p class="quiet">{texts.map.howList}</p>
      <ul class="links">
        {nodes.slice(0, shown).map(({ id, text, occurred_at, primary_sector }) => (
          <li key={id}>
            <a href={hashOf("map", { ...at, id })} aria-current={id === at["id"] ? "true" : undefined}>
              {text}
            </a>{" "}
            <small>
              {dateOf(occurred_at)} · {primary_sector} · {texts.map.links(links[id] ?? 0)} ·{" "}
              <a href={hashOf("map", { ...at, id, around: id, depth: undefined })}>{texts.map.fromHere}</a>
            </small>
          </li>
        ))}
      </ul>
      {shown < nodes.length && (
        <button type="button" onClick={() => setShown(shown + ROWS)}>
          {texts.more}
        </button>
      )}
    </>
  );
}
