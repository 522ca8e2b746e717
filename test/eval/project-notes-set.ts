/**
 * Notes of a project, oldest first: where a context must tell each (either of two where both are right), `-` if it must not, then the text. Of notes
 * with the same name in brackets the last one has the value that holds, and must be told with the one before.
 */
export interface ProjectNote {
  readonly part: string;
  readonly text: string;
  readonly thing: string | undefined;
}

const readNotes = (script: string): ProjectNote[] =>
  script
    .trim()
    .split("\n")
    .map((line) => {
      const [, part = "", thing, text = ""] = /^(\S+) \| (?:\[(\w+)\] )?(.+)$/.exec(line) ?? [];
      return { part, text, thing };
    });

/** Rules were chosen with these. */
export const TUNED_NOTES = readNotes(`
decision/fact | Amounts are integer minor units; floats are never stored.
preference | Never run npm install in this repository, use pnpm.
preference | Always run pnpm lint before you commit.
preference | Answer in German when Jana asks.
preference | I prefer small commits with a body that says why.
preference | Do not mock the database in tests.
preference | Use early returns instead of nested conditions.
decision | We decided to use Postgres instead of DynamoDB for orders.
decision | Agreed with finance: refunds above 500 euros need a second approval.
decision | Decision: the public API is versioned in the path.
fact | The staging database runs on db-stage-2.internal.
fact | Flag new-checkout is on for all customers since 20 November.
fact | The rate limit is 100 requests per key for every client.
fact | Maria owns the billing service.
fact | Timestamps are in UTC in all tables.
fact | The nightly export lands in the bucket acme-exports.
fact | Our Redis is only reachable from the VPN.
fact | CI has two runners with 8 GB each.
fact | Every order has exactly one shipping address.
fact | The webhook of Stripe must be public because Stripe does not sign in.
fact | The API answers in JSON only.
fact | Error codes are listed in docs/errors.md.
fact | [port] The dev server listens on port 4310.
fact | [port] The dev server listens on port 4311 now.
fact | [deploys] Deploys go to Fly.io.
decision/fact | [deploys] We deploy to Hetzner instead of Fly.io now.
fact | [logs] The log retention is 30 days.
fact | [logs] The log retention is 90 days now.
fact | The support team sits in Porto.
open | The retry of failed webhooks still has to be written.
open | TODO: rotate the Stripe key before January.
open | Waiting for the bank's answer about SEPA.
open | The flaky test of the cart is not fixed yet.
open | We need to decide who hosts the docs.
preference | Bitte antworte immer auf Deutsch, Code bleibt englisch.
decision | Wir haben beschlossen, Kafka nicht einzusetzen.
fact | Der Testserver läuft auf 10.0.2.14.
open | Die Übersetzungen fehlen noch.
preference | Je préfère les messages de commit au présent.
fact | La base de test est vidée chaque nuit.
decision | Decidimos usar Terraform para la infraestructura.
done | Migrated the orders table to partitions.
done | Fixed the double charge: the worker took the same job twice.
done | Released version 2.14 to all customers.
done | The login page was moved to the new design system.
- | Thanks, that looks good.
- | What does this function do?
- | ok
- | Let me think about it.
- | Can you run the tests again?
- | It works now.
- | Hmm, strange.
- | The build is red right now.
- | Good morning!
- | see above
- | Lunch at 12:30 with Tom.
- | Try again please.
- | Same problem here.
- | Here is the log.
- | Looks like it might rain.
`);

/** Written apart from all rules. */
export const JUDGED_NOTES = readNotes(`
preference | Never push directly to main.
preference | Don't touch the generated files under src/gen.
fact | [metrics] The metrics endpoint of the gateway is on port 9102.
fact | [session] Sessions expire after 20 minutes.
fact | [staging] The staging cluster is in eu-west-1.
fact/decision | [deploys] Deploys happen on Thursdays.
fact | [fares] Petra is the owner of the fares service.
fact | [mail] Tickets are sent by SendGrid.
decision/fact | [tests] We use Jest for unit tests.
fact | [upload] The max upload size is 8 MB.
fact | [runtime] Node 18 is the runtime in production.
fact | [locale] The default locale is en-GB.
preference | [pulls] I want pull requests with at most 200 changed lines.
fact | [flag] Flag seat-map is off for everybody.
fact | [testdb] Die Testdatenbank heißt harbor_test.
fact | [backups] Backups are kept for 14 days.
open | [map] Open: choose a map provider.
preference | Use tabs in the Go code.
preference | Explain SQL in a comment above the query.
preference | I like error messages that name the file.
- | Great, thank you!
preference | Ask before you delete a migration.
preference | Please no emojis in commit messages.
decision | Agreed: the seat map is rendered on the server.
decision | We dropped GraphQL; only REST remains.
- | Which file was it?
decision | For queues we picked NATS over RabbitMQ because of its size.
fact/decision | Prices are rounded per passenger, not per booking.
fact | The harbour authority's API allows 5 requests a second.
fact | Booking codes have six letters without I and O.
fact | Secrets are in Vault under kv/harbor.
- | I am back from lunch.
fact | The mobile app reads /v3 only.
fact | Load tests run on k6 in the repository perf.
fact | [metrics] Gateway metrics moved to port 9464.
fact | [session] Session expiry is 45 minutes since the audit.
fact | [staging] Staging runs in eu-central-1, eu-west-1 is gone.
decision/fact | [deploys] We deploy on Tuesdays instead of Thursdays.
- | Run it once more.
fact | [fares] Fares service: Idris took over from Petra.
fact/decision | [mail] Ticket mails go through Postmark, SendGrid was too slow.
decision/fact/done | [tests] Unit tests run with Vitest; Jest was removed.
fact/done/decision | [upload] Max upload size raised to 25 MB.
fact | [runtime] Production runtime is Node 22.
fact/decision/done | [locale] Default locale changed to nl-NL.
preference | [pulls] Pull requests may have up to 400 changed lines, I changed my mind.
- | Never mind.
fact | [flag] Flag seat-map is on for 20 percent of customers.
fact | [testdb] Die Testdatenbank heißt jetzt harbor_ci.
fact/decision | [backups] Backups: retention 35 days from December on.
decision | [map] We chose MapTiler as the map provider.
open | Still to do: refunds for cancelled crossings.
open | The Safari bug with the date picker is unsolved.
- | The tests are green.
open | Waiting for legal to approve the new terms.
open | Next step: move the scheduler off the web process.
done | Finished the migration of passengers to the new table.
done | The memory leak in the PDF worker came from unclosed fonts; fixed in 1.8.3.
- | Something is off with the numbers today.
- | Let us see tomorrow.
`);
