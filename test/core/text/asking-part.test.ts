import { expect, it } from "vitest";
import { readPrompt } from "../../../src/core/text/asking-part.ts";

const PASTES: Readonly<Record<string, string>> = {
  log: Array.from(
    { length: 6 },
    (_, i) => `2026-11-25T10:00:0${i}Z WARN scheduler: job ${i} took ${i} ms, retrying`,
  ).join("\n"),
  syslog: `Nov 25 10:00:01 host sshd[811]: Failed password for root from 10.0.0.7 port 52214 ssh2
Nov 25 10:00:03 host sshd[811]: Connection closed by authenticating user root`,
  "bracketed log": `[10:00:01] INFO  Starting compilation
[10:00:02] ERROR Could not resolve entry module
[10:00:02] INFO  Stopping`,
  "JavaScript trace": `TypeError: Cannot read properties of undefined (reading 'id')
    at renderRow (/srv/app/src/table.tsx:88:21)
    at Array.map (<anonymous>)
    at Table (/srv/app/src/table.tsx:41:14)

Node.js v22.13.0`,
  "Python trace": `Traceback (most recent call last):
  File "/srv/app/worker.py", line 31, in run
    total = sum(row["amount"] for row in rows)
KeyError: 'amount'`,
  "Java trace": `Exception in thread "main" java.lang.IllegalStateException: pool is closed
	at com.example.Pool.take(Pool.java:55)
	at com.example.Main.main(Main.java:12)
Caused by: java.io.IOException: broken pipe
	... 7 more`,
  "Rust panic": `thread 'main' panicked at src/main.rs:14:10:
called \`Result::unwrap()\` on an \`Err\` value: ParseIntError { kind: InvalidDigit }
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace`,
  diff: `diff --git a/src/pool.ts b/src/pool.ts
index 18ac..77b1 100644
--- a/src/pool.ts
+++ b/src/pool.ts
@@ -12,4 +12,5 @@ export function take() {
   const first = free.shift();
-  if (first === undefined) throw new Error("empty");
+  if (first === undefined) return undefined;
   return first;`,
  JSON: `{
  "id": 4411,
  "status": "failed",
  "steps": [{ "name": "build", "ok": true }, { "name": "push", "ok": false }],
  "finished": null
}`,
  YAML: `services:
  web:
    image: "nginx:1.27"
    ports:
      - "80:80"
    restart: always`,
  code: `export async function load(id: string): Promise<Row | undefined> {
  const row = await db.get(id);
  if (row === undefined) return undefined;
  return { ...row, seen: true };
}`,
  fence: "```\nsome words that were copied from a terminal\nand some more of them\n```",
  shell: `$ npm run build
> app@1.0.0 build
> tsc -p .
npm ERR! code ELIFECYCLE`,
  table: `| name | size | owner |
| ---- | ---- | ----- |
| east | 12 | Ida |
| west | 9 | Omar |`,
  CSV: `id;name;amount;date
1;Meier;12,50;2026-11-03
2;Schulz;8,00;2026-11-04`,
  SQL: `SELECT o.id, o.total FROM orders o
  JOIN customers c ON c.id = o.customer_id
 WHERE o.total > 100 AND c.country = 'NO';`,
  HTTP: `HTTP/1.1 502 Bad Gateway
Date: Tue, 24 Nov 2026 07:44:02 GMT
Content-Type: text/html
Server: nginx

<html><body><h1>502 Bad Gateway</h1></body></html>`,
  mail: `From: Petra Holm <petra@example.org>
To: office
Date: Mon, 23 Nov 2026 16:20:11 +0100
Subject: delivery of the chairs

Dear all,
the chairs arrive on Thursday between eight and ten.
Somebody has to be at the gate.
Best regards, Petra
---`,
  "German mail": `Von: Hausverwaltung Krüger
Gesendet: Montag, 23. November 2026 16:20
An: alle Mieter
Betreff: Ablesung der Zähler

Sehr geehrte Damen und Herren,
die Zähler werden am 3. Dezember zwischen 8 und 11 Uhr abgelesen.
Mit freundlichen Grüßen
---`,
};
const QUESTIONS = [
  "How wide are the tyres of my touring bike?",
  "which port does the staging database listen on",
  "Warum haben wir damals den Pool verkleinert?",
  "Wer kümmert sich um die Zähler im Keller?",
  "Comment redémarrer le serveur de test ?",
  "¿Quién tiene la llave del almacén?",
  "dlaczego wyłączyliśmy pamięć podręczną?",
  "почему мы отключили кэш на сервере?",
  "テストサーバーのポートは何番ですか？",
  "please fix the build like we did for the parser last month",
];
const CASES = Object.entries(PASTES).flatMap(([name, paste]) =>
  QUESTIONS.map((question) => ({ name, paste, question })),
);
const plain = (text: string) => text.replace(/\s+/g, " ").trim();

it.each(["before", "after", "after an empty line", "between"] as const)(
  "finds what is asked %s a paste",
  (where) => {
    const log = PASTES["log"] ?? "";
    const missed = CASES.filter(({ paste, question }) => {
      const text = {
        before: `${question}\n${paste}`,
        after: `${paste}\n${question}`,
        "after an empty line": `${paste}\n\n${question}`,
        between: `${log}\n\n${question}\n\n${paste}`,
      }[where];
      const { asking, pasted } = readPrompt(text);
      return plain(asking) !== plain(question) || pasted === "";
    });
    expect(missed.map(({ name, question }) => `${name}: ${question}`)).toEqual([]);
  },
);

const KEYWORDS = [
  "api port",
  "Mum's telephone number",
  "Spülmaschine E24",
  "regalo per la madre di mia madre",
];

it.each(["before", "after"] as const)("takes a line of keywords %s a paste for a question", (where) => {
  const missed = Object.values(PASTES).flatMap((paste) =>
    KEYWORDS.filter((keywords) => {
      const text = where === "before" ? `${keywords}\n\n${paste}` : `${paste}\n${keywords}`;
      return readPrompt(text).asking !== keywords;
    }).map((keywords) => `${paste.slice(0, 30)}: ${keywords}`),
  );
  expect(missed).toEqual([]);
});

const PROSE: readonly string[] = [
  "Die Sitzung begann um neun Uhr. Herr Adam sprach lange über den Umbau der Halle. Danach ging es um die Kosten der neuen Fenster, ".repeat(
    3,
  ),
  "The ferry was late again. Ana had brought her brother, who sells boats, and we ate soup on the deck until it rained. ".repeat(
    3,
  ),
];
it.each(["before", "after", "between"] as const)(
  "finds a question that stands %s a paragraph of prose",
  (where) => {
    const missed = PROSE.flatMap((prose) =>
      QUESTIONS.filter((question) => /[?？]$/.test(question)).filter((question) => {
        const text = {
          before: `${question}\n\n${prose}`,
          after: `${prose}\n\n${question}`,
          between: `${prose}\n\n${question}\n\n${prose}`,
        }[where];
        const { asking, pasted } = readPrompt(text);
        return asking !== question || pasted === "";
      }),
    );
    expect(missed).toEqual([]);
  },
);

it("reads lines that all have one label whole: they are a list", () => {
  const list = "Q: what is the phone of my dentist?\nQ: when does the lease end?\nQ: what may Otto not eat?";
  expect(readPrompt(list).asking).toBe(list);
});

it("reads a text of two paragraphs that asks nothing, or little beside it, whole", () => {
  for (const text of [
    PROSE.join("\n\n"),
    `Is it far?\n\n${(PROSE[1] ?? "").slice(0, 150)} and so on it went for a while.`,
  ])
    expect(readPrompt(text)).toEqual({ asking: text, pasted: "", pointedAt: "" });
});

it.each([
  "Ida  09:02\nmorning! I looked at the boat\nOmar  09:03\nand? did it float?\nIda  09:05\nno",
  "Ida: I looked at the boat today\nOmar: and? did it float?\nIda: no",
  "Boat: the blue one\nOwner: Ida Berg\nLast inspection: spring 2024\nPlace in the harbour: ",
  "FAILED test/boat.py::test_floats - assert 3 == 4\n1 failed, 211 passed in 38.20s (started 23:54:07)",
  'error: step "float" failed.\n  in the file "/srv/boat.py", line 71, in launch\n    boat.lower("slipway", speed=2, crew=harbour.crew(minimum=3), at=harbour.tide.next_high_water())',
])("finds what is asked beside a chat, a form or a report: %s", (paste) => {
  for (const question of ["who knows that one?", "who repaired the boat?"])
    for (const text of [`${paste}\n${question}`, `${question}\n\n${paste}`])
      expect(readPrompt(text).asking).toBe(question);
});

it("takes no line of code for keywords", () => {
  const paste =
    "0   AVKit   Node::tap(Message) + 188\nthe user unplugged something\n2   lib.dylib  start + 136";
  expect(readPrompt(paste).asking).toBe(paste);
});

it("counts words of scripts without spaces", () => {
  const letter =
    "お客様各位 このたびはご予約ありがとうございます。楽器をお持ちのお客様は、出発の72時間前までにお申し出ください。";
  const paste = `【予約確認】\nご予約番号: QX7R2M\n${letter}`;
  expect(readPrompt(`${paste}\n楽器の件はもう済んでたっけ?`).asking).toBe("楽器の件はもう済んでたっけ?");
});

it("takes the last line of a letter which asks itself, where it asks too", () => {
  const letter =
    "Buongiorno, sono Ida. Il suono della barca è migliorato molto con la nuova elica, grazie. Quando posso passare?\nUn abbraccio\nIda";
  expect(readPrompt(`${letter}\n\nIda`).asking).toContain("Quando posso passare?");
  expect(readPrompt(`Hello all\n\n${letter}\nGrazie\nmay I answer yes?`).asking).toBe("may I answer yes?");
});

it("names the line that a question points to", () => {
  const { asking, pointedAt } = readPrompt(`${PASTES["Python trace"]}\nwhy does this happen again?`);
  expect(asking).toBe("why does this happen again?");
  expect(pointedAt).toBe("KeyError: 'amount'");
  expect(readPrompt(`wat was hier de oorzaak?\n${PASTES["Rust panic"]}`).pointedAt).toContain(
    "ParseIntError",
  );
  expect(readPrompt(`${PASTES["log"]}\nHow wide are the tyres of my touring bike?`).pointedAt).toBe("");
  expect(readPrompt(`${PASTES["diff"]}\nwhy this?`).pointedAt).toContain("first === undefined");
  expect(readPrompt(`${PASTES["log"]}\nWho is on call?`).pointedAt).toBe("");
  for (const asking of ["What have I got on this week?", "Was steht diese Woche im Kalender?"])
    expect(readPrompt(`${PASTES["log"]}\n${asking}`)).toMatchObject({ asking, pointedAt: "" });
  const display = "27.11. 05:12  Betrieb, Kesseltemperatur im Soll\n27.11. 05:40  STÖRUNG F14";
  expect(readPrompt(`${display}\nWas hab ich da wieder gemacht?`).pointedAt).toBe("STÖRUNG F14");
});

it("takes a long passage in quotation marks for pasted", () => {
  const letter = Array.from({ length: 6 }, (_, i) => `The neighbour offered pills number ${i}.`).join(" ");
  for (const quoted of [`"${letter}"`, `“${letter}”`, `«${letter}»`, `„${letter}“`]) {
    expect(readPrompt(`Can I answer yes?\n\n${quoted}`)).toEqual({
      asking: "Can I answer yes?",
      pasted: quoted,
      pointedAt: "",
    });
    expect(readPrompt(`Omar told me ${quoted} and left.`).pasted).toBe("");
  }
});

it.each([
  "How wide are the tyres?",
  "What did Ida say about the roof?\nAnd what did it cost?",
  "I moved the compost to the back of the garden because of the smell, and the bin lost its lid in the storm; where did I put the new one that Omar brought us?",
  "Remember: the gate code is 4711. Who else has it? Ida said that she wrote it down somewhere in the hall, next to the meter, and that Omar knows it as well.",
  "a poem about spring\nin four lines\nwith a rhyme\nfor Ida and Omar",
  'find the note that says "the quick brown fox" and the one with config.yml, src/pool.ts and the ports 8080 and 9000, please, both of them from last week',
])("takes a question as it is where nothing was pasted: %s", (text) => {
  expect(readPrompt(text)).toEqual({ asking: text, pasted: "", pointedAt: "" });
});

it("takes a long text in linear time", () => {
  const text = `${"at a.b(c:1) { x: [1, 2] }\n".repeat(20_000)}what is it?`;
  expect(readPrompt(text).asking).toBe("what is it?");
});
