/** The notes that one is linked to, as a small graph and as a list. */
import type { MemoryGraph } from "../../client/client.ts";
import { dateOf, short } from "../format.ts";
import { texts } from "../texts.ts";

/** With the note itself; more would lie over each other. */
export const MOST_NEIGHBOURS = 13;
const [WIDTH, HEIGHT] = [360, 230];
const LABEL_CHARS = 18;

/** Beside a node on the left or right of the middle; above or below one in it. */
function labelAt(place: { readonly x: number; readonly y: number } | undefined) {
  const { x = 0, y = 0 } = place ?? {};
  const side = Math.round(x - WIDTH / 2);
  if (side === 0) return { x, y: y + (y < HEIGHT / 2 ? -8 : 16), "text-anchor": "middle" as const };
  return side > 0
    ? { x: x + 7, y: y + 3, "text-anchor": "start" as const }
    : { x: x - 7, y: y + 3, "text-anchor": "end" as const };
}

/** @param of around one note, which is the first. */
export function Neighbours({
  of: { nodes, edges },
  hashOfNote,
}: {
  of: MemoryGraph;
  hashOfNote: (id: string) => string;
}) {
  const places = new Map(
    nodes.map(({ id }, index) => {
      const angle = (2 * Math.PI * (index - 1)) / (nodes.length - 1) - Math.PI / 2;
      const [across, down] = index === 0 ? [0, 0] : [WIDTH / 2 - 100, HEIGHT / 2 - 22];
      return [id, { x: WIDTH / 2 + Math.cos(angle) * across, y: HEIGHT / 2 + Math.sin(angle) * down }];
    }),
  );
  const self = nodes[0]?.id;
  const linkOf = (id: string) =>
    edges.find(
      ({ source, target }) => [source, target].includes(id) && [source, target].includes(self ?? ""),
    );
  return (
    <>
      <svg class="neighbours" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        {edges.map(({ source, target, kind, weight }) => (
          <line
            key={`${source} ${target} ${kind}`}
            x1={places.get(source)?.x}
            y1={places.get(source)?.y}
            x2={places.get(target)?.x}
            y2={places.get(target)?.y}
            class={kind}
            stroke-width={0.5 + 2.5 * weight}
          />
        ))}
        {nodes.map(({ id, text }) => (
          <g key={id}>
            <circle
              cx={places.get(id)?.x}
              cy={places.get(id)?.y}
              r={id === self ? 7 : 4}
              class={id === self ? "self" : undefined}
            />
            {id !== self && (
              // Outwards, so that labels side by side do not meet.
              <text {...labelAt(places.get(id))}>{short(text, LABEL_CHARS)}</text>
            )}
          </g>
        ))}
      </svg>
      <ul class="links">
        {nodes.slice(1).map(({ id, text, occurred_at }) => {
          const kind = linkOf(id)?.kind;
          return (
            <li key={id}>
              <a href={hashOfNote(id)}>{text}</a>{" "}
              <small>
                {dateOf(occurred_at)}
                {kind !== undefined && ` · ${texts.note.kinds[kind] ?? kind}`}
              </small>
            </li>
          );
        })}
      </ul>
    </>
  );
}
