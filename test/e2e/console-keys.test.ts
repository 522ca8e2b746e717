/** The console with a key of each scope: everything offered works, and nothing that the key may not do is offered. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { createClient, type Key, type MemorydClient } from "../../src/client/client.ts";
import { expectText, follow, hasBrowser, picture, useConsole, violations } from "../support/console-page.ts";

const PAGES = ["home?q=boat", "notes", "facts", "documents", "agents", "housekeeping", "docs"];

let owner: MemorydClient;
let memory: string;

describe.skipIf(!hasBrowser)("the console with keys", () => {
  const world = useConsole();
  beforeAll(async () => {
    const { api } = world;
    ({ id: memory } = await api.memories.add({ content: "The boat is in the harbour.", user_id: "ann" }));
    await api.memories.add({ content: "Ben sold the bicycle.", user_id: "ben" });
    await api.documents.ingest({ text: "The roof is of slate." });
    const { key } = await api.keys.create({ name: "owner", scope: "admin" });
    owner = createClient({ url: world.daemon.baseUrl, apiKey: key });
  });

  const scopes: readonly (readonly [Key["scope"], string | undefined])[] = [
    ["read", undefined],
    ["write", undefined],
    ["write", "ann"],
    ["admin", undefined],
  ];
  for (const [scope, user] of scopes)
    it(`offers what a key may that has the scope ${scope}${user === undefined ? "" : " for one user"}`, async () => {
      const name = `${scope}-${user ?? "all"}`;
      const { key } = await owner.keys.create({ name, scope, ...(user !== undefined && { user_id: user }) });
      await createClient({ url: world.daemon.baseUrl, apiKey: key })
        .memories.add({ content: `Of ${name}.` })
        .catch(() => undefined);
      const refused: string[] = [];
      await signedIn(key, async (page) => {
        page.on("response", (response) => {
          if (response.status() === 403) refused.push(response.url());
        });
        for (const hash of PAGES) {
          await page.goto(`${world.daemon.baseUrl}/#/${hash}`);
          await expect.poll(() => page.locator(".waiting").count()).toBe(0);
          if (hash !== "docs") expect(await page.getByRole("alert").count()).toBe(0);
        }
        const offers = async (hash: string, pattern: RegExp) => {
          await page.goto(`${world.daemon.baseUrl}/#/${hash}`);
          await page.locator("main h1").waitFor({ state: "attached" });
          await expect.poll(() => page.locator(".waiting").count()).toBe(0);
          return (await page.getByText(pattern).count()) > 0;
        };
        const mayWrite = scope !== "read";
        const mayAll = scope === "admin";
        expect({
          edit: await offers(`notes?id=${memory}`, /^Edit$/),
          add: await offers("notes", /^Add a note$/),
          fact: await offers("facts", /^Add a fact$/),
          file: await offers("documents", /^Choose files$/),
          remove: await offers("agents", /^Take back…$/),
          settings: await offers("housekeeping", /^Settings$/),
          log: await offers("housekeeping", /^Log$/),
          key: await offers("housekeeping", /^Make a key$/),
        }).toEqual({
          edit: mayWrite,
          add: mayWrite,
          fact: mayWrite,
          file: mayWrite,
          // Of the changes under its own name, which a key that writes has.
          remove: mayWrite,
          settings: mayAll,
          log: mayAll,
          key: mayAll,
        });
        if (scope === "write") {
          await page.goto(`${world.daemon.baseUrl}/#/agents`);
          await page.getByText(name, { exact: true }).first().waitFor();
          await expect.poll(() => page.getByText("Take back…").count()).toBe(1);
        }
        if (user !== undefined) {
          await page.goto(`${world.daemon.baseUrl}/#/notes`);
          await page.locator(".note", { hasText: "The boat" }).waitFor();
          expect(await page.locator(".note", { hasText: "bicycle" }).count()).toBe(0);
        }
      });
      expect(refused).toEqual([]);
    });

  it("asks for another key when its own is revoked while a page is open", async () => {
    const made = await owner.keys.create({ name: "short-lived", scope: "write" });
    for (const colorScheme of ["light", "dark"] as const) {
      const { id, key } =
        colorScheme === "light" ? made : await owner.keys.create({ name: "later", scope: "write" });
      await signedIn(
        key,
        async (page) => {
          await page.goto(`${world.daemon.baseUrl}/#/notes?id=${memory}`);
          await expectText(page.getByRole("complementary"), "The boat");
          await owner.keys.revoke(id);
          // A page that has noticed by itself has no links any more.
          await page.getByRole("link", { name: "Facts" }).or(page.getByRole("alert")).first().click();
          await expectText(page.getByRole("alert"), "You are signed out");
          // The page waits below, unseen, with what was typed there.
          expect(await page.locator("body").innerText()).not.toContain("The boat");
          expect(await violations(page)).toEqual([]);
          await picture(page, `signed-out-${colorScheme}`);
          const { key: next } = await owner.keys.create({ name: `next-${colorScheme}`, scope: "read" });
          await page.getByLabel("Key", { exact: true }).fill(next);
          await page.getByRole("button", { name: "Sign in" }).click();
          await follow(
            page.getByRole("link", { name: "Notes" }),
            page.locator(".note", { hasText: "The boat" }),
          );
        },
        colorScheme,
      );
    }
  });

  async function signedIn(
    key: string,
    look: (page: Page) => Promise<void>,
    colorScheme: "light" | "dark" = "light",
  ): Promise<void> {
    const signIn = async (page: Page) => {
      await page.getByLabel("Key").fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("searchbox").waitFor();
      await look(page);
    };
    await world.visit("home", signIn, { colorScheme });
  }
});
