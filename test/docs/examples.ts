/** The examples of a page: what is typed, and the answer that the page shows. */

export interface Example {
  /** What is typed into a shell. */
  readonly script: string;
  /** The answer as it is shown; undefined where none is. */
  readonly shown: Shown | undefined;
  /** Of the script, from 1. */
  readonly line: number;
}

export interface Shown {
  /** JSON with "…" where something is left out, or lines of a terminal. */
  readonly kind: "json" | "text";
  readonly text: string;
  /** Where `text` is in the page, in characters. */
  readonly start: number;
}

const BLOCK = /^```(\w*)\n([\s\S]*?)^```$/gm;
/** Languages that answers are marked with: JSON with gaps is no JSON, but still reads as JavaScript. */
const ANSWERS: Readonly<Record<string, Shown["kind"]>> = { js: "json", text: "text" };

/** The shell examples of a page, in order, each with the answer that follows it before the next one. */
export function readExamples(markdown: string): Example[] {
  const examples: Example[] = [];
  for (const match of markdown.matchAll(BLOCK)) {
    const [block, language = "", text = ""] = match;
    const kind = ANSWERS[language];
    const last = examples.at(-1);
    if (language === "sh") {
      const line = markdown.slice(0, match.index).split("\n").length + 1;
      examples.push({ script: text, shown: undefined, line });
    } else if (kind !== undefined && last?.shown === undefined && last !== undefined) {
      const start = match.index + block.indexOf("\n") + 1;
      examples[examples.length - 1] = { ...last, shown: { kind, text, start } };
    }
  }
  return examples;
}

/** Whether an example talks to a daemon; the others install, build or test, which other tests do. */
export function isRun({ script }: Example): boolean {
  return /^(?:.*\|)? *(?:curl|memoryd|ID=)/m.test(script);
}
