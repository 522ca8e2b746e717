/** Markdown as elements: what a text holds of HTML is shown as text, so texts of others can be shown too. */
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";

interface MarkdownProps {
  readonly text: string;
  /** The address of a link to another page or place of the documentation; without it headings have no names. */
  readonly hashOfLink?: (href: string) => string | undefined;
}

export default function Markdown({ text, hashOfLink }: MarkdownProps) {
  const all = (tokens: readonly Token[] = []): ComponentChildren => tokens.map(one);
  const cells = (row: readonly Tokens.TableCell[], Cell: "th" | "td") => (
    <tr>
      {row.map(({ tokens }, index) => (
        <Cell key={index}>{all(tokens)}</Cell>
      ))}
    </tr>
  );
  const link = (href: string, children: ComponentChildren) => {
    const hash = hashOfLink?.(href);
    if (hash !== undefined) return <a href={hash}>{children}</a>;
    return /^https?:/.test(href) ? (
      <a href={href} rel="noreferrer">
        {children}
      </a>
    ) : (
      <>{children}</>
    );
  };
  const one = (some: Token, index: number): ComponentChildren => {
    const token = some as MarkedToken;
    switch (token.type) {
      case "heading": {
        // A part of a document begins anywhere in its outline.
        if (hashOfLink === undefined)
          return (
            <p key={index}>
              <strong>{all(token.tokens)}</strong>
            </p>
          );
        const Heading = `h${token.depth}` as "h1";
        return (
          <Heading key={index} id={slugOf(token.text)}>
            {all(token.tokens)}
          </Heading>
        );
      }
      case "code":
        return (
          <pre key={index} tabIndex={0}>
            <code>{token.text}</code>
          </pre>
        );
      case "list": {
        const List = token.ordered ? "ol" : "ul";
        return (
          <List key={index}>
            {token.items.map((item, place) => (
              <li key={place}>{all(item.tokens)}</li>
            ))}
          </List>
        );
      }
      case "table":
        return (
          <div key={index} class="table" tabIndex={0}>
            <table>
              <thead>{cells(token.header, "th")}</thead>
              <tbody>{token.rows.map((row) => cells(row, "td"))}</tbody>
            </table>
          </div>
        );
      case "link":
        return link(token.href, all(token.tokens));
      case "codespan":
        return <code key={index}>{token.text}</code>;
      case "br":
        return <br key={index} />;
      case "hr":
        return <hr key={index} />;
      case "space":
      case "def":
      case "checkbox":
        return null;
      case "image":
      case "escape":
        return token.text;
      case "text":
        return token.tokens === undefined ? token.text : all(token.tokens);
      case "paragraph":
        return <p key={index}>{all(token.tokens)}</p>;
      case "blockquote":
      case "strong":
      case "em":
      case "del": {
        const Element = token.type;
        return <Element key={index}>{all(token.tokens)}</Element>;
      }
      default:
        return some.raw;
    }
  };
  // A line of an extracted text ends where it ended, as the rows of its tables do.
  return <>{all(lexer(text, { gfm: true, breaks: hashOfLink === undefined }))}</>;
}

/** As the sites that show Markdown name headings. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
