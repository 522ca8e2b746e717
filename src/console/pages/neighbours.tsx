/** The notes that one is linked to, as a small graph and as a list. */
import type { MemoryGraph } from "../../client/client.ts";
import { dateOf, short } from "../format.ts";
import { texts } from "../texts.ts";

/** With the note itself; more would lie over each other. */
export const MOST_NEIGHBOURS = 13;
const [WIDTH, HEIGHT] = [320, 220];
const LABEL_CHARS = 18;

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
      const [across, down] = index === 0 ? [0, 0] : [WIDTH / 2 - 52, HEIGHT / 2 - 22];
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
              <text x={places.get(id)?.x} y={(places.get(id)?.y ?? 0) - 8}>
                {short(text, LABEL_CHARS)}
              </text>
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
