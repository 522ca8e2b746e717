import { elementsOf, type HtmlElement, parseHtml, textOf } from "./html-tree.ts";

const OPEN = "<m:oMath";
const CLOSE = "</m:oMath>";
/** Around equations in a paragraph of their own; mammoth drops it with its content. */
const PARAGRAPH_TAGS = /<\/?m:oMathPara(?:\s[^<>]*)?>|<m:oMathParaPr(?:\s[^<>]*)?\/>/g;
const PARAGRAPH_PROPERTIES =
  /<m:oMathParaPr(?:\s[^<>]*)?>(?:<(?!\/?m:oMathParaPr\b)[^<>]*>)*<\/m:oMathParaPr>/g;

/** A part of a Word document in which equations (Office Math) are runs of plain text, since mammoth knows none. */
export function withEquations(part: Uint8Array): Uint8Array {
  const source = new TextDecoder().decode(part);
  if (!source.includes(OPEN)) return part;
  const xml = source.replace(PARAGRAPH_PROPERTIES, "").replace(PARAGRAPH_TAGS, "");
  const pieces: string[] = [];
  let done = 0;
  for (let start = xml.indexOf(OPEN); start >= 0; start = xml.indexOf(OPEN, done)) {
    const end = xml.indexOf(CLOSE, start);
    if (end < 0) break;
    const after = end + CLOSE.length;
    pieces.push(xml.slice(done, start), runOf(xml.slice(start, after)));
    done = after;
  }
  pieces.push(xml.slice(done));
  return new TextEncoder().encode(pieces.join(""));
}

function runOf(equation: string): string {
  const text = lineOf(parseHtml(equation, { isXml: true }).root).trim();
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return escaped === "" ? "" : `<w:r><w:t xml:space="preserve">${escaped}</w:t></w:r>`;
}

/** In one line, such as `(a+b)/2`, `x^2`, `√(y)`. */
function lineOf(element: HtmlElement): string {
  const part = (tag: string) => {
    const found = element.children.find((child) => typeof child !== "string" && child.tag === tag);
    return typeof found === "object" ? lineOf(found) : "";
  };
  switch (element.tag) {
    case "m:t":
      return textOf(element);
    case "m:f":
      return `${grouped(part("m:num"))}/${grouped(part("m:den"))}`;
    case "m:ssup":
      return `${part("m:e")}^${grouped(part("m:sup"))}`;
    case "m:ssub":
      return `${part("m:e")}_${grouped(part("m:sub"))}`;
    case "m:ssubsup":
      return `${part("m:e")}_${grouped(part("m:sub"))}^${grouped(part("m:sup"))}`;
    case "m:rad":
      return `${part("m:deg")}√(${part("m:e")})`;
    case "m:d":
      return `(${childrenOf(element, "m:e").map(lineOf).join(", ")})`;
    case "m:nary": {
      const bound = (mark: string, text: string) => (text === "" ? "" : mark + grouped(text));
      return `${signOf(element)}${bound("_", part("m:sub"))}${bound("^", part("m:sup"))} ${part("m:e")}`;
    }
    case "m:mr":
      return `${childrenOf(element, "m:e").map(lineOf).join(", ")}; `;
    default:
      return element.children.map((child) => (typeof child === "string" ? "" : lineOf(child))).join("");
  }
}

/** In brackets, unless it is one word or number. */
const grouped = (text: string) => (/^[\p{L}\p{N}]*$/u.test(text) ? text : `(${text})`);

function childrenOf(element: HtmlElement, tag: string): HtmlElement[] {
  return element.children.flatMap((child) => (typeof child !== "string" && child.tag === tag ? [child] : []));
}

/** The sign of a sum, product or integral; an integral by default. */
function signOf(element: HtmlElement): string {
  for (const { tag, attributes } of elementsOf(element))
    if (tag === "m:chr") return attributes["m:val"] ?? "∫";
  return "∫";
}
