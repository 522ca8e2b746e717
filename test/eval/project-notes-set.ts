/**
 * 60 notes of a project, oldest first: where a context must tell each (either of two where both are right), `-` if it must not, then the text. `<` before the text: the
 * note before it has the value that this one replaces.
 */
export const PROJECT_NOTES = `
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
fact | The dev server listens on port 4310.
fact | < The dev server listens on port 4311 now.
fact | Deploys go to Fly.io.
decision/fact | < We deploy to Hetzner instead of Fly.io now.
fact | The log retention is 30 days.
fact | < The log retention is 90 days now.
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
`
  .trim()
  .split("\n")
  .map((line) => {
    const [, part = "", isLater, text = ""] = /^(\S+) \| (< )?(.+)$/.exec(line) ?? [];
    return { part, isLater: isLater !== undefined, text };
  });
