/** Texts on which a regular expression may backtrack most, made from its own parts. */

type Node =
  | { readonly kind: "text"; readonly samples: readonly string[] }
  | { readonly kind: "group"; readonly choices: readonly Sequence[] };
type Sequence = readonly { readonly node: Node; readonly isRepeated: boolean }[];

/** Tried against classes; which of them match stands for the class. */
const CHARACTERS = [
  ...Array.from("aA0 \t\n-_.,:;/\\'\"<>()[]{}=+*&%$#@!?|~^`"),
  "é",
  "漢",
  "\u00a0",
  "\u0301",
  "😀",
];
const MAX_SAMPLES = 3;
const MAX_CHOICES = 12;

/** Each is repeated to the length that is asked for, after `prefix` and before `suffix`. */
export interface HostileText {
  readonly prefix: string;
  readonly pump: string;
  readonly suffix: string;
}

export function hostileTexts(source: string, flags: string): HostileText[] {
  const choices = new Parser(source, flags).choices();
  const pumps = new Map<string, Set<string>>();
  const add = (pump: string, prefix: string) => {
    if (pump === "") return;
    const prefixes = pumps.get(pump) ?? new Set([""]);
    if (prefixes.size < 3) prefixes.add(prefix);
    pumps.set(pump, prefixes);
  };
  for (const character of " a0-_.\n\t<\"'/\\=") add(character, "");
  visit(choices, "", add);
  return Array.from(pumps, ([pump, prefixes]) =>
    Array.from(prefixes, (prefix) =>
      ["", "\u0000", " ", "x", "\n"].map((suffix) => ({ prefix, pump, suffix })),
    ),
  ).flat(2);
}

function visit(
  choices: readonly Sequence[],
  before: string,
  add: (pump: string, prefix: string) => void,
): void {
  for (const sequence of choices.slice(0, MAX_CHOICES)) {
    let prefix = before;
    let whole = "";
    for (const { node, isRepeated } of sequence) {
      if (isRepeated) for (const sample of samplesOf(node)) add(sample, prefix);
      if (node.kind === "group") visit(node.choices, prefix, add);
      const [sample = ""] = samplesOf(node);
      prefix += sample;
      whole += sample;
      // The beginning of a match, over and over: each is a place to start from.
      add(whole, before);
    }
  }
}

function samplesOf(node: Node): readonly string[] {
  if (node.kind === "text") return node.samples;
  return node.choices
    .slice(0, MAX_SAMPLES)
    .map((sequence) => sequence.map((part) => samplesOf(part.node)[0] ?? "").join(""));
}

/** Reads as much of the syntax as a sample needs. */
class Parser {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[gy]/g, "");
  }

  choices(): Sequence[] {
    const choices: Sequence[] = [];
    let sequence: { node: Node; isRepeated: boolean }[] = [];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ")") {
      if (this.#source[this.#at] === "|") {
        this.#at += 1;
        choices.push(sequence);
        sequence = [];
        continue;
      }
      const node = this.#atom();
      sequence.push({ node, isRepeated: this.#quantifier() });
    }
    return [...choices, sequence];
  }

  #atom(): Node {
    const rest = this.#source.slice(this.#at);
    const group = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(rest);
    if (group !== null) {
      this.#at += group[0].length;
      const choices = this.choices();
      this.#at += 1;
      return group[0].includes("!") ? text("") : { kind: "group", choices };
    }
    const atom =
      /^\[(?:\\.|[^\]\\])*\]|^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<\w+>|.)|^[^]/u.exec(
        rest,
      )?.[0] ?? "";
    this.#at += atom.length;
    if (/^(?:[\^$]|\\[bBk\d])/.test(atom)) return text("");
    const alone = new RegExp(`^(?:${atom})$`, this.#flags);
    const samples = [...CHARACTERS, ...(atom.length === 1 ? [atom] : [])].filter((each) => alone.test(each));
    const code = /^\\(?:u\{?|x)([\da-fA-F]+)/.exec(atom)?.[1];
    if (samples.length === 0 && code !== undefined)
      return text(String.fromCodePoint(Number.parseInt(code, 16)));
    const first = samples.length > 0 ? samples : anyOf(alone);
    return { kind: "text", samples: spread(first) };
  }

  #quantifier(): boolean {
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at))?.[0] ?? "";
    this.#at += quantifier.length;
    return !/^(?:\?|\{[01](?:,1)?\}|$)/.test(quantifier);
  }
}

function text(sample: string): Node {
  return { kind: "text", samples: [sample] };
}

/** From all over the list: its first ones are often alike. */
function spread(samples: readonly string[]): string[] {
  const step = Math.max(1, Math.floor(samples.length / MAX_SAMPLES));
  return samples.filter((_, index) => index % step === 0).slice(0, MAX_SAMPLES);
}

function anyOf(alone: RegExp): string[] {
  for (let code = 1; code < 0x1_10_00; code += 1) {
    const character = String.fromCodePoint(code);
    if (alone.test(character)) return [character];
  }
  return [""];
}
