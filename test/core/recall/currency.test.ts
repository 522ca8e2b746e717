import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { changeBetween, tellingTerms } from "../../../src/core/memories/infer-updates.ts";
import type { MemoryStore } from "../../../src/core/ports.ts";
import { currentFirst } from "../../../src/core/recall/currency.ts";
import { tenseOf } from "../../../src/core/recall/tense.ts";
import { lackOfForm } from "../../../src/core/recall/relevance.ts";
import type { RankedHit } from "../../../src/core/recall/ranking.ts";
import { queryMemory } from "../../../src/core/recall/query-memory.ts";
import { changeWords, isStanding } from "../../../src/core/text/change-words.ts";
import type { Period } from "../../../src/core/text/time-periods.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
beforeEach(() => {
  world = createMemoryWorld();
});

const DAY_MS = 86_400_000;
const add = async (content: string, day: number, supersedes: readonly string[] = []) =>
  (await addMemory(world.ports, { content, occurredAt: world.now + (day - 100) * DAY_MS, supersedes })).memory
    .id;
const ask = async (query: string, asOfDay?: number) => {
  const asOf = asOfDay === undefined ? {} : { asOf: world.now + (asOfDay - 100) * DAY_MS };
  const { hits } = await queryMemory(world.ports, { query, limit: 8, filter: {}, ...asOf });
  return hits;
};

describe("a question about what changed", () => {
  it("finds what holds first, and marks what does not", async () => {
    const paris = await add("Ada lives in Paris, in the old town", 1);
    const rome = await add("Ada lives somewhere else", 2, [paris]);
    const hits = await ask("Ada lives in Paris in the old town?");
    expect(hits.map(({ memory }) => memory.id)).toEqual([rome, paris]);
    expect(hits[1]?.memory.superseded).toMatchObject({ by: rome, how: "told" });
    expect(hits[0]?.score).toBeGreaterThan(hits[1]?.score ?? 1);
  });

  it("finds what perhaps replaced it, right behind, though that has no word of the question", async () => {
    const gym = await add("Has a membership at the climbing gym Blok Gent", 1);
    const gone = await add("Cancelled the membership at Blok Gent", 60);
    for (let note = 1; note < 30; note += 1) await add(`Climbing shoes, pair ${note}, for the gym`, 90);
    await world.followUps.flush();
    const question = "am I still going to the climbing gym?";
    const places = (await ask(question)).map(({ memory }) => memory.id);
    expect(places[places.indexOf(gym) + 1]).toBe(gone);
  });

  it("finds what held before first, where it asks for that", async () => {
    const paris = await add("Ada lives in Paris", 1);
    const rome = await add("Ada lives in Rome, in Rome", 2, [paris]);
    const [first] = await ask("Where in Rome did Ada live before?");
    expect(first?.memory.id).toBe(paris);
    expect((await ask("Where in Rome does Ada live?"))[0]?.memory.id).toBe(rome);
  });

  it("is not answered by a later note that says the same of another person or thing", async () => {
    for (const [earlier, later, question, changed] of [
      [
        "Anna's shoe size is 38.",
        "Ben's shoe size is 43.",
        "what is Anna's shoe size?",
        "Anna's shoe size is 39.",
      ],
      [
        "The flight to Rome leaves at 7:10 from gate B12.",
        "The flight to Paris leaves at 9:40 from gate C3.",
        "when does the flight to Rome leave?",
        "The flight to Rome leaves at 8:20 now.",
      ],
      [
        "Mias Schuhgröße ist 28.",
        "Leos Schuhgröße ist 33.",
        "Welche Schuhgröße hat Mia?",
        "Mias Schuhgröße ist 29.",
      ],
    ] as const) {
      world = createMemoryWorld();
      const first = await add(earlier, 1);
      await add(later, 60);
      expect((await ask(question))[0]?.memory.id).toBe(first);
      const now = await add(changed, 90);
      expect((await ask(question))[0]?.memory.id).toBe(now);
    }
  });

  it("is not answered by a later note on somebody of nearly the same name", async () => {
    const jansen = await add("Mr. Jansen: phone 0175 619 3040, shoe size 43, duty boots.", 1);
    const janssen = await add("Ms. Janssen: phone 0160 322 8814, shoe size 38, wants clogs.", 60);
    expect((await ask("Jansen shoe size phone"))[0]?.memory.id).toBe(jansen);
    expect((await ask("Janssen shoe size phone"))[0]?.memory.id).toBe(janssen);
  });

  it("is answered by the later value where it checks the earlier one", async () => {
    await add("The gate code is 4417", 1);
    const now = await add("The gate code was changed to 4471", 60);
    expect((await ask("Does the gate code 4417 still work?"))[0]?.memory.id).toBe(now);
    expect((await ask("gate code 4417"))[0]?.memory.id).not.toBe(now);
  });

  it("is answered by the thing that it names, though it asks whether something still holds", async () => {
    const ids: string[] = [];
    for (const room of [214, 215, 216])
      ids.push(await add(`Room ${room} has a broken heater`, ids.length * 30));
    expect((await ask("Is the heater in room 214 still broken?"))[0]?.memory.id).toBe(ids[0]);
  });

  it("of the state at a past time is answered by what was there by then", async () => {
    const day = 86_400_000;
    const on = (ago: number, content: string) =>
      addMemory(world.ports, { content, occurredAt: world.now - ago * day });
    const { memory: first } = await on(300, "Priyanka owns the checkout service");
    const { memory: second } = await on(200, "Wen owns the checkout service now");
    await on(100, "Wen takes care of the calendar");
    await on(20, "Ines owns the checkout service now");
    const { memory: lunch } = await on(101, "Lunch with Priyanka");
    const month = (ago: number) =>
      new Date(world.now - ago * day).toLocaleString("en", {
        month: "long",
        year: "numeric",
        timeZone: "UTC",
      });
    expect((await ask(`who owned the checkout service in ${month(100)}?`))[0]?.memory.id).toBe(second.id);
    expect((await ask(`who owned the checkout service in ${month(299)}?`))[0]?.memory.id).toBe(first.id);
    expect((await ask(`lunch with whom in ${month(101)}?`))[0]?.memory.id).toBe(lunch.id);
  });

  it("of a month counts no change of the first day of the next, and needs no note of that month", async () => {
    const on = async (date: string, content: string, supersedes: readonly string[] = []) =>
      (await addMemory(world.ports, { content, occurredAt: Date.parse(date), supersedes })).memory.id;
    const first = await on("2025-01-05", "The rent of the flat is 900 euros");
    await on("2025-07-01", "The rent of the flat is 1000 euros", [first]);
    expect((await ask("what was the rent of the flat in June 2025?"))[0]?.memory.id).toBe(first);
    await on("2025-06-10", "Bought onions");
    expect((await ask("what was the rent of the flat in June 2025?"))[0]?.memory.id).toBe(first);
  });

  it("answers as of a time: what came later has no say", async () => {
    const paris = await add("Ada lives in Paris", 1);
    const rome = await add("Ada lives in Rome", 10, [paris]);
    const then = await ask("Where does Ada live?", 5);
    expect(then.map(({ memory }) => memory.id)).toEqual([paris]);
    expect(then[0]?.memory.superseded).toBeNull();
    expect((await ask("Where does Ada live?", 10))[0]?.memory.id).toBe(rome);
  });

  it("of a series finds the one whose number the question gives", async () => {
    const ids: string[] = [];
    for (let n = 1; n <= 6; n += 1)
      ids.push(await add(`note ${n}: the violin number ${n} was lent to a neighbour`, n));
    for (const [i, id] of ids.entries()) {
      const [first] = await ask(`note ${i + 1}: the violin number ${i + 1} was lent to a neighbour`);
      expect(first?.memory.id).toBe(id);
    }
  });

  it("explains what it did to the scores", async () => {
    const paris = await add("Ada lives in Paris, in the old town", 1);
    await add("Ada lives somewhere else", 2, [paris]);
    const { hits } = await queryMemory(world.ports, {
      query: "Ada lives in Paris in the old town?",
      limit: 8,
      filter: {},
      explain: true,
    });
    for (const { score, explain = {} } of hits) {
      expect(Object.values(explain).reduce((sum, share) => sum + share, 0)).toBeCloseTo(score, 6);
      expect(explain["currency"]).toBeDefined();
    }
  });
});

it("explains the score of one of a chain, too", async () => {
  const jenkins = await add("We use Jenkins for the builds of the shop", 1);
  const circle = await add("Replaced it by Circle", 20, [jenkins]);
  await add("The builds of the shop run on Drone", 40, [circle]);
  const query = "what did we previously use for the builds of the shop?";
  const { hits } = await queryMemory(world.ports, { query, limit: 8, filter: {}, explain: true });
  for (const { score, explain = {} } of hits)
    expect(Object.values(explain).reduce((sum, share) => sum + share, 0)).toBeCloseTo(score, 6);
});

describe("the later of two notes on one thing", () => {
  interface Case {
    readonly how?: "told" | "inferred" | "rejected";
    /** Words that many notes have. */
    readonly common?: readonly string[];
    /** The cosine of the two. */
    readonly likeness?: number;
    readonly tense?: "present" | "past";
    readonly period?: Period;
    readonly denial?: readonly number[];
    /** Days from each note to the next. */
    readonly days?: number;
  }
  /** The order of a note on the rent and two later ones, the first of them on the rent, too; note n happened at n. */
  const inOrder = (
    scores: readonly number[],
    { how, common = [], likeness = 0.8, tense = "present", period, denial = [], days }: Case = {},
    texts = [
      "The rent of the flat is 640 a month",
      "The rent of the flat is now 690 a month",
      "Choir sings Bach",
    ],
  ) => {
    const windows = [
      [1, 0],
      [likeness, Math.sqrt(1 - likeness ** 2)],
      [0, -1],
    ];
    const store = {
      windowsOf: (ordinal: number) => [Float32Array.from(windows[ordinal] ?? [])],
      catalogue: {
        at: (ordinal: number) => ({
          id: `m${ordinal}`,
          occurredAt: days === undefined ? ordinal : ordinal * days * DAY_MS,
          sessionId: null,
          documentId: null,
          project: null,
          traits: { speaker: null, words: 8 },
        }),
        edgesAt: (ordinal: number) =>
          how === "rejected" && ordinal === 0 ? [{ kind: "updates", source: 1, target: 0, weight: 0 }] : [],
        supersession: (ordinal: number) =>
          how !== undefined && how !== "rejected" && ordinal === 0 ? { by: "1", how } : undefined,
        find: (id: string) => ({ ordinal: Number(id) }),
      },
    } as unknown as MemoryStore;
    const hits = scores
      .map((score, ordinal) => ({
        ordinal,
        score,
        shares: denial.includes(ordinal) ? { denial: 0.1 } : {},
      }))
      .sort((a, b) => b.score - a.score) as unknown as RankedHit[];
    const contents = new Map(texts.map((content, n) => [`m${n}`, { content }]));
    const question = "how much is the rent";
    const isCommon = (term: string) => common.includes(term);
    const lackOf = lackOfForm(question);
    const options = { question, tense, asOf: undefined, period, lackOf, isCommon } as const;
    return currentFirst(store, hits, contents, options);
  };
  const order = (...given: Parameters<typeof inOrder>) =>
    inOrder(...given).hits.map(({ ordinal }) => ordinal);

  it("comes first where it answers nearly as well; what was told does so always", () => {
    expect(order([0.9, 0.7, 0.1])).toEqual([1, 0, 2]);
    expect(order([0.9, 0.05, 0.01])).toEqual([0, 1, 2]);
    expect(order([0.9, 0.05, 0.01], { how: "told" })).toEqual([1, 0, 2]);
  });

  it("needs no word of change where months are between them, and more of it where the earlier one tells of a change", () => {
    const states = ["The passport is in the desk", "The passport is in the safe", "Choir sings Bach"];
    expect(order([0.8, 0.7, 0.1], { days: 1 }, states)).toEqual([0, 1, 2]);
    expect(order([0.8, 0.7, 0.1], { days: 100 }, states)).toEqual([1, 0, 2]);
    const events = ["The passport is no longer in the desk", ...states.slice(1)];
    expect(order([0.8, 0.7, 0.1], { days: 100 }, events)).toEqual([0, 1, 2]);
  });

  it("needs more than words that many notes have, or a link that was guessed", () => {
    const common = ["rent", "flat", "month"];
    const likeness = 0.65;
    expect(order([0.9, 0.8, 0.1], { likeness })).toEqual([1, 0, 2]);
    expect(order([0.9, 0.8, 0.1], { likeness, common })).toEqual([0, 1, 2]);
    expect(order([0.9, 0.8, 0.1], { likeness, common, how: "inferred" })).toEqual([1, 0, 2]);
    // States of one series have all their words in common.
    expect(order([0.9, 0.8, 0.1], { common })).toEqual([1, 0, 2]);
  });

  it("comes first however often the value has changed", async () => {
    for (let year = 1; year <= 7; year += 1)
      await add(`The deploy key of the blog expires in May ${2018 + year}`, year * 12);
    for (let note = 0; note < 8; note += 1) await add(`Bought shoes, pair ${note}`, note * 9);
    expect((await ask("when does the deploy key of the blog expire?"))[0]?.memory.content).toContain("2025");
  });

  it("is known as a state of the same thing, whichever is first", () => {
    for (const scores of [
      [0.9, 0.7, 0.6],
      [0.7, 0.9, 0.6],
    ]) {
      const { areStates } = inOrder(scores);
      expect([areStates(0, 1), areStates(1, 0), areStates(0, 2), areStates(2, 1)]).toEqual([
        true,
        true,
        false,
        false,
      ]);
    }
    expect(inOrder([0.9, 0.7, 0.6], { how: "rejected" }).areStates(0, 1)).toBe(false);
  });

  it("does not come before one on something else", () => {
    expect(order([0.9, 0.1, 0.7])).toEqual([0, 2, 1]);
  });

  it("comes second where the question speaks of the past", () => {
    expect(order([0.7, 0.9, 0.1], { tense: "past" })).toEqual([0, 1, 2]);
    expect(order([0.7, 0.1, 0.9], { tense: "past" })).toEqual([2, 0, 1]);
  });

  it("does not come before one that somebody said still holds", () => {
    expect(order([0.9, 0.7, 0.1], { how: "rejected" })).toEqual([0, 1, 2]);
  });

  it("does not come before one that alone denies what the question denies", () => {
    expect(order([0.9, 0.7, 0.1], { denial: [0] })).toEqual([0, 1, 2]);
    expect(order([0.9, 0.7, 0.1], { denial: [0, 1] })).toEqual([1, 0, 2]);
  });

  it("comes before a warning only where it warns, too, or names a clear change", () => {
    const warning = "Never use the ladder in the shed";
    const later = (text: string) =>
      order([0.8, 0.7, 0.1], { days: 100 }, [warning, text, "Choir sings Bach"]);
    expect(later("The ladder in the shed has eight rungs")).toEqual([0, 1, 2]);
    expect(later("Never use the ladder in the shed in the rain")).toEqual([1, 0, 2]);
    expect(later("The ladder in the shed is no longer broken, use it")).toEqual([1, 0, 2]);
  });

  it("leaves the one in front that happened when the question says", () => {
    expect(order([0.9, 0.8, 0.1], { how: "told", period: { from: 0, to: 1 } })).toEqual([0, 1, 2]);
    expect(order([0.9, 0.8, 0.1], { how: "told", period: { from: 0, to: 2 } })).toEqual([1, 0, 2]);
  });
});

it.each([
  "Where did we live before?",
  "What was the old password?",
  "Where did grandma use to live? She used to live near us.",
  "Who was our previous dentist?",
  "When did choir practice use to be?",
  "Wo hat Jonas früher gearbeitet?",
  "Quel était l'ancien code ?",
  "¿Dónde vivía antes Camila?",
  "Chi era il medico prima?",
  "Onde ficava o escritório antes?",
  "Wanneer was de zwemles vroeger?",
  "Grandma's old number",
  "以前的密码是什么?",
  "Где мы жили раньше?",
  "old permit number for the site",
  "Wo hat Karin vor Husum gewohnt?",
  "Welches Instrument spielte Paul vor dem Schlagzeug?",
  "Wer war vor Frau Odermatt Lehrer?",
  "Wie hieß der Lehrer vor Frau Odermatt?",
  "Wie hiess der Stromanbieter vor GrünWatt?",
  "Wie hieß unser Hausarzt?",
  "Welches Auto hatten wir vor dem Kia?",
  "what is the old wifi password?",
  "What’s the old wifi password?",
  "which was the old router?",
  "tell me the old alarm code",
  "what is our old postcode?",
  "what is the previous landlord's number?",
  "which password is the old one?",
  "Wie lautet das alte Passwort?",
  "Wie ist unser alter Türcode?",
  "Quelle est l'ancienne adresse ?",
  "Quel est le vieux mot de passe ?",
  "¿Cuál es el antiguo código?",
  "¿Cuál era la vieja contraseña?",
  "Qual è il vecchio codice del portone?",
  "Qual é a antiga morada?",
  "Qual era a velha senha?",
  "Wat is het oude wachtwoord?",
  "What did we use to send mails with?",
  "Which editor did we use before Zed?",
  "Which service do we no longer use?",
  "first meeting with Annika about the budget",
  "Erstes Treffen mit Annika",
  "Where did Ada live earlier?",
  "Can you tell me what we used for mails before?",
  "What do we not use any more to send mails?",
  "Wo hat Ada vorher gewohnt?",
  "¿Quién era mi gestora antes de Íñigo?",
])("%s asks for the past", (question) => {
  expect(tenseOf(question)).toBe("past");
});

it.each([
  "Where does grandma live?",
  "What should I do before going to bed?",
  "Wann ist das Training?",
  "Quel est le code du portail ?",
  "How old is Jonas?",
  "Ada lives in Paris in the old town?",
  "Was hat Paul vor drei Wochen gespielt?",
  "Steht das Auto vor dem Haus?",
  "Until when does the contract run?",
  "Was habe ich vor?",
  "Was hat Anna heute vor?",
  "wann habe ich den Zahnarzttermin, was habe ich da vor?",
  "Was haben wir vor dem Haus gepflanzt?",
  "Hat jemand das Auto vor der Garage geparkt?",
  "Was hatte vor allem Vorrang?",
  "Wer hat vor Ort geholfen?",
  "Was hatte Mia vor Weihnachten gekauft?",
  "Wer hatte Angst vor Hunden?",
  "Welche Tabletten hatte Opa vor dem Essen genommen?",
  "Wie hieß die Ärztin noch mal?",
  "Wie alt ist Jonas?",
  "In welchem Alter lernte Mia lesen?",
  "Wo treffe ich meinen alten Freund?",
  "Where did I meet an old friend?",
  "How old was grandma then?",
  "What is the old town like?",
  "What do I need before Christmas?",
  "Quel est le plus ancien hêtre ?",
  "Que faut-il faire avant lundi ?",
  "¿Dónde está la vieja casa?",
  "¿Cuál es la iglesia más antigua?",
  "Chi è un vecchio amico di Ada?",
  "Cosa devo fare prima di Natale?",
  "Qual é a igreja mais antiga?",
  "Hoe oud is Kees?",
  "Wie is een oude vriend van Kees?",
  "What do we use to send mails?",
  "Which checks do I run before merging?",
  "Which checks do I run before each release?",
  "Must the report be sent earlier than Friday?",
  "Are there any more checks to run?",
  "Who owns checkout now that Priyanka is no longer here?",
  "Was muss ich vorher erledigen?",
  "¿Qué hay que hacer antes de publicar?",
  "Que dois-je vérifier avant de publier ?",
  "Cosa devo controllare prima di pubblicare?",
  "O que tenho de fazer antes de publicar?",
  "Wat moet ik eerst doen?",
])("%s asks for the present", (question) => {
  expect(tenseOf(question)).toBe("present");
});

describe("changeBetween", () => {
  it.each([
    ["Rex is our dog.", "Rex passed away this morning."],
    ["Camogie for Fiadh on Saturdays.", "Camogie is over for Fiadh."],
    ["Karin wohnt in Rostock.", "Karin ist nach Husum gezogen."],
    ["Rente 1.684 Euro.", "Rentenanpassung: 1.746 Euro."],
    ["Im Kadett 15W-40.", "Im Kadett neuerdings 10W-40."],
    ["Le bail est avec M. Roux.", "M. Roux a cédé le bail à sa fille."],
    ["El taller de Paco repara el coche.", "Paco ha cerrado el taller."],
    ["La palestra è in via Roma.", "La palestra in via Roma ha chiuso."],
    ["O carro é um Clio.", "Vendemos o Clio."],
    ["Rent 640.", "The rent went down to 600."],
    ["Ada chairs the club.", "Elected: Bo chairs the club."],
    ["Miete 640.", "Die Miete ist gestiegen: 690."],
    ["Sitzung am 12. Mai.", "Sitzungsverlegung auf den 19."],
    ["Vorsitz: Hedwig.", "Bernd wurde gewählt."],
    ["Loyer 640 euros.", "Augmentation du loyer, 690 euros."],
    ["Loyer 640 euros.", "Loyer de 690 euros à compter de septembre."],
    ["Fatou : 11 euros.", "Fatou : 12 euros dès mai."],
    ["Amministratore: Pautasso.", "Revocato Pautasso, eletta Nebiolo."],
    ["Bottega in via Saluzzo.", "Traslocato in corso Casale."],
    ["Consegna il 6.", "Consegna rimandata al 20."],
    ["Oficina: lunes y jueves.", "Desde noviembre solo el martes."],
    ["La luz, 40 euros.", "Subida de la luz: 46 euros."],
    ["A renda é 780.", "A renda subiu para 815."],
    ["Huur 640.", "Huurverhoging: 660."],
    ["Penningmeester: Kees.", "Anna is gekozen."],
    ["Priya manages the releases.", "Priya hands release management over to Marek."],
    ["Priya manages the releases.", "Priya handed it all over to Marek."],
    ["Priya betreut die Releases.", "Priya übergibt die Betreuung an Marek."],
    ["Priya betreut die Releases.", "Priya hat alles an Marek übergeben."],
    ["Priya gère les versions.", "Priya passe la main à Marek."],
    ["Priya gère les versions.", "Priya transmet la gestion des versions à Marek."],
    ["Priya lleva las versiones.", "Priya traspasa las versiones a Marek."],
    ["Priya gestisce i rilasci.", "Priya passa la gestione dei rilasci a Marek."],
    ["Priya gere as versões.", "Priya passou a gestão das versões ao Marek."],
    ["Priya beheert de releases.", "Priya draagt het beheer over aan Marek."],
    ["Verzekerd bij Ditzo.", "Overgestapt van Ditzo naar Anderzorg."],
  ])("sees the change from: %s", (earlier, later) => {
    expect(changeBetween(earlier, later)).toBe("clear");
  });

  it("finds no common word in short numbers and years", () => {
    expect([...tellingTerms("Discount 18 % of 2026, code 4410", null)]).toEqual(["discount", "code", "4410"]);
    expect([...tellingTerms("npm, not the old css for now", null)]).toEqual(["npm", "css"]);
  });

  it("asks for a word of change that the earlier one has not", () => {
    expect(changeBetween("Choir is on Wednesdays.", "Choir has moved to Thursdays.")).toBe("clear");
    expect(changeBetween("Weight: 82.4 kg.", "Weight: 81.9 kg.")).toBe(undefined);
    expect(changeBetween("Changed the oil of the van.", "Changed the tyres of the van.")).toBe(undefined);
  });

  it("does not take an entry of a series for a change because something in it is new", () => {
    const earlier = "Parents' council: school fair planned.";
    expect(changeBetween(earlier, "Parents' council: new bicycle stand discussed.")).toBe(undefined);
    expect(changeBetween("The wifi password is tin-roof.", "New wifi password: copper-pipe.")).toBe("weak");
  });

  it("takes neither an intention nor a part of an identifier for a change", () => {
    expect(changeBetween("Affitto 980 euro.", "L'affitto aumenta ogni gennaio.")).toBe(undefined);
    expect(changeBetween("Nerea does judo.", "Nerea wants to quit judo.")).toBe(undefined);
    expect(changeBetween("Priya manages releases.", "Priya wants to hand releases over to Marek.")).toBe(
      undefined,
    );
    expect(changeBetween("pnpm 9", "ERR_PNPM_OUTDATED_LOCKFILE")).toBe(undefined);
  });

  it("reads words of change in other languages", () => {
    for (const text of [
      "Das Training findet jetzt mittwochs statt.",
      "Camille a déménagé à Grenoble.",
      "Pablo ya no toma clases de piano.",
      "O escritório mudou-se.",
      "De zwemles is voortaan op woensdag.",
      "从这个月起中文课改到周五",
      "La boda se aplaza al 19 de diciembre.",
      "Jonas est parti, Luc prend la suite.",
    ]) {
      expect([...changeWords(text)]).not.toEqual([]);
    }
  });
});

describe("a guess orders, and what it does not change stays first", () => {
  it.each([
    ["The dev server listens on port 4310", "Memory leak: the listeners were not removed, nobody resumed it"],
    ["Fluids at most 1.5 litres", "The meeting did not get moved"],
    ["Врач принимает по средам", "Врач не переехал"],
    ["Bilet do Gdańska kosztuje 60 zł", "Podróż do Gdańska trwa 3 godziny, mówi doktor Nowak o przeszłości"],
  ])("reads no change into a negated word: %s", (earlier, later) => {
    expect(changeBetween(earlier, later)).toBeUndefined();
  });

  it("keeps words of change that deny", () => {
    expect(changeWords("I no longer take the 7:12 train")).toContain("no longer");
    expect(changeWords("ADR-011: replace OSRM by Valhalla. Supersedes ADR-004.")).toContain("supersedes");
    expect(changeWords("Wir fahren nicht mehr nach Husum")).toContain("nicht mehr");
  });

  it.each([
    "I am not to take ibuprofen ever again",
    "Tobi is allergic to sesame",
    "Ramipril 5 mg morgens eine",
    "Die Pumpe darf nie trocken laufen",
    "TODO: renew the certificate",
    "Nunca dar chocolate al perro",
  ])("never takes a warning, a dose or an open task for replaced: %s", (text) => {
    expect(isStanding(text)).toBe(true);
  });

  it.each(["We moved to Rome", "The port is 4310", "Rent is 640 a month"])(
    "takes %s for what may change",
    (text) => {
      expect(isStanding(text)).toBe(false);
    },
  );

  const first = async (earlier: string, later: string, question: string) => {
    await add(earlier, 1);
    await add(later, 200);
    return (await ask(question))[0]?.memory.content;
  };

  it.each([
    [
      "who pays the rent of the boathouse",
      "Still open: who pays the rent of the boathouse.",
      "Ines pays the rent of the boathouse.",
    ],
    ["how much is Ramipril for Mia", "Mia takes 20 mg of Ramipril.", "Doctor Lund took Mia off Ramipril."],
    [
      "is the back door locked",
      "Do not use the back door, the lock is broken.",
      "The lock of the back door is repaired.",
    ],
    ["wifi", "Wifi: LombokTulp88", "Wifi: torfowisko-zielone"],
    ["Homeoffice", "Homeoffice immer dienstags", "Homeoffice mittwochs, der Chef will es"],
  ])(
    "lets a later one go before it that ends it or tells another value: %s",
    async (question, earlier, later) => {
      expect(await first(earlier, later, question)).toBe(later);
    },
  );

  it.each([
    [
      "how much is the hotel in Visby",
      "The hotel in Visby costs 120 euros a night.",
      "The hotel in Visby has parking and breakfast.",
    ],
    [
      "when does the lease of the boathouse end",
      "The lease of the boathouse will end on 3 March.",
      "The lease of the boathouse lies in the blue folder of grandfather's desk upstairs.",
    ],
  ])("goes before what tells another thing of it: %s", async (question, earlier, later) => {
    expect(await first(earlier, later, question)).toBe(earlier);
  });

  it.each([
    ["what is Anna's shoe size", "Anna's shoe size is 38", "Ben's shoe size is 43"],
    ["what is the rent of the flat", "Rent of the flat is 900 euros", "Rent of the garage is 80 euros"],
    ["which tablet does Oma take", "Oma takes a tablet in the morning", "Opa takes a tablet in the evening"],
  ])("goes before what says the same of another thing: %s", async (question, earlier, later) => {
    expect(await first(earlier, later, question)).toBe(earlier);
  });

  it("puts the later value of one thing first without a word of change, whatever else the earlier one says", async () => {
    await add("Memo works Friday to Sunday, $18/h, paid on Mondays", 1);
    const later = await add("Memo works Friday to Sunday for $20/h", 50);
    expect((await ask("how much does Memo get an hour"))[0]?.memory.id).toBe(later);
  });

  it("answers from the earlier one what only that tells", async () => {
    const earlier = await add("gateway ports: grpc 7071, metrics 7072, pprof 6060", 1);
    await add("gateway grpc port moved to 7171", 50);
    expect((await ask("metrics pprof of the gateway"))[0]?.memory.id).toBe(earlier);
  });
});

it("finds the identifier that is asked for before a look-alike that answers better", async () => {
  const exact = await add("Lot X3B417: forty doses for the flu", 1);
  await add("Vaccine lot X3B471 is in the fridge", 50);
  expect((await ask("vaccine lot X3B417 in the fridge"))[0]?.memory.id).toBe(exact);
});

it.each([
  ["valve 2-3", "Valve 2-3 was tightened", "Valve 3-2 was tightened"],
  ["locker B-12", "Locker B-12 was cleaned", "Locker 12-B was cleaned"],
  ["seat 14C", "Seat 14C was mended", "Seat C14 was replaced"],
  [
    "upstream timeout of pergola-edge",
    "pergola-edge: upstream timeout 30 s",
    "pergola-core: upstream timeout 5 s",
  ],
  ["what does src/a/b.ts do", "src/a/b.ts parses the header", "src/b/a.ts now writes the header"],
])(
  "finds the identifier as written before one of the same parts that was stored later: %s",
  async (question, exact, mirrored) => {
    const id = await add(exact, 1);
    await add(mirrored, 50);
    expect((await ask(question))[0]?.memory.id).toBe(id);
  },
);
