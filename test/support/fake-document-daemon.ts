import { createHash } from "node:crypto";
import { CliFailure } from "../../src/cli/cli-failure.ts";
import type { DaemonClient } from "../../src/cli/daemon-client.ts";

export interface FakeDocument {
  readonly id: string;
  readonly sha256: string;
  filename: string | null;
  readonly metadata: { readonly path?: string };
}

export interface FakeDocumentDaemon {
  readonly client: DaemonClient;
  /** By id. */
  readonly documents: Map<string, FakeDocument>;
  /** What goes with the last file that was sent, but its name and bytes. */
  lastFields: Readonly<Record<string, string>>;
  /** How many files were sent. */
  sent: number;
  /** Answers the next upload with this status. */
  refuseNext(status: number): void;
  /** While it is false, uploads are not answered. */
  answers: boolean;
}

/** A daemon's client that keeps documents by their bytes, as the daemon does. */
export function createFakeDocumentDaemon(): FakeDocumentDaemon {
  const documents = new Map<string, FakeDocument>();
  let refusal: number | undefined;
  let made = 0;
  const fake: FakeDocumentDaemon = {
    documents,
    lastFields: {},
    sent: 0,
    answers: true,
    refuseNext: (status) => void (refusal = status),
    client: {
      runtime: {
        address: "127.0.0.1",
        port: 0,
        pid: 0,
        instanceId: "fake",
        version: "0",
        startedAt: 0,
        token: "",
      },
      url: "",
      async call(answer, method, path, body) {
        const content: unknown =
          method === "DELETE"
            ? remove(path.slice("/documents/".length))
            : body instanceof FormData
              ? await take(body)
              : path.startsWith("/documents/")
                ? find(path.slice("/documents/".length).replace(/\?.*/, ""))
                : {
                    items: [...documents.values()].map((each) => ({ ...each, user_id: null })),
                    next_cursor: null,
                  };
        if (answer(content)) return content;
        throw new TypeError(`${path} is answered in another form`);
      },
      read: () => {
        throw new TypeError("nothing is read in pieces here");
      },
    },
  };

  async function take(form: FormData) {
    fake.sent += 1;
    const fields = Array.from(form).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : [],
    );
    fake.lastFields = Object.fromEntries(fields);
    if (!fake.answers) throw new CliFailure("memoryd stopped answering.", { cause: new Error("closed") });
    if (refusal !== undefined) {
      const status = refusal;
      refusal = undefined;
      throw new CliFailure(`Refused with ${status}.`, { status });
    }
    const file = form.get("file") as File;
    const sha256 = createHash("sha256")
      .update(Buffer.from(await file.arrayBuffer()))
      .digest("hex");
    const known = [...documents.values()].find((each) => each.sha256 === sha256);
    const document = known ?? {
      id: `document-${(made += 1)}`,
      sha256,
      filename: null,
      metadata: JSON.parse(form.get("metadata") as string) as { path: string },
    };
    document.filename = file.name;
    documents.set(document.id, document);
    return { deduplicated: known !== undefined, memory_ids: ["m"], document };
  }

  function find(id: string) {
    const document = documents.get(id);
    if (document === undefined) throw new CliFailure("There is no document with this id.", { status: 404 });
    return document;
  }

  function remove(id: string) {
    if (!documents.delete(id)) throw new CliFailure("There is no document with this id.", { status: 404 });
    return { deleted: 1 };
  }

  return fake;
}
