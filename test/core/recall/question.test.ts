import { expect, it } from "vitest";
import { withoutListing } from "../../../src/core/recall/question.ts";

it.each([
  ["all notes on Celery", "Celery"],
  ["VAT: all notes", "VAT:"],
  ["everything about Da", "Da"],
  ["all choir notes", "all choir notes"],
  ["alle Notizen zum Kadett", "Kadett"],
  ["Alles über sternkarte", "sternkarte"],
  ["toutes les notes sur la maison", "la maison"],
  ["todas las notas sobre el coche", "el coche"],
  ["tutto sul gatto", "gatto"],
  ["tudo sobre o carro", "o carro"],
  ["alles over klimmen", "klimmen"],
  ["all notes", "all notes"],
  ["who is noted for jokes?", "who is noted for jokes?"],
])("what %s asks for is %s", (question, topic) => {
  expect(withoutListing(question)).toBe(topic);
});
