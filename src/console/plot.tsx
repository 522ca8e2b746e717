/** A plot on a canvas, by uPlot; the same stands in words for those who do not see it. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { countOf } from "./format.ts";
import { useMedia } from "./hooks.ts";

const HEIGHT = 190;
/** Least distance of two labels of the x axis, CSS pixels. */
const LABEL_SPACE = 160;

export interface PlotProps {
  /** The plot in a sentence, for those who do not see it. */
  readonly label: string;
  readonly kind: "line" | "bars";
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly nameOfX: (x: number) => string;
  readonly titles: readonly [x: string, y: string];
}

export default function Plot({ label, kind, x, y, nameOfX, titles }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const isDark = useMedia("(prefers-color-scheme: dark)");
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const { color: stroke, borderColor, caretColor: line } = getComputedStyle(element);
    const axis = { stroke, grid: { stroke: borderColor, width: 1 }, ticks: { show: false } };
    const { bars = () => () => null } = uPlot.paths;
    const filled = { paths: bars({ size: [0.7] }), fill: line, points: { show: false } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        scales: {
          x: { time: false, ...(kind === "bars" && { range: [-0.05, 0.95] }) },
          y: { range: (_, __, most) => [0, most * 1.05] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            space: kind === "bars" ? 40 : LABEL_SPACE,
            values: (_, at) => at.map(nameOfX),
          },
          { ...axis, values: (_, at) => at.map((n) => (Number.isInteger(n) ? countOf(n) : "")) },
        ],
        series: [
          { label: titles[0], value: (_, at: number | null) => (at === null ? "" : nameOfX(at)) },
          { label: titles[1], stroke: line, width: 2, ...(kind === "bars" && filled) },
        ],
      },
      [[...x], [...y]],
      element,
    );
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [isDark, JSON.stringify([x, y])]);
  return <div class="plot" ref={place} role="img" aria-label={label} />;
}
