/** Every call of the API, from the description that the daemon gives of itself, each to be tried. */
import { useState } from "preact/hooks";
import { request } from "../api.ts";
import { useLoad } from "../hooks.ts";
import { Deed, Field, Input, Outcome, SearchForm } from "../parts.tsx";
import { texts } from "../texts.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: "path" | "query" | "header";
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export function Reference() {
  const [wanted, setWanted] = useState("");
  const description = useLoad(
    async (signal) => (await (await request("/openapi.json", { signal })).json()) as Description,
    [],
  );
  return (
    <Outcome of={description}>
      {({ paths, components: { schemas } }) => (
        <div>
          <SearchForm label={texts.docs.find} value={wanted} onInput={setWanted} />
          <ul class="reference">
            {Object.entries(paths)
              .flatMap(([path, methods]) =>
                Object.entries(methods).map(([name, operation]) => {
                  const method = name.toUpperCase();
                  return { method, path, operation, name: `${method} ${path}` };
                }),
              )
              .filter(({ name, operation: { summary = "" } }) =>
                `${name} ${summary}`.toLowerCase().includes(wanted.trim().toLowerCase()),
              )
              .map(({ name, ...call }) => (
                <li key={name}>
                  <details>
                    <summary>
                      <code>{name}</code> {call.operation.summary}
                    </summary>
                    <Call {...call} schemas={schemas} />
                  </details>
                </li>
              ))}
          </ul>
        </div>
      )}
    </Outcome>
  );
}

interface CallProps {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly schemas: Description["components"]["schemas"];
}

/** Shown of an answer. */
const MOST_CHARS = 50_000;
/** A stream of events has no end; what comes within this time is shown. */
const STREAMED_MS = 5_000;

function Call({ method, path, operation, schemas }: CallProps) {
  const { description, parameters = [], requestBody, responses } = operation;
  const bodyTypes = Object.keys(requestBody?.content ?? {});
  const bodyType = bodyTypes.find((type) => type === "application/json") ?? bodyTypes[0];
  const schema = requestBody?.content["application/json"]?.schema;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState<string | File>(() =>
    schema === undefined ? "" : JSON.stringify(exampleOf(schema, schemas), undefined, 2),
  );
  const [answer, setAnswer] = useState<string>();
  const text = typeof body === "string" ? body : "";
  const asked = parameters.filter((each) => each.in !== "header");
  const isStream = "text/event-stream" in (responses["200"]?.content ?? {});
  const run = async () => {
    const given = (place: "path" | "query") =>
      asked.flatMap(({ name, in: where }) => {
        const value = values[name] ?? "";
        return where === place && (value !== "" || place === "path") ? [[name, value] as const] : [];
      });
    const filled = given("path").reduce(
      (sum, [name, value]) => sum.replace(`{${name}}`, encodeURIComponent(value)),
      path,
    );
    const query = new URLSearchParams(given("query").map(([name, value]) => [name, value]));
    const response = await request(query.size === 0 ? filled : `${filled}?${query.toString()}`, {
      method,
      ...(isStream && { signal: AbortSignal.timeout(STREAMED_MS) }),
      ...(bodyType !== undefined && { body, headers: { "content-type": bodyType } }),
    });
    const status = `${response.status} ${response.statusText}`;
    await read(response, (text) => setAnswer(`${status}\n${text}`));
  };
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      <div class="fields">
        {asked.map(({ name, required = false, description: meaning, schema: { description: also } }) => (
          <Input
            key={name}
            label={required ? `${name} *` : name}
            hint={meaning ?? also ?? ""}
            value={values[name] ?? ""}
            onInput={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
      </div>
      {bodyType !== undefined && (
        <Field label={texts.docs.body} hint={bodyType}>
          {bodyType === "application/octet-stream" ? (
            <input type="file" onChange={(event) => setBody(event.currentTarget.files?.[0] ?? "")} />
          ) : (
            <textarea
              rows={Math.min(16, text.split("\n").length + 1)}
              spellcheck={false}
              value={text}
              onInput={(event) => setBody(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      <Deed run={run} {...(method === "GET" ? {} : { kind: "danger" as const })}>
        {texts.docs.run}
      </Deed>
      {answer !== undefined && (
        <pre tabIndex={0} role="region" aria-label={texts.docs.answer}>
          {answer}
        </pre>
      )}
    </>
  );
}

/** Shows what has come so far, until it ends, its time is over or it is long; JSON in lines of its own. */
async function read({ body }: Response, show: (text: string) => void): Promise<void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  show(text);
  try {
    for (let isOver = false; !isOver && text.length < MOST_CHARS;) {
      const part = await reader?.read();
      isOver = part?.done !== false;
      text += part?.value ?? "";
      show(text);
    }
    show(JSON.stringify(JSON.parse(text), undefined, 2));
  } catch (error) {
    if (!(error instanceof SyntaxError) && (error as Error).name !== "TimeoutError") throw error;
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

/** Deep enough for a batch of facts; schemas that name themselves end there too. */
const MOST_LEVELS = 5;

/** A body with its required fields, by the examples that the description gives. */
function exampleOf(schema: Schema, schemas: CallProps["schemas"], level = 0): unknown {
  const named = schema.$ref === undefined ? undefined : schemas[schema.$ref.split("/").at(-1) ?? ""];
  if (named !== undefined) return exampleOf(named, schemas, level);
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.enum !== undefined) return schema.enum[0];
  const type = [schema.type].flat()[0];
  if (level > MOST_LEVELS) return null;
  if (type === "array")
    return schema.items === undefined ? [] : [exampleOf(schema.items, schemas, level + 1)];
  if (type === "object") {
    const { properties = {}, required = [] } = schema;
    return Object.fromEntries(
      required.map((name) => [name, exampleOf(properties[name] ?? {}, schemas, level + 1)]),
    );
  }
  return schema.default ?? (type === "string" ? "" : type === "number" || type === "integer" ? 0 : null);
}
