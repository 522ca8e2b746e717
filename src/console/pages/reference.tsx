/** Every call of the API, from the description that the daemon gives of itself, each to be tried. */
import { useState } from "preact/hooks";
import { MemorydError } from "../../client/client.ts";
import { api, reasonOf } from "../api.ts";
import { useLoad } from "../hooks.ts";
import { Deed, Field, Outcome } from "../parts.tsx";
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
  const description = useLoad(
    (signal) => api.call<Description>({ method: "GET", path: "/openapi.json", options: { signal } }),
    [],
  );
  return (
    <Outcome of={description}>
      {({ paths, components }) => (
        <ul class="reference">
          {Object.entries(paths).flatMap(([path, methods]) =>
            Object.entries(methods).map(([method, operation]) => (
              <li key={`${method} ${path}`}>
                <details>
                  <summary>
                    <code>
                      {method.toUpperCase()} {path}
                    </code>{" "}
                    {operation.summary}
                  </summary>
                  <Call
                    method={method.toUpperCase()}
                    path={path}
                    operation={operation}
                    schemas={components.schemas}
                  />
                </details>
              </li>
            )),
          )}
        </ul>
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

function Call({ method, path, operation, schemas }: CallProps) {
  const { description, parameters = [], requestBody, responses } = operation;
  const bodySchema = requestBody?.content["application/json"]?.schema;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState(() =>
    bodySchema === undefined ? "" : JSON.stringify(exampleOf(bodySchema, schemas), undefined, 2),
  );
  const [answer, setAnswer] = useState<string>();
  const asked = parameters.filter((each) => each.in !== "header");
  const canTry =
    (requestBody === undefined || bodySchema !== undefined) &&
    Object.values(responses).some(({ content = {} }) => "application/json" in content);
  const run = async () => {
    const of = (place: "path" | "query") =>
      asked.flatMap(({ name, in: where }) => (where === place ? [[name, values[name] ?? ""] as const] : []));
    const filled = of("path").reduce(
      (sum, [name, value]) => sum.replace(`{${name}}`, encodeURIComponent(value)),
      path,
    );
    try {
      const said = await api.call<unknown>({
        method: method as "GET",
        path: filled,
        query: Object.fromEntries(of("query").filter(([, value]) => value !== "")),
        ...(body.trim() !== "" && { body: JSON.parse(body) as object }),
      });
      setAnswer(JSON.stringify(said, undefined, 2));
    } catch (error) {
      setAnswer(
        error instanceof MemorydError ? `${error.status} ${error.code}: ${error.detail}` : reasonOf(error),
      );
    }
  };
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      <div class="fields">
        {asked.map(({ name, required = false, description: meaning, schema }) => (
          <Field key={name} label={required ? `${name} *` : name} hint={meaning ?? schema.description ?? ""}>
            <input
              type="text"
              value={values[name] ?? ""}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          </Field>
        ))}
      </div>
      {bodySchema !== undefined && (
        <Field label={texts.docs.body}>
          <textarea
            rows={Math.min(16, body.split("\n").length + 1)}
            spellcheck={false}
            value={body}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        </Field>
      )}
      {canTry ? (
        <Deed run={run} {...(method === "GET" ? {} : { kind: "danger" as const })}>
          {texts.docs.run}
        </Deed>
      ) : (
        <p class="quiet">{texts.docs.notHere}</p>
      )}
      {answer !== undefined && (
        <pre tabIndex={0} role="region" aria-label={texts.docs.answer}>
          {answer}
        </pre>
      )}
    </>
  );
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
