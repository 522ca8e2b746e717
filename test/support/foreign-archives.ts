/** Archives as other programs make them, generated: nobody's conversations. */
import { join } from "node:path";
import sqlite from "node-sqlite3-wasm";

const SECONDS = Date.UTC(2025, 4, 1) / 1_000;

/** A conversation of ChatGPT's with a system message, an answer given twice, a picture and a tool. */
export function chatGptConversation(n: number, turns = 2): object {
  const mapping: Record<string, object> = {
    root: { id: "root", message: null, parent: null, children: ["system"] },
  };
  const add = (id: string, parent: string, message: object): void => {
    mapping[id] = {
      id,
      parent,
      children: [],
      message: { id, create_time: SECONDS + n * 1_000 + Object.keys(mapping).length + 0.25, ...message },
    };
  };
  const say = (role: string, text: string, more: object = {}) => ({
    author: { role },
    content: { content_type: "text", parts: [text] },
    recipient: "all",
    ...more,
  });
  add("system", "root", say("system", ""));
  let last = "system";
  for (let turn = 0; turn < turns; turn += 1) {
    add(`q${turn}`, last, say("user", `Question ${turn} of conversation ${n}: how deep do I plant garlic?`));
    add(`x${turn}`, `q${turn}`, say("assistant", `Discarded answer ${turn} of conversation ${n}.`));
    add(`t${turn}`, `q${turn}`, say("assistant", "search('garlic')", { recipient: "browser" }));
    add(
      `a${turn}`,
      `t${turn}`,
      say("assistant", `Answer ${turn} of conversation ${n}: three centimetres.`, {
        metadata: { model_slug: "gpt-x" },
      }),
    );
    last = `a${turn}`;
  }
  add("picture", last, {
    author: { role: "user" },
    content: {
      content_type: "multimodal_text",
      parts: [{ asset_pointer: "file://x" }, `What grows here? (${n})`],
    },
  });
  return { title: `Talk ${n}`, id: `talk-${n}`, create_time: SECONDS, current_node: "picture", mapping };
}

export function claudeConversation(n: number): object {
  const message = (uuid: string, sender: string, text: string, second: number) => ({
    uuid,
    sender,
    text,
    content: [{ type: "text", text }],
    created_at: `2025-06-01T10:00:0${second}.500000Z`,
    attachments: [],
    files: [],
  });
  return {
    uuid: `claude-${n}`,
    name: `Chat ${n}`,
    created_at: "2025-06-01T10:00:00.000000Z",
    chat_messages: [
      message("m1", "human", `Which apple keeps longest? (${n})`, 1),
      message("m2", "assistant", `The russet keeps longest. (${n})`, 2),
      message("m3", "human", "", 3),
    ],
  };
}

/** A database of OpenMemory's, with the write-ahead log that it leaves behind. */
export function olderService(
  folder: string,
  { users = ["ada"], empty = 0 }: { readonly users?: readonly string[]; readonly empty?: number } = {},
): string {
  const path = join(folder, "openmemory.sqlite");
  const database = new sqlite.Database(path);
  database.exec(`
    create table memories(id text primary key,user_id text,segment integer default 0,content text not null,simhash text,
      primary_sector text not null,tags text,meta text,created_at integer,updated_at integer,last_seen_at integer,
      salience real,decay_lambda real,version integer default 1,mean_dim integer,mean_vec blob,compressed_vec blob,
      feedback_score real default 0);
    create table temporal_facts(id text primary key,subject text not null,predicate text not null,object text not null,
      valid_from integer not null,valid_to integer,confidence real not null,last_updated integer not null,metadata text,
      unique(subject,predicate,object,valid_from));`);
  const memory =
    "insert into memories(id,user_id,content,primary_sector,tags,meta,created_at) values(?,?,?,?,?,?,?)";
  database.run(memory, [
    "1",
    users[0] ?? null,
    "Ada prunes in March.",
    "procedural",
    '["garden"]',
    '{"bed":3}',
    Date.UTC(2024, 2, 1),
  ]);
  database.run(memory, ["2", null, "The shed is green.", "semantic", null, null, Date.UTC(2024, 2, 2)]);
  database.run(memory, ["3", null, "Bad meta.", "semantic", null, "{", 5]);
  for (const [i, user] of users.slice(1).entries())
    database.run(memory, [`u${i}`, user, `A note of ${user}.`, "semantic", null, null, 7]);
  for (let i = 0; i < empty; i += 1)
    database.run(memory, [`e${i}`, null, i === 0 ? "" : " \n", "semantic", null, null, 8]);
  const fact =
    "insert into temporal_facts(id,subject,predicate,object,valid_from,valid_to,confidence,last_updated) values(?,?,?,?,?,?,?,?)";
  database.run(fact, ["f1", "shed", "colour", "red", Date.UTC(2020, 0, 1), Date.UTC(2023, 0, 1), 0.9, 0]);
  database.run(fact, ["f2", "shed", "colour", "green", Date.UTC(2023, 0, 1), null, 1, 0]);
  database.close();
  return path;
}

/** A history of mem0 as its library makes it: changed, deleted, deleted and added again, and without a time. */
export function mem0History(folder: string): string {
  const path = join(folder, "history.db");
  const database = new sqlite.Database(path);
  database.exec(`
    create table history(id text primary key, memory_id text, old_memory text, new_memory text, event text,
      created_at datetime, updated_at datetime, is_deleted integer, actor_id text, role text);
    create table messages(id text primary key, session_scope text, role text, content text, name text, created_at datetime);`);
  const rows = [
    ["a", null, "Likes leeks.", "ADD", "2025-05-01T02:00:00-07:00", null],
    ["b", null, "Wrong.", "ADD", "2025-05-02T00:00:00+00:00", null],
    [
      "a",
      "Likes leeks.",
      "Likes leeks most.",
      "UPDATE",
      "2025-05-01T02:00:00-07:00",
      "2025-06-01T00:00:00+00:00",
    ],
    ["b", "Wrong.", null, "DELETE", "2025-05-02T00:00:00+00:00", "2025-06-02T00:00:00+00:00"],
    ["c", null, "Here.", "ADD", "2025-05-03T00:00:00+00:00", null],
    ["c", "Here.", null, "DELETE", null, null],
    ["c", null, "Back again.", "ADD", "2025-07-03T00:00:00+00:00", null],
    ["d", null, "Without a time.", "ADD", null, null],
  ];
  for (const [i, row] of rows.entries())
    database.run(
      "insert into history(id, memory_id, old_memory, new_memory, event, created_at, updated_at) values(?,?,?,?,?,?,?)",
      [String(i), ...row],
    );
  database.close();
  return path;
}
