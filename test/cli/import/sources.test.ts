import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Checked,
  checkItem,
  NAMES_A_USER,
  type Owners,
  type Sendable,
} from "../../../src/cli/import/check-item.ts";
import type { ImportItem, ImportFormat } from "../../../src/cli/import/import-item.ts";
import { ImportReport } from "../../../src/cli/import/import-report.ts";
import { openSource } from "../../../src/cli/import/open-source.ts";
import {
  chatGptConversation,
  claudeConversation,
  mem0History,
  olderService,
} from "../../support/foreign-archives.ts";
import { type ZipPart, zipOf } from "../../support/zip-writer.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-import-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}
const archive = (parts: readonly ZipPart[], entries?: number) => file("a.zip", zipOf(parts, entries));
const conversations = (...all: unknown[]) =>
  archive([{ name: "conversations.json", content: JSON.stringify(all) }]);

async function read(
  path: string,
  {
    format,
    allBranches = false,
    keepUsers = false,
    onlyMine = false,
  }: { format?: ImportFormat; allBranches?: boolean; keepUsers?: boolean; onlyMine?: boolean } = {},
) {
  const source = await openSource(path, format, { allBranches, keepUsers, onlyMine });
  const items: ImportItem[] = [];
  for await (const item of source.items) items.push(item);
  return items;
}
const bodies = (items: readonly ImportItem[]) => items.flatMap((item) => ("body" in item ? [item.body] : []));
const faults = (items: readonly (ImportItem | Checked)[]) =>
  items.flatMap((item) =>
    "kind" in item && item.kind === "faulty" ? [`${item.where}: ${item.reason}`] : [],
  );

describe("an answer of a service that lists its memories", () => {
  it("gives each of them", async () => {
    const results = [
      { id: "x", memory: "Likes leeks.", user_id: "ann", created_at: "2025-05-01T00:00:00Z" },
      5,
    ];
    const items = await read(file("all.json", JSON.stringify({ results })));
    expect(bodies(items)).toEqual([
      {
        content: "Likes leeks.",
        user_id: "ann",
        occurred_at: Date.UTC(2025, 4, 1),
        metadata: { id: "x" },
      },
    ]);
    expect(faults(items)).toEqual(["all.json 1, result 2: is not a JSON object"]);
  });
});

describe("mem0", () => {
  it("gives the memories of its answers with their sessions and categories, and its graph as facts", async () => {
    const results = [
      {
        id: "1",
        memory: "Likes leeks.",
        hash: "x",
        metadata: { kind: "food" },
        created_at: "2025-05-01T02:00:00.123456-07:00",
        updated_at: null,
        run_id: "lunch",
        categories: ["food", "garden"],
      },
    ];
    const relations = [
      { source: "ann", relationship: "likes", target: "leeks" },
      { source: "ann", relationship: "knows", destination: "bob" },
      "nonsense",
    ];
    const items = await read(file("mem0.json", JSON.stringify({ results, relations })));
    expect(bodies(items)).toEqual([
      {
        content: "Likes leeks.",
        metadata: { kind: "food", id: "1", hash: "x" },
        occurred_at: Date.UTC(2025, 4, 1, 9, 0, 0, 123),
        session_id: "lunch",
        tags: ["food", "garden"],
      },
      expect.objectContaining({
        subject: "ann",
        predicate: "likes",
        object: "leeks",
        metadata: { source: "mem0" },
      }),
      expect.objectContaining({ subject: "ann", predicate: "knows", object: "bob" }),
    ]);
    expect(faults(items)).toEqual(["mem0.json 1, relation 3: is no relation"]);
  });

  it("gives what its history ends with, as old as it is", async () => {
    const items = await read(mem0History(folder));
    expect(bodies(items)).toEqual([
      { content: "Likes leeks most.", occurred_at: Date.UTC(2025, 4, 1, 9), metadata: { source: "mem0" } },
      { content: "Back again.", occurred_at: Date.UTC(2025, 4, 3), metadata: { source: "mem0" } },
      {
        content: "Without a time.",
        occurred_at: expect.closeTo(Date.now(), -5) as number,
        metadata: { source: "mem0" },
      },
    ]);
    expect(items.filter(({ kind }) => kind === "skipped")).toMatchObject([
      { where: "memory b", reason: "memories that mem0 deleted" },
    ]);
  });
});

describe("a folder of basic-memory", () => {
  it("gives notes, their observations and links, and their relations as facts", async () => {
    const front = (title: string) =>
      `---\ntitle: ${title}\ntype: note\npermalink: notes/${title.toLowerCase()}\ntags: [drinks]\ncreated: 2025-05-01\n---\n`;
    file(
      "notes/Coffee.md",
      `${front("Coffee")}# Coffee\n\nA drink.\n\n## Observations\n- [method] Pour slowly #brewing\n\n## Relations\n- pairs_with [[Chocolate]]\n`,
    );
    file("notes/Chocolate.md", `${front("Chocolate")}# Chocolate\n\n- [ ] buy some\n`);
    file("notes/Plain.md", "# Plain\n\n- [method] no note of basic-memory\n- pairs_with [[Coffee]]\n");
    const items = await read(join(folder, "notes"));
    expect(items.map(({ kind, where }) => `${kind} ${where}`)).toEqual([
      "memory Chocolate.md",
      "memory Coffee.md",
      "memory Coffee.md, observation 1",
      "memory Plain.md",
      "link Coffee.md",
      "link Plain.md",
      "fact Coffee.md, relation 1",
    ]);
    expect(bodies(items)[1]).toMatchObject({
      content: "# Coffee\n\nA drink.\n\n## Observations\n\n## Relations\n- pairs_with [[Chocolate]]",
      tags: ["drinks"],
      occurred_at: Date.UTC(2025, 4, 1),
    });
    expect(bodies(items)[2]).toMatchObject({
      content: "Coffee: Pour slowly #brewing",
      tags: ["method", "brewing"],
    });
    expect(bodies(items)[3]).toMatchObject({
      content: expect.stringContaining("no note of basic-memory") as string,
    });
  });
});

describe("the times of a table", () => {
  it("are read as they are written, or in the usual forms, and else refused", async () => {
    const path = file("a.csv", "content,date\nx,03.04.2024\ny,2024-04-05\nz,32.01.2024\n");
    const { items } = await openSource(path, undefined, { allBranches: false, dateFormat: "DD.MM.YYYY" });
    const checked: unknown[] = [];
    for await (const item of items) {
      const found = checkItem(item, {});
      checked.push("body" in found ? found.body["occurred_at"] : found.kind);
    }
    expect(checked).toEqual([Date.UTC(2024, 3, 3), Date.UTC(2024, 3, 5), "faulty"]);
  });

  it("that are not understood are named as the file names them, with what to do", async () => {
    const refused = async (path: string, dateFormat?: string) => {
      const { items } = await openSource(path, undefined, { allBranches: false, dateFormat });
      const found: Checked[] = [];
      for await (const item of items) found.push(checkItem(item, {}));
      return faults(found);
    };
    const path = file("a.csv", "text,Date\nx,03.04.2024\n");
    expect(await refused(path)).toEqual([
      expect.stringMatching(
        /^line 2: date must be a date .*; got "03\.04\.2024" \(.* --date-format DD\.MM\.YYYY\)$/,
      ),
    ]);
    expect(await refused(path, "DD/MM/YYYY")).toEqual([
      expect.stringMatching(/got "03\.04\.2024", which --date-format DD\/MM\/YYYY does not fit$/),
    ]);
    const lines = file(
      "a.ndjson",
      '{"text":"x","timestamp":"3 April"}\n{"text":""}\n{"text":"x","categories":[5]}',
    );
    expect(await refused(lines)).toEqual([
      expect.stringMatching(/^line 1: timestamp must be a date .*; got "3 April"$/),
      "line 2: text must not be empty",
      expect.stringMatching(/^line 3: categories\/0 must be/),
    ]);
  });

  it("are of no other format", async () => {
    const path = file("a.json", "[]");
    await expect(
      openSource(path, undefined, { allBranches: false, dateFormat: "DD.MM.YYYY" }),
    ).rejects.toThrow(/--date-format is for CSV/);
  });
});

it("reads a table in the encoding that is named, and says how to name it", async () => {
  const bytes = Buffer.from("content,tags\nCaf\xe9 ferm\xe9 le lundi,caf\xe9\n", "latin1");
  const path = file("a.csv", "");
  writeFileSync(path, bytes);
  const contents = async (encoding?: string) => {
    const found: unknown[] = [];
    for await (const item of (await openSource(path, undefined, { allBranches: false, encoding })).items)
      found.push(item);
    return JSON.stringify(found);
  };
  expect(await contents()).toContain("--encoding windows-1252");
  expect(await contents("windows-1252")).toContain("Café fermé le lundi");
  writeFileSync(path, Buffer.from("content\nCafé\n", "utf16le"));
  expect(await contents("utf-16le")).toContain("Café");
  await expect(openSource(folder, "memoryd", { allBranches: false, encoding: "koi8-r" })).rejects.toThrow(
    /--encoding is for csv/,
  );
});

it("advises an encoding only where one can be named, and reads the notes of a folder that are not UTF-8 in it", async () => {
  const bytes = Buffer.from('[{"uuid":"x","chat_messages":[{"text":"Caf\xe9"}]}]', "latin1");
  const reasons = async (path: string, encoding?: string) => {
    const found: ImportItem[] = [];
    for await (const item of (await openSource(path, undefined, { allBranches: false, encoding })).items)
      found.push(item);
    return found.map((item) => ("reason" in item ? item.reason : JSON.stringify(item)));
  };
  const damaged = [expect.stringMatching(/^is not UTF-8; .*export it again$/)];
  expect(await reasons(archive([{ name: "conversations.json", content: bytes }]))).toEqual(damaged);
  file("chats/conversations.json", bytes);
  expect(await reasons(join(folder, "chats"))).toEqual(damaged);
  file("notes/a.md", Buffer.from("Fermé", "latin1"));
  file("notes/b.md", "Fermé");
  file("notes/c.md", Buffer.from("plain", "utf16le"));
  expect((await reasons(join(folder, "notes")))[0]).toMatch(/^is not UTF-8; name its encoding: --encoding/);
  const recoded = await reasons(join(folder, "notes"), "windows-1252");
  expect(recoded.filter((note) => note.includes("Fermé"))).toHaveLength(2);
  expect((await reasons(join(folder, "notes", "c.md"), "utf-16le"))[0]).toContain("plain");
});

it("is opened when it is read, so that one that cannot be opened is refused", async () => {
  const { items } = await openSource(folder, "memoryd", { allBranches: false });
  await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(items.next()).rejects.toMatchObject({ code: "ENOENT" });
});

describe("a Claude export with attachments", () => {
  it("gives the text that was read from them, and one's own lines alone where asked for", async () => {
    const message = { created_at: "2025-05-01T00:00:00Z", files: [] };
    const chat_messages = [
      {
        ...message,
        uuid: "1",
        sender: "human",
        text: "See this.",
        attachments: [{ file_name: "plan.txt", extracted_content: "Sow in May." }, { file_name: "x.png" }],
      },
      { ...message, uuid: "2", sender: "assistant", text: "Nice.", attachments: [] },
    ];
    const items = await read(conversations({ uuid: "c", name: "Plan", chat_messages }), { onlyMine: true });
    expect(bodies(items)).toEqual([
      {
        content: "Sow in May.",
        tags: ["claude", "attachment"],
        occurred_at: "2025-05-01T00:00:00Z",
        metadata: { source: "claude", filename: "plan.txt" },
      },
      expect.objectContaining({ content: "See this." }),
    ]);
    expect(items.filter(({ kind }) => kind === "skipped")).toHaveLength(2);
  });
});

describe("a ChatGPT export", () => {
  it.each(["conversations.json", "conversations-000.json"])("that was unpacked is read: %s", async (name) => {
    file(name, JSON.stringify([chatGptConversation(1, 1)]));
    file("chat.md", "no conversation");
    expect(await read(folder)).toEqual(
      (await read(conversations(chatGptConversation(1, 1)))).map((item) => ({
        ...item,
        where: item.where.replace("conversations.json", name),
      })),
    );
  });

  it("dates a message without a time by its neighbours, and never by the import", async () => {
    const talk = chatGptConversation(1, 2) as {
      mapping: Record<string, { message: { create_time: unknown } }>;
    };
    const dated = bodies(await read(conversations(talk))) as { occurred_at: number }[];
    const nodes = Object.values(talk.mapping).filter(
      (node) => node.message !== null && node.message !== undefined,
    );
    for (const node of nodes.slice(1)) node.message.create_time = null;
    const bare = bodies(await read(conversations({ ...talk, create_time: null }))) as {
      occurred_at: unknown;
    }[];
    expect(bare).toHaveLength(dated.length);
    for (const { occurred_at } of bare) expect(typeof occurred_at).toBe("number");
  });

  it("gives the messages of the branch that was shown last, with their times", async () => {
    const items = await read(conversations(chatGptConversation(1, 1)));
    expect(bodies(items)).toEqual([
      {
        content: "Question 0 of conversation 1: how deep do I plant garlic?",
        tags: ["chatgpt", "user"],
        session_id: "chatgpt:talk-1",
        occurred_at: Date.UTC(2025, 4, 1) + 1_002_250,
        metadata: {
          source: "chatgpt",
          role: "user",
          conversation_id: "talk-1",
          message_id: "q0",
          title: "Talk 1",
        },
      },
      expect.objectContaining({
        content: "Answer 0 of conversation 1: three centimetres.",
        metadata: expect.objectContaining({ role: "assistant", model: "gpt-x" }),
      }),
      expect.objectContaining({ content: "What grows here? (1)" }),
    ]);
    expect(items.flatMap((item) => (item.kind === "skipped" ? [item.reason] : []))).toEqual([
      "messages of other branches; --all-branches takes them",
      "messages of the system and of tools",
      "messages to tools",
      "images, sound and files in messages",
    ]);
  });

  it("gives custom instructions, saved memories and canvas documents once, and no marks of citations", async () => {
    const message = (content: object, more: object = {}) => ({
      author: { role: "user" },
      create_time: 1_746_057_600,
      content,
      ...more,
    });
    const nodes: readonly (readonly [string, object])[] = [
      [
        "a",
        message({
          content_type: "user_editable_context",
          user_profile: "I grow leeks.",
          user_instructions: "Be brief.",
        }),
      ],
      [
        "b",
        message({
          content_type: "model_editable_context",
          model_set_context: "1. [2025-04-30]. Likes leeks.\n\nx",
        }),
      ],
      [
        "c",
        message(
          {
            content_type: "code",
            text: JSON.stringify({ name: "Plan", type: "document", content: "Sow in May." }),
          },
          { author: { role: "assistant" }, recipient: "canmore.create_textdoc" },
        ),
      ],
      [
        "d",
        message({
          content_type: "text",
          parts: ["Leeks\ue200cite\ue202turn0search1\ue201 are green【3†source】."],
        }),
      ],
      ["e", message({ content_type: "text", parts: ["Yes."] }, { author: { role: "assistant" } })],
    ];
    const mapping = Object.fromEntries(
      nodes.map(([id, message], i) => [
        id,
        {
          id,
          message,
          parent: nodes[i - 1]?.[0] ?? null,
          children: nodes[i + 1] === undefined ? [] : [nodes[i + 1]?.[0]],
        },
      ]),
    );
    const items = await read(conversations({ id: "t", current_node: "e", mapping }), { onlyMine: true });
    expect(bodies(items)).toEqual([
      { content: "I grow leeks.", tags: ["chatgpt", "custom-instructions"], metadata: { source: "chatgpt" } },
      { content: "Be brief.", tags: ["chatgpt", "custom-instructions"], metadata: { source: "chatgpt" } },
      {
        content: "Likes leeks.",
        tags: ["chatgpt", "memory"],
        metadata: { source: "chatgpt" },
        occurred_at: "2025-04-30",
      },
      expect.objectContaining({ content: "Plan\n\nSow in May.", tags: ["chatgpt", "canvas"] }),
      expect.objectContaining({ content: "Leeks are green." }),
    ]);
    expect(items.at(-1)).toMatchObject({ kind: "skipped", reason: "answers (--only-mine)" });
  });

  it("gives discarded answers too where they are asked for", async () => {
    const contents = bodies(await read(conversations(chatGptConversation(1, 1)), { allBranches: true })).map(
      (body) => (body as { content: string }).content,
    );
    expect(contents).toContain("Discarded answer 0 of conversation 1.");
  });

  it("ends in a loop of parents, in nonsense and in nothing", async () => {
    const loop = { a: { parent: "b", message: null }, b: { parent: "a", message: null } };
    const talk = { id: "x", current_node: "a", mapping: loop };
    expect(
      bodies(
        await read(conversations(talk, { mapping: 5 }, { id: "y", mapping: { __proto__: 1 } }, null, 7)),
      ),
    ).toEqual([]);
  });
});

describe("a Claude export", () => {
  it("gives messages, what Claude remembers, and projects", async () => {
    const projects = [
      {
        uuid: "p",
        name: "Orchard",
        description: "About trees",
        docs: [{ filename: "a.txt", content: "Plums." }],
      },
    ];
    const items = await read(
      archive([
        { name: "data/conversations.json", content: JSON.stringify([claudeConversation(1)]) },
        { name: "data/memories.json", content: JSON.stringify([{ conversations_memory: "Keeps bees." }]) },
        { name: "data/projects.json", content: JSON.stringify(projects) },
        { name: "data/users.json", content: "[{}]" },
      ]),
    );
    expect(bodies(items)).toMatchObject([
      { tags: ["claude", "user"], session_id: "claude:claude-1", occurred_at: "2025-06-01T10:00:01.500000Z" },
      { tags: ["claude", "assistant"], content: "The russet keeps longest. (1)" },
      { tags: ["claude", "memory"], content: "Keeps bees." },
      { content: "Orchard\n\nAbout trees" },
      { content: "Plums.", metadata: { filename: "a.txt", title: "Orchard" } },
    ]);
    expect(items.map((item) => checkItem(item, {})).filter((item) => "route" in item)).toHaveLength(5);
  });
});

describe("a hostile archive", () => {
  it("with names that climb is read where it is, and writes nothing", async () => {
    const name = "../../../tmp/conversations.json";
    const path = archive([{ name, content: JSON.stringify([claudeConversation(1)]) }]);
    expect(bodies(await read(path))).toHaveLength(2);
  });

  it.each([
    [
      "says a size that is too large",
      [{ name: "conversations.json", content: "[]", claimedBytes: 0xfffffff0 }],
      undefined,
      /more than 100 times as large/,
    ],
    [
      "would fill the time and the memory of a machine",
      [{ name: "conversations.json", content: Buffer.alloc(64 * 1_024 * 1_024, " ") }],
      undefined,
      /more than 100 times as large \(conversations\.json\)/,
    ],
    [
      "does so with many files",
      Array.from({ length: 6 }, (_, i) => ({
        name: `conversations-00${i}.json`,
        content: Buffer.alloc(8 * 1_024 * 1_024, " "),
      })),
      undefined,
      /more than 100 times as large/,
    ],
    [
      "says a size that is too small",
      [{ name: "conversations.json", content: " ".repeat(9_000), claimedBytes: 10 }],
      undefined,
      /damaged/,
    ],
    [
      "has a million entries",
      [{ name: "conversations.json", content: "[]" }],
      1_000_000,
      /1000000 files; at most 100000/,
    ],
    ["says more entries than it has", [{ name: "conversations.json", content: "[]" }], 500, /damaged/],
    [
      "holds nothing that is read",
      [{ name: "nested.zip", content: zipOf([]) }],
      undefined,
      /no conversations\.json/,
    ],
  ] satisfies readonly (readonly [string, readonly ZipPart[], number | undefined, RegExp])[])(
    "that %s is refused, and the sentence says why",
    async (_name, parts, entries, message) => {
      await expect(read(archive(parts, entries))).rejects.toThrow(message);
    },
  );

  it.skipIf(process.platform === "win32")(
    "of which there is none: a pipe and a device are refused at once",
    async () => {
      execFileSync("mkfifo", [join(folder, "pipe.json")]);
      for (const path of [join(folder, "pipe.json"), "/dev/zero"])
        for (const format of ["json", undefined] as const)
          await expect(openSource(path, format, { allBranches: false })).rejects.toThrow(
            /is a device or a pipe/,
          );
    },
  );

  it("that is cut off is refused", async () => {
    const whole = zipOf([{ name: "conversations.json", content: JSON.stringify([claudeConversation(1)]) }]);
    await expect(read(file("cut.zip", whole.subarray(0, whole.length - 30)))).rejects.toThrow(/damaged/);
  });
});

describe("notes", () => {
  it("become memories with the tags and the date of their front matter", async () => {
    file(
      "notes/2025-01-02 Bees.md",
      "\ufeff---\r\ntitle: Bees\r\ntags: [bees, '#garden']\r\ndate: 2025-01-03\r\nrating: 4\r\n---\r\nThey came back.\r\n",
    );
    file("notes/sub/2025-02-03.md", "Snow.");
    file("notes/.obsidian/x.md", "hidden");
    file("notes/bad.md", "---\na: [\n---\nx");
    file("notes/empty.md", "---\ntags: a\n---\n");
    symlinkSync("/etc/passwd", join(folder, "notes/link.md"));
    const items = await read(join(folder, "notes"));
    expect(bodies(items)).toEqual([
      {
        content: "Bees\n\nThey came back.",
        tags: ["bees", "garden"],
        occurred_at: Date.UTC(2025, 0, 3),
        metadata: { source: "markdown", title: "Bees", path: "2025-01-02 Bees.md", rating: 4 },
      },
      {
        content: "bad\n\n---\na: [\n---\nx",
        tags: [],
        occurred_at: expect.any(Number) as number,
        metadata: { source: "markdown", title: "bad", path: "bad.md" },
      },
      {
        content: "2025-02-03\n\nSnow.",
        tags: [],
        occurred_at: Date.UTC(2025, 1, 3),
        metadata: { source: "markdown", title: "2025-02-03", path: "sub/2025-02-03.md" },
      },
    ]);
    expect(faults(items)).toEqual([]);
  });

  const links = (items: readonly ImportItem[]) =>
    items.flatMap((item) => (item.kind === "link" ? [`${item.where} > ${item.to}`] : []));

  it("are linked as Obsidian links them: the whole path, else beside or below, else the shortest path", async () => {
    const text = "See [[bees]], [[Bees#Queens|them]] and ![[bees]].";
    for (const place of ["home.md", "a/start.md", "a/b/inner.md"]) file(`v/${place}`, text);
    for (const place of ["a/b/Bees.md", "a/b/c/bees.md", "z/bees.md"]) file(`v/${place}`, "x");
    expect(links(await read(join(folder, "v")))).toEqual([
      "a/b/inner.md > a/b/Bees.md",
      "a/start.md > a/b/Bees.md",
      "home.md > z/bees.md",
    ]);
    file("v/BEES.md", "x");
    file(
      "v/a/start.md",
      "[[z/bees]] [[../home]] [[/a/b/c/bees.md]] [b](b/Bees.md#x) [c](<../z/bees.md>) [[./bees]]",
    );
    file(
      "v/z/list.md",
      "| [[home\\|to it]] | `[[start]]` |\n```\n[[start]]\n```\n[[#here]] [[list]] [[nowhere]] [[a/nowhere]]",
    );
    file("v/z/props.md", '---\nup: "[[home]]"\n---\nx');
    expect(links(await read(join(folder, "v")))).toEqual([
      "a/b/inner.md > BEES.md",
      "a/start.md > z/bees.md",
      "a/start.md > home.md",
      "a/start.md > a/b/c/bees.md",
      "a/start.md > a/b/Bees.md",
      "home.md > BEES.md",
      "z/list.md > home.md",
      "z/props.md > home.md",
    ]);
  });

  it("of a vault have the tags of their text too; hostile names and links lead nowhere else", async () => {
    file("v/.obsidian/app.json", "{}");
    file(
      "v/__proto__.md",
      "---\ntags: [a]\n---\n#garden/bed, #2024 #a #b2 x#no `#code` [[constructor]] [[../../../etc/passwd]]",
    );
    file(
      "v/constructor.md",
      "[[__proto__]] [x](%E0%A4%A.md) [[toString]]" + "[[".repeat(40_000) + "](".repeat(40_000),
    );
    file(
      "v/e\u0301te\u0301.md",
      `[[\u00c9T\u00c9|x]] ${Array.from({ length: 90 }, (_, i) => `#t${i}`).join(" ")}`,
    );
    file("v/line\nbreak %2e%2e.md", "[[\u00e9t\u00e9]]");
    const items = await read(join(folder, "v"));
    expect(links(items)).toEqual([
      "__proto__.md > constructor.md",
      "constructor.md > __proto__.md",
      "line\nbreak %2e%2e.md > e\u0301te\u0301.md",
    ]);
    const [first, , third] = bodies(items) as { readonly tags: readonly string[] }[];
    expect(first?.tags).toEqual(["a", "garden/bed", "b2"]);
    expect(third?.tags).toHaveLength(64);
    expect(faults(items.map((item) => checkItem(item, {})))).toEqual([]);
  });

  it("keep whole numbers of their front matter exactly", async () => {
    const text = "---\nid: 1793412345678901234\nsmall: 12\nlist: [9007199254740993]\n---\nx";
    expect(bodies(await read(file("note.md", text)))).toMatchObject([
      { metadata: { id: "1793412345678901234", small: 12, list: ["9007199254740993"] } },
    ]);
  });

  it("whose front matter is a bomb of aliases keep it as text", async () => {
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ..."bcdefghij"
        .split("")
        .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(",")}]`),
    ];
    const text = `---\n${bomb.join("\n")}\n---\nx`;
    expect(bodies(await read(file("note.md", text)))).toMatchObject([
      { content: `note\n\n${text.trim()}`, tags: [] },
    ]);
  });
});

describe("tables and lines", () => {
  const judged = async (path: string, owners: Owners = {}) =>
    (await read(path)).map((item) => checkItem(item, owners));

  it("are checked by the schemas of the wire, and errors name the line", async () => {
    const path = file(
      "a.ndjson",
      [
        { text: "fine", created_at: 1_735_689_600, tags: ["a"] },
        { content: "" },
        { content: "x", user_id: ".." },
        { content: "x", occurred_at: "yesterday" },
        { content: "x", metadata: { a: "\ud800" } },
        { subject: "s", predicate: "p", object: "o", confidence: 2 },
        { subject: "s", predicate: "p", object: "o", valid_from: "2025-01-01" },
        [1],
      ]
        .map((each) => JSON.stringify(each))
        .join("\r\n") + "\n{\n",
    );
    const checked = await judged(path, { keepUsers: true, tag: ["b", "a"], project: "garden" });
    expect(faults(checked)).toEqual([
      "line 2: content must not be empty",
      'line 3: user_id must not be "." or ".." and must not contain control characters',
      expect.stringMatching(/^line 4: occurred_at must be a date/),
      "line 5: metadata must not contain a lone UTF-16 surrogate",
      expect.stringMatching(/^line 6: confidence must/),
      "line 8: is not a JSON object",
      "line 9: is not JSON",
    ]);
    expect(checked.flatMap((item) => ("body" in item ? [item.body] : []))).toEqual([
      { content: "fine", tags: ["a", "b"], project: "garden", occurred_at: Date.UTC(2025, 0, 1) },
      { subject: "s", predicate: "p", object: "o", valid_from: Date.UTC(2025, 0, 1), project: "garden" },
    ]);
  });

  it("keep fields without a meaning here as metadata, exactly", async () => {
    const lines = [
      '{"text":"An owl called.","id":1793412345678901234,"ids":[9007199254740993,-5],"likes":3,"gone":null,"memory":"other"}',
      '{"content":"x","date":"2025-01-02","created_at":"2024-01-02","lang":"en","metadata":{"lang":"de","lang_2":"fr","same":[1]},"same":[1]}',
      '{"subject":"s","predicate":"p","object":"o","origin":"diary","metadata":{"n":12345678901234567890}}',
      `{"content":"y","vector":[${"0.25,".repeat(99)}1],"":1,"__proto__":2,"page":"${"a".repeat(70_000)}","kept":"\\u0022 9007199254740993"}`,
    ];
    const items = await read(file("a.ndjson", lines.join("\n")));
    expect(bodies(items)).toEqual([
      {
        content: "An owl called.",
        metadata: {
          id: "1793412345678901234",
          ids: ["9007199254740993", -5],
          likes: 3,
          memory: "other",
        },
      },
      {
        content: "x",
        occurred_at: Date.UTC(2024, 0, 2),
        metadata: { lang: "de", lang_2: "fr", lang_3: "en", same: [1], date: "2025-01-02" },
      },
      {
        subject: "s",
        predicate: "p",
        object: "o",
        metadata: { n: "12345678901234567890", origin: "diary" },
      },
      { content: "y", metadata: { kept: '" 9007199254740993' } },
    ]);
    const leftOut = items.flatMap((item) => (item.kind === "skipped" ? [item.reason] : []));
    expect(leftOut.map((reason) => /\((.*)\)/.exec(reason)?.[1])).toEqual([
      "vector",
      "",
      "__proto__",
      "page",
    ]);
    const [list] = [await read(file("a.json", `[${lines.join(",")}]`))];
    expect(bodies(list)).toEqual(bodies(items));
  });

  it("keep columns without a meaning here as metadata, under the names that they have", async () => {
    const path = file(
      "a.csv",
      `Content;Rating;Author;Note;Note;confidence;Categories;;embedding\nPears;05;Ilse;a;b;high;fruit, food;0;"[${"0.5,".repeat(99)}1]"\nPlums;;;;;;;;\n`,
    );
    const items = await read(path);
    expect(bodies(items)).toEqual([
      {
        content: "Pears",
        tags: ["fruit", "food"],
        metadata: { Rating: "05", Author: "Ilse", Note: "a", Note_2: "b", confidence: "high" },
      },
      { content: "Plums" },
    ]);
    expect(items.filter(({ kind }) => kind === "skipped")).toHaveLength(2);
  });

  it("whose records name a user are believed only where that is asked for", async () => {
    const path = file("a.csv", '\ufeffcontent,tags,user_id,meta\nx,a;b,ada,"{""k"":1}"\n');
    expect(faults(await judged(path))).toEqual([
      expect.stringContaining("line 2: names a user: add --keep-users"),
    ]);
    expect(await judged(path, { user: "ben" })).toMatchObject([
      { body: { user_id: "ben", tags: ["a", "b"], metadata: { k: 1 } } },
    ]);
    expect(await judged(path, { keepUsers: true })).toMatchObject([{ body: { user_id: "ada" } }]);
  });

  it("may be a JSON array, known by what is in it", async () => {
    const items = await read(file("a.json", JSON.stringify([{ content: "plain" }, claudeConversation(1)])));
    expect(bodies(items)).toHaveLength(3);
  });
});

describe("a database of the older service", () => {
  it("gives memories and facts with their times", async () => {
    const items = await read(olderService(folder));
    expect(bodies(items)).toEqual([
      {
        content: "Ada prunes in March.",
        tags: ["garden"],
        metadata: { bed: 3 },
        user_id: "ada",
        occurred_at: Date.UTC(2024, 2, 1),
        sector: "procedural",
      },
      { content: "The shed is green.", occurred_at: Date.UTC(2024, 2, 2), sector: "semantic" },
      expect.objectContaining({ object: "red", valid_to: Date.UTC(2023, 0, 1), confidence: 0.9 }),
      {
        subject: "shed",
        predicate: "colour",
        object: "green",
        valid_from: Date.UTC(2023, 0, 1),
        confidence: 1,
      },
    ]);
    expect(faults(items)).toEqual(["memory 3: meta must be a JSON object"]);
  });

  it.each(["dev-no-auth", "anonymous", "0123456789abcdef0123456789abcdef"])(
    "gives the memories of its one user %s to nobody, unless users are kept",
    async (user) => {
      const path = olderService(folder, { users: [user] });
      expect(bodies(await read(path)).every((body) => !("user_id" in (body as object)))).toBe(true);
      const kept = bodies(await read(path, { keepUsers: true }));
      expect(kept[0]).toMatchObject({ user_id: user });
    },
  );

  it("keeps several users, and counts memories that were stored empty", async () => {
    const items = await read(olderService(folder, { users: ["anonymous", "bob"], empty: 2 }));
    const checked = items.map((item) => checkItem(item, {}));
    expect(checked.filter((item) => "body" in item && item.body["user_id"] === "bob")).toHaveLength(1);
    expect(checked.filter((item) => "reason" in item && item.reason === NAMES_A_USER)).toEqual([]);
    expect(
      items.filter((item) => item.kind === "skipped").map((item) => "reason" in item && item.reason),
    ).toEqual(["memories that OpenMemory stored empty", "memories that OpenMemory stored empty"]);
  });

  it("that is none is refused", async () => {
    const path = file("x.sqlite", `SQLite format 3\0${"x".repeat(5_000)}`);
    await expect(read(path)).rejects.toThrow(/cannot be read as an SQLite database/);
  });
});

it("says what it cannot tell", async () => {
  await expect(read(file("x.bin", "?"))).rejects.toThrow(/--format/);
  await expect(read(join(folder, "nothing"))).rejects.toThrow(/There is no/);
});

describe("what other programs keep", () => {
  it("of the reference memory server gives facts and notes", async () => {
    const lines = [
      {
        type: "entity",
        name: "Ida",
        entityType: "person",
        observations: ["likes leeks", "Ida lives in Ghent"],
      },
      { type: "relation", from: "Ida", to: "Omar", relationType: "works with" },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    const items = await read(file("memory.jsonl", text));
    expect(items.map(({ kind }) => kind)).toEqual(["fact", "memory", "memory", "fact"]);
    expect(bodies(items)).toMatchObject([
      { subject: "Ida", predicate: "is a", object: "person" },
      { content: "Ida: likes leeks" },
      { content: "Ida lives in Ghent" },
      { subject: "Ida", predicate: "works with", object: "Omar", cardinality: "many" },
    ]);
  });

  it("of Open WebUI gives the branch of a chat that was shown last", async () => {
    const messages = {
      a: { id: "a", parentId: null, role: "user", content: "How deep?", timestamp: 1_700_000_000 },
      b: { id: "b", parentId: "a", role: "assistant", content: "Three centimetres.", timestamp: null },
      c: { id: "c", parentId: "a", role: "assistant", content: "Another answer.", timestamp: 1_700_000_009 },
    };
    const chat = { id: "x", title: "Garlic", chat: { history: { currentId: "b", messages } } };
    expect(bodies(await read(file("chats.json", JSON.stringify([chat]))))).toMatchObject([
      { content: "How deep?", tags: ["open-webui", "user"], occurred_at: 1_700_000_000_000 },
      { content: "Three centimetres.", session_id: "open-webui:x", occurred_at: 1_700_000_000_000 },
    ]);
  });

  it("of an unknown format is named as such, with those that are known", async () => {
    const [fault = ""] = faults(await read(file("x.json", JSON.stringify([{ title: "a", body: "b" }]))));
    expect(fault).toMatch(
      /is of no known format \(exports of memoryd, ChatGPT, Claude, Open WebUI and mem0, memory\.jsonl/,
    );
  });

  it("dates a note without a date by its file", async () => {
    const path = file("note.md", "The compost is ready.");
    const [body] = bodies(await read(path)) as { occurred_at: number }[];
    expect(Math.abs((body?.occurred_at ?? 0) - Date.now())).toBeLessThan(3_600_000);
  });
});

const MAILS = [
  "From MAILER-DAEMON Fri May  2 12:00:00 2025",
  "Date: 02 May 2025 12:00:00 +0200",
  "Subject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA",
  "",
  "not a real message",
  "",
  "From a@example.org Fri May  2 12:00:05 2025",
  "Date: Fri, 2 May 2025 11:00:00 +0200",
  "Subject: Key",
  "",
  "It is with Tom.",
  "",
].join("\r\n");

it("knows a mailbox without a name for it, and the folder that Apple's Mail makes of one", async () => {
  for (const path of [file("Inbox", MAILS), file("Work.mbox/mbox", MAILS).replace(/.mbox$/, "")]) {
    const [own, mail] = await read(path);
    expect(own).toMatchObject({ kind: "skipped" });
    // A mail with a date keeps it, also where its lines end as Windows ends them.
    expect(mail).toMatchObject({
      kind: "mail",
      bytes: Buffer.from(MAILS.split("2025\r\n").slice(-1)[0] ?? ""),
    });
  }
});

it("names the formats that are known where a file is of none", async () => {
  await expect(read(file("chat.txt", "[01.02.24] Bob: the key"))).rejects.toThrow(/Known are .*Claude.*mbox/);
});

describe("a table", () => {
  const rows = "date;content\n2024-03-05;Ключ под ковриком лежит\n2024-03-06;Сосед вернул дрель\n";

  it("is read in UTF-16, and otherwise told what its encoding looks like", async () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(rows, "utf16le")]);
    expect(bodies(await read(file("a.csv", utf16)))).toMatchObject([
      { content: "Ключ под ковриком лежит" },
      { content: "Сосед вернул дрель" },
    ]);
    const koi8 = Buffer.from(
      Array.from(rows, (letter) => (letter < "\x80" ? letter.charCodeAt(0) : (KOI8.get(letter) ?? 0x3f))),
    );
    expect(faults(await read(file("b.csv", koi8)))[0]).toContain("--encoding koi8-r");
    const { items } = await openSource(file("b.csv", koi8), undefined, {
      allBranches: false,
      encoding: "koi8-r",
    });
    expect((await items.next()).value).toMatchObject({ body: { content: "Ключ под ковриком лежит" } });
  });

  it("is refused in an encoding that it does not have, and keeps all characters of windows-1252", async () => {
    const inEncoding = (bytes: Uint8Array, encoding: string) =>
      openSource(file("a.csv", bytes), undefined, { allBranches: false, encoding });
    const price = Buffer.from("content\n\x80 5 \x96 \x93fix\x94\n", "latin1");
    expect((await (await inEncoding(price, "windows-1252")).items.next()).value).toMatchObject({
      body: { content: "€ 5 – “fix”" },
    });
    await expect((await inEncoding(price, "shift_jis")).items.next()).rejects.toThrow(/is not shift_jis/);
  });

  it("may name its separator, use a bar and have empty cells at the end; one without texts is refused once", async () => {
    const texts = async (table: string) =>
      bodies(await read(file("a.csv", table))).map((body) => ("content" in body ? body.content : undefined));
    expect(await texts("sep=;\ncontent;n\nThe ladder, long;1\n")).toEqual(["The ladder, long"]);
    expect(await texts("content|date\nA bar|2024-01-01\n")).toEqual(["A bar"]);
    expect(await texts("content,date\nFirst,,,\n")).toEqual(["First"]);
    expect(faults(await read(file("a.csv", "Name,Phone\nTom,1\nIlse,2\n")))).toEqual([
      expect.stringMatching(/^line 1: names no column content.*its columns are Name, Phone$/),
    ]);
  });
});

/** Cyrillic letters in KOI8-R. */
const KOI8 = new Map(
  Array.from({ length: 64 }, (_, i) => [new TextDecoder("koi8-r").decode(Uint8Array.of(0xc0 + i)), 0xc0 + i]),
);

it("leaves out texts that are mostly data, and pictures in others", () => {
  const check = (content: string) => checkItem({ kind: "memory", where: "a", body: { content } }, {});
  const data = Buffer.alloc(6_000, "memory1").toString("base64");
  expect(check(data)).toMatchObject({ kind: "skipped", reason: expect.stringContaining("base64") });
  expect(check(`The pump is red ![](data:image/png;base64,${data}).`)).toMatchObject({
    body: { content: "The pump is red ![]()." },
    leftOut: expect.stringContaining("pictures"),
  });
  expect(check(`![](data:image/png;base64,${data})`)).toMatchObject({
    kind: "faulty",
    reason: expect.stringContaining("only pictures"),
  });
  const kept = [
    "My QR test: data:text/plain;base64,SGVsbG8gd29ybGQ= is what the phone showed",
    `The key: data:text/plain;base64,${data.slice(0, 1_500)} of the pump. ${"It is red. ".repeat(500)}`,
    `An icon: data:image/gif;base64,${data.slice(0, 900)}`,
  ];
  for (const content of kept) {
    const checked = check(content);
    expect(checked).toMatchObject({ body: { content } });
    expect(checked).not.toHaveProperty("leftOut");
  }
  const time = "2025-05-01T00:00:00Z";
  const line = {
    type: "memory",
    id: "0199a0b0-0000-7000-8000-000000000001",
    content: `Red data:image/png;base64,${data}.`,
    tags: [],
    metadata: {},
    user_id: null,
    project: null,
    session_id: null,
    occurred_at: null,
    primary_sector: "semantic",
    sectors: ["semantic"],
    salience: 0.5,
    source: null,
    version: 1,
    created_at: time,
    updated_at: time,
    last_seen_at: time,
    created_by: null,
  };
  expect(checkItem({ kind: "line", where: "a", body: line }, {})).toMatchObject({ body: line });
  const report = new ImportReport();
  report.found(check(`Red ![](data:image/png;base64,${data}).`) as Sendable);
  expect(report.counts.skipped).toBe(1);
});

it("reads a message of Open WebUI in parts, and without what the model thought before it", async () => {
  const content = [
    { type: "text", text: "How deep?" },
    { type: "image_url", image_url: { url: "x" } },
  ];
  const answer =
    '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>\n80 cm.';
  const messages = [
    { role: "user", content, timestamp: 1 },
    { role: "assistant", content: answer, timestamp: 2 },
  ];
  const items = await read(file("a.json", JSON.stringify([{ id: "c", chat: { messages } }])));
  expect(bodies(items)).toMatchObject([{ content: "How deep?" }, { content: "80 cm." }]);
  expect(items.filter(({ kind }) => kind === "skipped")).toHaveLength(1);
});

it("gives a message of Claude whose time cannot be read that of its neighbour, and reads projects in files of their own", async () => {
  const chat_messages = [
    { uuid: "1", text: "Key?", sender: "human", created_at: "" },
    { uuid: "2", text: "With Tom.", sender: "assistant", created_at: "2025-03-04 05:06" },
  ];
  file("claude/conversations.json", JSON.stringify([{ uuid: "c", name: "K", chat_messages }]));
  file("claude/projects/a-b.json", JSON.stringify({ uuid: "p", name: "Boat", docs: [{ content: "Oak." }] }));
  const at = Date.UTC(2025, 2, 4, 5, 6);
  expect(bodies(await read(join(folder, "claude")))).toMatchObject([
    { content: "Key?", occurred_at: at },
    { content: "With Tom.", occurred_at: at },
    { content: "Oak.", metadata: { claude_project: "p" } },
  ]);
});

it("reads records in an archive, and a folder that a link leads to", async () => {
  const path = archive([
    { name: "export/memory.jsonl", content: '{"type":"entity","name":"Tom","observations":["has a saw"]}' },
    { name: "__MACOSX/export/._memory.jsonl", content: "x" },
  ]);
  expect(bodies(await read(path))).toMatchObject([{ content: "Tom: has a saw" }]);
  await expect(read(archive([{ name: "word/document.xml", content: "<a/>" }]))).rejects.toThrow(
    "memoryd ingest",
  );
  file("vault/a.md", "A note");
  symlinkSync(join(folder, "vault"), join(folder, "link"));
  expect(bodies(await read(join(folder, "link")))).toMatchObject([{ metadata: { path: "a.md" } }]);
});

it("counts the files of a folder that are no notes", async () => {
  file("notes/a.md", "A note");
  file("notes/b.txt", "A text");
  file("notes/img/c.png", "x");
  const items = await read(join(folder, "notes"));
  expect(items.map(({ kind }) => kind)).toEqual(["memory", "skipped", "skipped"]);
});

it("leaves the id that Notion gives a page out of its title", async () => {
  file("notes/Pond ffffffffffffffffffffffffffffffff.md", "80 cm deep.");
  expect(bodies(await read(join(folder, "notes")))).toMatchObject([{ metadata: { title: "Pond" } }]);
});
