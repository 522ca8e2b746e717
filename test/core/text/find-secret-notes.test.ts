/** 300 ordinary notes, of which at most one may be refused, and secrets of all kinds as notes hold them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { findSecret } from "../../../src/core/text/find-secret.ts";

const NOTES = resolve(import.meta.dirname, "../../fixtures/secrets/ordinary-notes.txt");
const MAX_FALSE_ALARMS = 1;

// In pieces, so that no scanner of this repository takes them for real ones.
const join = (...parts: string[]): string => parts.join("");
const RANDOM = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9dE1fG3hI5";
const HEX = "9fceb02d0ae598e95dc970b74767f19372d61af89f86d081884c7d659a2feaa0";

it("finds hardly anything in 300 ordinary notes", () => {
  const notes = readFileSync(NOTES, "utf8").trim().split("\n");
  expect(notes.length).toBeGreaterThanOrEqual(300);
  const refused = notes.filter((note) => findSecret(note.replaceAll(String.raw`\n`, "\n")) !== undefined);
  expect(refused.slice(MAX_FALSE_ALARMS)).toEqual([]);
});

it.each([
  ["a key of memoryd", join("mk_", "0a1b2c3d_", RANDOM.slice(0, 43))],
  ["one in a command", join("memoryd list --api-key mk_", "9f8e7d6c_", RANDOM.slice(5, 48))],
  ["a bearer header", join("Authorization: Bearer ", RANDOM.slice(0, 24))],
  ["one in JSON", join('{"Authorization": "Bearer ', RANDOM.slice(3, 35), '"}')],
  ["one in curl", join("curl -H 'authorization: bearer ", HEX.slice(0, 32), "' https://api.example.org")],
  ["one without its name", join("send Bearer ", RANDOM.slice(2, 40), " to it")],
  ["a basic header", join("Authorization: Basic ", "YWRhOmh1bnRlcjJodW50ZXIy")],
  ["one of Django", join("Authorization: Token ", HEX.slice(0, 40))],
  ["a user of curl", join("curl -u ada:", "hunter2hunter2 https://example.org")],
  ["an account key", join("AccountKey=", RANDOM, "+/x==;EndpointSuffix=core.windows.net")],
  ["a shared access key", join("SharedAccessKey=", RANDOM.slice(0, 43), "=")],
  ["a signed address", join("https://acme.blob.core.windows.net/c?sv=2024&sig=", RANDOM.slice(0, 40), "%3D")],
  ["a Telegram token", join("123456789:AA", "F3k9dLmQ2xZp7RtVw1YbN8cHjKs4UeGoI")],
  [
    "one in an address",
    join("https://api.telegram.org/bot7123456789:AA", "H3k9dLmQ2xZp7RtVw1YbN8cHjKs4UeGoI/getMe"),
  ],
  ["a Discord token", join("MTk4NjIyNDgzNDcxOTI1MjQ4", ".Cl2FMQ.", "ZnCjm1XVW7vRze4b7Cq4se7kKWs")],
  [
    "a Discord webhook",
    join("https://discord.com/api/webhooks/", "197038439483310086/", RANDOM, RANDOM.slice(0, 16)),
  ],
  ["German", "Passwort: Sommer2026!"],
  ["German, for something", "Passwort für das WLAN: blauerHund77"],
  ["German, of something", "Das Kennwort vom NAS: 7Berge!7Zwerge"],
  ["a German key", "API-Schlüssel: k3y4wetter"],
  ["a German access key", "Zugangsschlüssel = wetter2024abc"],
  ["French", "mot de passe : Soleil2024"],
  ["French with a no-break space", "Mot de passe\u00a0: été2024rouge"],
  ["French, of something", "mot de passe du wifi : maison75011x"],
  ["French, short", "mdp: Soleil2024"],
  ["a French key", "clé d'API : 8fk2mz9x1q"],
  ["Spanish", "contraseña: Verano2024"],
  ["Spanish without its tilde", "contrasena: verano24sol"],
  ["a Spanish key", "clave: Gato2024negro"],
  ["Spanish, of something", "La contraseña del servidor: Luna7Sol7x"],
  ["Italian", "password di posta: Gatto2024nero"],
  ["Italian words", "parola d'ordine: gatto77nero"],
  ["an Italian key", "chiave API: 8fk2mz9x1q7w"],
  ["Portuguese", "senha: Praia2024sol"],
  ["European Portuguese", "palavra-passe: praia77sol"],
  ["a Portuguese key", "chave de API: 8fk2mz9x1q7w"],
  ["Dutch", "wachtwoord: Fiets2024!"],
  ["Dutch, of something", "Het wachtwoord voor de router: fiets77blauw"],
  ["a Dutch key", "API-sleutel: k3y4weer99"],
  ["Japanese", "パスワード：sakura2024x"],
  ["Chinese", "密码：hunter2hunter2"],
  ["Russian", "пароль: leto2024more"],
  ["a cell of a table", "| user | ada |\n| password | hunter2hunter2 |"],
  ["a cell in bold", "| **Passwort** | Sommer2026x |"],
  ["a column of a table", "| user | password |\n|---|---|\n| ada | hunter2hunter2 |"],
  [
    "a later row",
    "| host | user | Kennwort |\n| --- | --- | --- |\n| a | b | |\n| db1 | root | `w1nterz3it` |",
  ],
  ["a value on the next line", "Password:\nhunter2hunter2"],
  ["one after an empty line", "Passwort:\n\n  Sommer2026x"],
  ["one in a list", "password:\n- hunter2hunter2"],
  ["one below a heading", "## API key\n\nk3y4weather99\n"],
  ["one below a word", "wifi password\r\nblauerHund77"],
  ["full-width signs", "password：hunter2hunter2"],
  ["a full-width word", "ｐａｓｓｗｏｒｄ＝ｈｕｎｔｅｒ２ｈｕｎｔｅｒ２"],
  ["a zero-width space in the name", "pass\u200bword: hunter2hunter2"],
  ["a zero-width joiner in the value", "password: hunter2\u200dhunter2"],
  ["a soft hyphen in a token", join("gh\u00adp_", "16C7e42F292c6912E7710c838347Ae178B4a")],
  ["a mail service's key", join("SG.", RANDOM.slice(0, 22), ".", RANDOM.slice(0, 43))],
  ["a shop's token", join("shpat_", HEX.slice(0, 32))],
  ["a data platform's token", join("dapi", HEX.slice(0, 32))],
  ["a model service's key", join("gsk_", RANDOM)],
  ["a registry's token", join("dckr_pat_", RANDOM.slice(0, 27))],
  ["a vault's token", join("hvs.", RANDOM)],
  ["a dashboard's token", join("glsa_", RANDOM.slice(0, 32), "_1a2b3c4d")],
  ["a tracker's key", join("lin_api_", RANDOM.slice(0, 40))],
  ["a cloud's token", join("dop_v1_", HEX)],
  ["a password in brackets' words", "password (staging): hunter2hunter2"],
  ["a sentence with a colon", "Our wifi password in the office is: blauerHund77"],
  ["a German sentence", "Das Passwort im Büro lautet: blauerHund77"],
  ["an AWS key", join("AKIA", "IOSFODNN7EXAMPLE")],
  ["a private key", join("-----BEGIN ", "EC PRIVATE KEY-----")],
  ["a password in an address", join("mysql://root:", "t0psecretx9@db/shop")],
])("finds %s", (_what, text) => {
  expect(findSecret(text)).toBeTypeOf("string");
  expect(findSecret(`As agreed:\n${text}\nThanks!`)).toBeTypeOf("string");
});

it("is done with long texts in no time", () => {
  for (const pump of [
    "password |",
    "token\n",
    "| password ",
    "Bearer ",
    "password for a ",
    "mot de passe du ",
    "clé d'api\n  ",
  ])
    expect(findSecret(pump.repeat(30_000))).toBeUndefined();
});
