/** A year of days as a calendar of squares, darker where there is more. */
import type { MemoryCounts } from "../../client/client.ts";
import { dateOf, fieldDateOf, monthOf } from "../format.ts";
import { go } from "../hooks.ts";
import { texts } from "../texts.ts";

const WEEKS = 53;
const SQUARE = 13;
const DAY_MS = 86_400_000;
const SHADES = 4;
/** For the names of the months. */
const TOP = 16;

export function Activity({
  label,
  days,
  hashOfDay,
}: {
  label: string;
  days: MemoryCounts["items"];
  hashOfDay: (day: string) => string;
}) {
  const counts = new Map(days.map(({ key, count }) => [key, count]));
  const most = Math.max(1, ...counts.values());
  const today = new Date();
  // Noon, so that a change of the clocks is no other day.
  const lastNoon = new Date(today.getFullYear(), today.getMonth(), today.getDate(), 12).getTime();
  const weekday = (today.getDay() + 6) % 7;
  const squares = Array.from({ length: (WEEKS - 1) * 7 + weekday + 1 }, (_, index) => {
    const at = lastNoon - ((WEEKS - 1) * 7 + weekday - index) * DAY_MS;
    const day = fieldDateOf(at);
    const count = counts.get(day) ?? 0;
    return { at, day, count, x: Math.floor(index / 7) * SQUARE, y: TOP + (index % 7) * SQUARE };
  });
  return (
    <div class="scrolled" tabIndex={0} role="group" aria-label={label}>
      <svg class="activity" width={WEEKS * SQUARE} height={TOP + 7 * SQUARE} role="img" aria-label={label}>
        {squares.map(
          ({ at, day, x, y }) =>
            // The week that the month begins in.
            y === TOP &&
            x < (WEEKS - 1) * SQUARE &&
            Number(day.slice(-2)) <= 7 && (
              <text key={day} x={x} y={11}>
                {monthOf(at)}
              </text>
            ),
        )}
        {/* For the mouse; without one the filters lead to the same. */}
        {squares.map(({ at, day, count, x, y }) => (
          <rect
            key={day}
            x={x}
            y={y}
            width={SQUARE - 2}
            height={SQUARE - 2}
            rx={2}
            class={`shade-${count === 0 ? 0 : Math.ceil((count / most) * SHADES)}`}
            onClick={() => count > 0 && go(hashOfDay(day))}
          >
            <title>{`${dateOf(at)}: ${texts.notes.total(count)}`}</title>
          </rect>
        ))}
      </svg>
    </div>
  );
}
