import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { beforeAll, describe, expect, it } from "vitest";
import { MEMORYD_E5 } from "../../../src/models/bundled-models.ts";
import { buildPieceTable } from "../../../src/models/tokenizer/piece-table.ts";
import { readPieceTable, writePieceTable } from "../../../src/models/tokenizer/piece-table-file.ts";
import { sentencePieces } from "../../../src/models/tokenizer/piece-reader.ts";
import type { PieceReader } from "../../../src/models/windows.ts";
import { seededRandom } from "../../support/seeded-random.ts";

const SENTENCES = [
  "The boiler was serviced on 3 March 2026 by Anna; it cost €129.50 (incl. VAT).",
  "Die Heizung wurde am 3. März gewartet, sagt Frau Müller-Lüdenscheidt.",
  "La chaudière a été révisée le 3 mars. Où est la clé de l’appartement ?",
  "¿Dónde está la biblioteca? ¡Mañana lloverá en Málaga!",
  "A caldeira foi revista em março; não há água quente.",
  "La caldaia è stata revisionata: perché non c'è più acqua?",
  "De ketel is op 3 maart nagekeken door mijn zus.",
  "Pannan servades den 3 mars – nyckeln ligger under blomkrukan.",
  "Kocioł był serwisowany 3 marca; żółta łódź stoi w Łodzi.",
  "Kotel byl 3. března opraven, příliš žluťoučký kůň.",
  "A kazánt március 3-án szervizelték, az őszi szél fúj.",
  "Kazan 3 Mart'ta bakıma girdi; İstanbul'da güzel bir gün.",
  "Котёл обслужили 3 марта, ключ лежит под ковриком.",
  "Котел обслужили 3 березня; їжак з'їв яблуко.",
  "Ο λέβητας συντηρήθηκε στις 3 Μαρτίου.",
  "תחזוקת הדוד נעשתה בשלישי במרץ.",
  "تمت صيانة الغلاية في الثالث من مارس؟",
  "دیگ بخار در سوم مارس سرویس شد.",
  "बॉयलर की सर्विस 3 मार्च को हुई थी।",
  "கொதிகலன் மார்ச் 3 அன்று பழுது பார்க்கப்பட்டது.",
  "หม้อน้ำได้รับการซ่อมบำรุงเมื่อวันที่ 3 มีนาคม",
  "Nồi hơi được bảo dưỡng vào ngày 3 tháng 3.",
  "锅炉于三月三日由安娜检修。我昨天在柏林买了一辆自行车。",
  "ボイラーは3月3日に点検されました。鍵は植木鉢の下です。",
  "보일러는 3월 3일에 점검을 받았습니다.",
  "Boilernya diservis pada 3 Maret oleh Budi.",
  "Boiler ilihudumiwa tarehe 3 Machi.",
  "fetch('https://example.com/a?b=c&d=1_000'); // getUserById -> v1.2.3, C++, user@host",
  "🎉🎉 party 👨‍👩‍👧‍👦 at 5 pm!!! …—–“”„«»",
];

let ours: PieceReader;
let theirs: Tokenizer;
let vocabulary: string[];
beforeAll(() => {
  const file = readFileSync(MEMORYD_E5.files.tokenizer.path);
  ours = sentencePieces(buildPieceTable(file));
  const json = JSON.parse(file.toString("utf8")) as { model: { vocab: [string, number][] } };
  vocabulary = json.model.vocab.map(([piece]) => piece);
  theirs = new Tokenizer(
    json,
    JSON.parse(readFileSync(MEMORYD_E5.files.tokenizerConfig.path, "utf8")) as object,
  );
}, 60_000);

const idsOf = (text: string) =>
  Array.from(ours.units(text), ({ pieces }) => pieces.map(({ id }) => id)).flat();
const wordsOf = (text: string) =>
  Array.from(ours.units(text), ({ pieces }) =>
    pieces.filter(({ isWord }) => isWord).map(({ word }) => word),
  ).flat();

describe("sentencePieces", () => {
  it.each(SENTENCES)("reads as the reference does: %s", (sentence) => {
    // Long runs without spaces are cut, which is tested below.
    const text = sentence.replaceAll(/(\S{20})(?=\S)/g, "$1 ");
    expect(idsOf(text)).toEqual(theirs.encode(text, { add_special_tokens: false }).ids);
  });

  it("reads words of all its languages as the reference does", () => {
    const random = seededRandom(7);
    for (let n = 0; n < 3_000; n += 1) {
      const pieces = Array.from({ length: 6 }, () => vocabulary[4 + Math.floor(random() * 249_990)] ?? "");
      const text = pieces.join("").replaceAll("▁", " ").normalize("NFKC").trim();
      // The reference has no character map, and reads single characters that the map drops or replaces.
      if (/[^\p{L}\p{N}\p{P} ]/u.test(text) || /\S{32}/.test(text)) continue;
      expect([text, idsOf(text)]).toEqual([text, theirs.encode(text, { add_special_tokens: false }).ids]);
    }
  });

  it("unifies characters as the model's map does", () => {
    expect(idsOf("ｆｕｌｌ　ｗｉｄｔｈ ①②③ ﬁne cafe\u0301")).toEqual(idsOf("full width 123 fine café"));
    expect(idsOf("zero\u200bwidth")).toEqual(idsOf("zero width"));
    expect(idsOf("bell\u0007s ～")).toEqual(idsOf("bells ～"));
    expect(idsOf("～")).not.toEqual(idsOf("~"));
  });

  it("is not made of a tokenizer with another map", () => {
    const json = JSON.stringify({
      normalizer: { precompiled_charsmap: "AAAA" },
      model: { type: "Unigram", unk_id: 0, vocab: [["a", -1.5]] },
    });
    expect(() => buildPieceTable(Buffer.from(json))).toThrow("in a way that is not known here");
  });

  it("is read from a file that the build wrote, and not from one that is cut, damaged or missing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "memoryd-"));
    try {
      const path = join(folder, "pieces.bin");
      const { tokenizer } = MEMORYD_E5.files;
      await writePieceTable(tokenizer, path);
      const table = (await readPieceTable(tokenizer, path)) as SharedArrayBuffer;
      expect(Buffer.from(table).equals(Buffer.from(buildPieceTable(readFileSync(tokenizer.path))))).toBe(
        true,
      );
      const bytes = readFileSync(path);
      bytes[5_000_000] = (bytes[5_000_000] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      expect(await readPieceTable(tokenizer, path)).toBeUndefined();
      truncateSync(path, 3);
      expect(await readPieceTable(tokenizer, path)).toBeUndefined();
      rmSync(path);
      expect(await readPieceTable(tokenizer, path)).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("lets no text hold a mark of the model's own", () => {
    for (const id of idsOf("</s> <s> <mask> <pad> <unk>")) expect([0, 1, 2, 3, 250_001]).not.toContain(id);
  });

  it("names words without case, accents and punctuation; in scripts without spaces each piece", () => {
    expect([...new Set(wordsOf("Melanie's Töpferei, (v1.2)"))]).toEqual(["melanie", "s", "topferei", "v1.2"]);
    expect(wordsOf("我昨天在柏林")).toEqual(["我", "昨天", "在", "柏林"]);
  });
});
