import { describe, expect, it } from "vitest";
import { statementKind, type StatementKind } from "../../../src/core/text/statement-words.ts";

const KINDS: Readonly<Record<StatementKind, readonly string[]>> = {
  preference: [
    "I prefer tabs over spaces.",
    "Always run the linter before you commit.",
    "Ok, and from now on please answer in German.",
    "She wants short answers.",
    "Ich mag keine langen Funktionen.",
    "Je préfère les réponses courtes.",
    "Prefiero las reuniones por la mañana.",
    "Non mi piace usare le classi.",
    "Gosto de testes pequenos e rápidos.",
    "Ik werk liever zonder framework.",
    "Prefer table-driven tests in the Go code.",
    "When you are unsure about the schema, ask instead of guessing.",
    "Run `make check` before pushing, the hook does not cover Go.",
    "Comments in English only, even in the German templates.",
    "Bitte keine Termine vor 9 Uhr, außer montags.",
    "Ich esse kein Fleisch und keinen Koriander.",
    "Antworte mir bitte kurz und ohne Floskeln.",
    "Je ne bois pas de café après 15 heures.",
  ],
  decision: [
    "We decided to go with Postgres.",
    "Let's stick with REST for the public API.",
    "Wir haben uns für LanceDB entschieden.",
    "Nous avons choisi la deuxième offre.",
    "Hemos decidido dejar Jenkins.",
    "Abbiamo deciso di rimandare il lancio.",
    "Decidimos ficar com o plano antigo.",
    "We hebben besloten om te verhuizen.",
    "ADR 12: the mobile app talks to the gateway only, never to services.",
    "Decided to sell the motorbike in spring.",
    "Chose Playwright; Cypress cannot do multiple tabs.",
    "Entschieden: Preise werden in Cent gespeichert, nie als float.",
    "Décision : on garde PostgreSQL.",
  ],
  correction: [
    "No, the port is 8443, not 8080.",
    "Actually, my birthday is in March.",
    "Nein, das ist falsch, die Datenbank liegt in Wien.",
    "En fait, le serveur est à Lyon.",
    "En realidad la reunión es el jueves.",
    "In realtà il file sta in un'altra cartella.",
    "Na verdade, o servidor fica em Lisboa.",
    "Dat klopt niet, de sleutel staat in de kluis.",
  ],
  fact: [
    "My daughter Lena is allergic to peanuts.",
    "Our API runs on port 8443.",
    "I live in Graz with two cats.",
    "She wants a bike for her birthday.",
    "Unser Server steht in Frankfurt.",
    "Ma sœur habite à Nantes.",
    "Mi hermano vive en Sevilla.",
    "Il mio capo si chiama Marco.",
    "A minha filha estuda em Coimbra.",
    "Mijn vrouw werkt in Utrecht.",
  ],
  open: [
    "We still need to migrate the users table.",
    "Remind me to renew the certificate in May.",
    "Wir müssen noch die Tests schreiben.",
    "Il reste à traduire la page d'accueil.",
    "Hay que renovar el dominio en junio.",
    "Dobbiamo ancora scrivere la documentazione.",
    "Ainda temos de pagar a fatura.",
    "Ik moet nog een afspraak maken.",
    "Decide whether we keep the CSV export.",
  ],
  done: [
    "I fixed the login bug by clearing the session cache.",
    "Refactored the gateway's auth middleware, all tests are green.",
    "Die Umstellung der Etiketten ist abgeschlossen.",
    "Zahnarzttermin erledigt, nächste Kontrolle in sechs Monaten.",
    "It turned out the proxy dropped the header.",
    "Wir haben die Datenbank gestern umgestellt.",
    "J'ai corrigé le bug de connexion.",
    "Hemos terminado la migración.",
    "Abbiamo risolto il problema con il certificato.",
    "Terminei o relatório de março.",
    "We hebben de nieuwe versie uitgerold.",
  ],
};

const NONE = [
  "",
  "ok",
  "Thanks, that works great!",
  "Hello there",
  "Can you explain this function to me?",
  "Could you always be so kind",
  "Run the tests again.",
  "Fix the failing test in src/server.ts.",
  "The build is failing again.",
  "This looks good to me.",
  "It works now.",
  "const port = process.env.PORT ?? 8080;",
  "    at Object.<anonymous> (/srv/app/index.js:10:15)",
  "2026-11-21T10:15:00.000Z INFO server started",
  `I prefer ${"very ".repeat(200)}long sentences.`,
];

describe("the kind of a statement", () => {
  it.each(Object.entries(KINDS))("is %s", (kind, sentences) => {
    const found = sentences.map((sentence) => [statementKind(sentence)?.kind, sentence]);
    expect(found).toEqual(sentences.map((sentence) => [kind, sentence]));
  });

  it("is none of a request, a question, a reply, a passing state or code", () => {
    expect(NONE.filter((sentence) => statementKind(sentence) !== undefined)).toEqual([]);
  });

  it("has a score from .5 to 1, higher for what names a thing", () => {
    const plain = statementKind("I prefer short answers.")?.score ?? 0;
    const named = statementKind("I prefer short answers in Slack.")?.score ?? 0;
    expect(plain).toBeGreaterThanOrEqual(0.5);
    expect(named).toBeGreaterThan(plain);
    expect(named).toBeLessThanOrEqual(1);
  });
});
