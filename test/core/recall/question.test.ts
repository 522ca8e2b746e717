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
  ["notes on running", "running"],
  ["Notizen zur Schule", "Schule"],
  ["notas do mestrado", "mestrado"],
  ["tell me about the boat", "the boat"],
  ["Could you tell me about the boat?", "the boat?"],
  ["what do we know about Ines", "Ines"],
  ["Erzähl mir was über das Boot", "das Boot"],
  ["parle-moi du bateau", "bateau"],
  ["cuéntame del barco", "barco"],
  ["parlami della barca", "barca"],
  ["fala-me do barco", "barco"],
  ["vertel me over de boot", "de boot"],
  ["who did tell me about the boat?", "who did tell me about the boat?"],
  ["where are my notes?", "where are my notes?"],
  ["where did I put my notes on wine?", "where did I put my notes on wine?"],
  ["my notes are in which drawer?", "my notes are in which drawer?"],
  ["who keeps the entries of the raffle?", "who keeps the entries of the raffle?"],
  ["wo liegen meine Notizen?", "wo liegen meine Notizen?"],
  ["who is noted for jokes?", "who is noted for jokes?"],
])("what %s asks for is %s", (question, topic) => {
  expect(withoutListing(question)).toBe(topic);
});
