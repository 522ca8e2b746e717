import { Parser } from "htmlparser2";
import { unprocessable } from "../../core/errors.ts";

/** An element, or a text as a string. */
export interface HtmlElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (HtmlElement | string)[];
}

/** Deeper elements become children of their ancestor at this depth, so that the tree can be walked by recursion. */
const MAX_DEPTH = 256;
/** Only hostile pages are deeper, and the parser's time grows with the square of the depth. */
const MAX_NESTING = 10_000;

export interface HtmlTree {
  readonly root: HtmlElement;
  /** In the source. */
  readonly depth: number;
}

/** The tree of a page or a piece of one, or of XML, where an element may close itself; never deeper than 256. @throws {ServiceError} UNPROCESSABLE above 10 000. */
export function parseHtml(html: string, { isXml = false }: { readonly isXml?: boolean } = {}): HtmlTree {
  const root: HtmlElement = { tag: "#root", attributes: {}, children: [] };
  const open: HtmlElement[] = [root];
  let depth = 0;
  let deepest = 0;
  const top = () => open[open.length - 1] ?? root;

  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        depth += 1;
        if (depth > deepest) deepest = depth;
        if (depth > MAX_NESTING)
          throw unprocessable(`The page nests more than ${MAX_NESTING} elements. It cannot be read.`);
        const element: HtmlElement = { tag, attributes, children: [] };
        top().children.push(element);
        if (depth < MAX_DEPTH) open.push(element);
        // Deeper elements stay leaves; their texts fall to the ancestor, in order.
      },
      ontext(text) {
        top().children.push(text);
      },
      onclosetag() {
        if (depth < MAX_DEPTH) open.pop();
        depth -= 1;
      },
    },
    { decodeEntities: true, lowerCaseTags: true, xmlMode: isXml },
  );
  parser.end(html);
  return { root, depth: deepest };
}

/** The tree of XML; see `parseHtml`. */
export const parseXml = (xml: string): HtmlElement => parseHtml(xml, { isXml: true }).root;

/** The elements below, of that tag if one is given, in document order. */
export function elementsOf(root: HtmlElement, tag?: string): HtmlElement[] {
  const found: HtmlElement[] = [];
  const collect = ({ children }: HtmlElement) => {
    for (const child of children) {
      if (typeof child === "string") continue;
      if (tag === undefined || child.tag === tag) found.push(child);
      collect(child);
    }
  };
  collect(root);
  return found;
}

/** The elements of that tag right below, in document order. */
export const childrenOf = ({ children }: HtmlElement, tag: string): HtmlElement[] =>
  children.flatMap((child) => (typeof child !== "string" && child.tag === tag ? [child] : []));

/** All text below, as it stands in the source. */
export const textOf = ({ children }: HtmlElement): string =>
  children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
