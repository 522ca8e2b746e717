/** Projects by which the rules and figures of a context were chosen. See `context-set.ts` for the marks. */
export const TUNED: readonly string[] = [
  `shop | ada |
   + 210 Always use pnpm in this repository, never npm or yarn.
   + 150 - I prefer short answers without an introduction.
   x 120 We use PayPal for all payments.
   + 60 We decided to move payments from PayPal to Stripe Checkout because of the dispute fees.
   + 45 The staging database runs on port 5433 of db-staging.internal.
   . 44 Ran the linter, two warnings about unused imports.
   . 43 - Bought a new kettle, the old one leaked.
   + 20 Prices are stored in cents as integers, decided after the rounding bug in March.
   . 15 Looked at three icon libraries today, nothing special.
   + 3 Implemented the refund webhook and its retries in src/payments/refund.ts.
   + 2 TODO: refunds above 500 euros still need a manual approval step.
   . 12 other We decided to use MongoDB for the event log.
   . 10 other Always write commit messages in German.
   d 5 Stripe Checkout is a prebuilt payment form. You must always verify webhook signatures before fulfilment.
   d 5 We recommend that you never store card numbers. Decide on a retention policy first.
   . 1 Standup was short, Jo was ill.
   . 1 Lunch with the design team at the Thai place.
   . 1 The CI queue was slow this morning.
   . 1 Reinstalled the VPN client on the laptop.
   . 1 Read the newsletter about CSS anchors.
   . 1 Jo is back on Thursday.`,
  `github.com/lena/fieldnotes | lena |
   + 300 - Please never add emojis to code or commit messages.
   + 200 The app must work offline first; every screen reads from SQLite, not from the network.
   ~ 180 Sync uses CouchDB replication.
   + 90 We dropped CouchDB; sync is now a plain append-only log over HTTPS.
   + 70 Minimum supported Android version is 9, because the rangers have old Nokia phones.
   + 30 No, the GPS accuracy is stored in metres, not in feet.
   . 28 The map tiles looked fine in the demo.
   . 27 - Dentist appointment went well.
   + 6 Fixed the crash when a photo is larger than 20 MB by streaming it to disk.
   + 5 Still open: photos taken in landscape are rotated wrongly on iOS.
   . 4 Merged Dependabot updates.
   . 4 Renamed two variables in MapView.
   . 3 other The release train leaves every second Tuesday.
   . 3 Drank too much coffee and tidied the backlog.
   . 2 Weather was too bad to test outside.
   . 2 Answered a few emails of testers.
   . 1 Phone battery swells, ordered a new test device.`,
  `thesis | marc |
   + 400 My supervisor is Prof. Okafor; she wants drafts as PDF on Fridays.
   + 250 I cite in APA style, seventh edition.
   x 220 The thesis is about urban heat islands in Lyon.
   + 160 Changed the topic: the thesis is about urban heat islands in Marseille, because Lyon has no open sensor data.
   + 90 Decided to use random forests instead of kriging for the interpolation.
   + 40 The sensor data lie in /data/marseille/2025 as Parquet files.
   . 35 Read a paper on albedo, boring.
   . 33 - Cinema with Anaïs, good film.
   + 8 Finished the first draft of chapter three, results of the winter campaign.
   + 4 Next: rerun the model without the sensors of the harbour, they drift.
   . 3 Library was closed for a fire drill.
   . 3 Coffee machine of the lab is broken.
   . 2 Slept badly.
   d 30 Random forests are an ensemble learning method. Always tune the number of trees.
   d 30 APA style asks for a running head. Never use footnotes for citations.
   . 1 Proofread a friend's application.
   . 1 Ordered printer paper.`,
  `haus | jonas |
   + 500 Ich bevorzuge Angebote per E-Mail, nie per Telefon.
   + 200 Die Wärmepumpe ist eine Vaillant aroTHERM, Vertragsnummer 4471-09.
   x 150 Wir haben uns für Laminat im Obergeschoss entschieden.
   + 80 Statt Laminat nehmen wir im Obergeschoss Parkett aus Eiche.
   + 60 Der Elektriker heißt Herr Brandt, Firma Lichtwerk, 0341 5567.
   + 21 Beschlossen: das Bad wird erst 2027 renoviert, weil das Geld fehlt.
   . 20 - Mit Oma telefoniert, ihr geht es gut.
   . 18 Farbmuster im Baumarkt angeschaut.
   + 5 Die Dachrinne wurde repariert und die Rechnung bezahlt.
   + 3 Offen: Förderantrag bei der KfW muss noch bis Ende Dezember gestellt werden.
   . 2 Paket beim Nachbarn abgeholt.
   . 2 Rasen gemäht, vermutlich zum letzten Mal.
   . 1 Müllabfuhr kam zu spät.
   . 1 Glühbirne im Keller gewechselt.
   d 40 Eine Wärmepumpe muss immer hydraulisch abgeglichen werden. Wir empfehlen eine jährliche Wartung.
   . 1 other Die Firmenwebsite wird auf Astro umgestellt.`,
  `- | ines |
   + 300 I am vegetarian and I do not eat mushrooms.
   + 250 My daughter Mira is eight and plays handball on Wednesdays.
   x 200 I work at the city library.
   + 90 I left the library; since August I work for the museum of natural history.
   + 60 I prefer trains to planes, even when it takes a day longer.
   + 30 We decided to spend Christmas at my brother's place in Porto.
   f 30 Mira | goes to | Goethe primary school
   F 300 Mira | goes to | Little Acorns kindergarten
   . 25 Rain all day, stayed in.
   . 20 Watched a documentary on octopuses.
   + 6 Booked the train to Porto for 22 December, seats 41 and 42.
   + 4 I still have to renew Mira's passport before the trip.
   . 3 Made soup.
   . 2 The neighbour's cat was on the balcony again.
   . 2 Bought stamps.
   . 1 Slept until ten.
   d 15 Porto is a coastal city in Portugal. You should always book early for Christmas.
   d 15 Vegetarians must make sure to get enough iron.`,
  `infra | sam |
   + 260 - I want commands as one-liners that I can paste, without prompts like $.
   + 190 Production is Kubernetes 1.31 on Hetzner, three nodes, cluster name prod-fsn.
   + 140 Never run terraform apply without a plan that a second person has read.
   ~ 130 Secrets live in Ansible Vault.
   + 50 Secrets moved from Ansible Vault to SOPS with age keys.
   + 33 Backups of Postgres run at 02:30 UTC with pgBackRest to the bucket pg-backups-eu.
   + 25 Correction: the bucket is in Falkenstein, not in Helsinki.
   . 22 Upgraded kubectl on my laptop.
   . 21 Grafana looked normal.
   . 20 other Terraform state of the lab is stored locally.
   + 7 Migrated ingress from nginx to Traefik and removed the old charts.
   + 6 Certificates of the old domain expire on 4 January, somebody must still remove the DNS records.
   . 4 Closed six stale tickets.
   . 4 Watched the keynote.
   . 3 Alert for disk usage was a false alarm.
   . 3 Paired with Nora on her dashboard.
   . 2 Quiet on-call shift.
   d 60 Traefik is a reverse proxy. You must never expose the dashboard without authentication.
   . 1 - Bike got a flat tyre.`,
  `novel | tess |
   + 320 I write in British English and in past tense.
   + 280 Main character: Ottilie Marsh, 34, a lighthouse keeper's daughter.
   x 240 The story is set in 1922.
   + 100 The story is set in 1931 instead, so that the radio station makes sense.
   + 70 Chapters should stay below 3,000 words.
   + 45 Decided that the brother survives the storm and comes back in chapter twelve.
   . 40 Wrote 400 words, deleted 380.
   . 30 - New running shoes.
   + 9 Finished the second draft of chapter eight.
   + 4 To do: check whether the ferry ran in winter in 1931.
   . 3 Watched the sea for an hour.
   . 2 Tea with Bridget.
   . 2 Wrote in the garden.
   . 1 Could not concentrate.
   d 90 Lighthouses must always be manned in fog. Keepers decided the shifts among themselves.
   . 1 other The short story needs a new title.`,
  `api-gateway | ravi | rate limits for partners
   + 170 Rate limits are per API key, 600 requests a minute by default.
   + 120 We agreed that partner keys get 6,000 requests a minute, but only on /v2.
   + 110 Rate limit counters live in Redis, key prefix rl:, with a sliding window.
   x 100 Partners authenticate with basic auth.
   + 65 Partners authenticate with mutual TLS now, basic auth was switched off.
   . 60 The logo in the docs was replaced.
   . 50 Changelog entries are written in the imperative.
   + 11 Added the header RateLimit-Remaining to all answers of /v2.
   + 7 Open question for Maya: shall a partner's burst be 2x or 3x the limit.
   . 6 Removed dead code in the OAuth tests.
   . 5 Team retro: more pairing.
   . 4 Read RFC 9457.
   . 3 other Rate limits of the mobile backend are 100 a minute.
   . 2 - Flight to Pune was delayed.
   . 2 Updated the node image.
   d 20 Redis is an in-memory store. Always set a maxmemory policy.
   + 200 - I prefer tables over prose when you compare options.
   . 1 Laptop restarted twice.`,
  `cli-tool | noor |
   + 180 c=preference Noor wants every public function to have a docstring with an example.
   + 150 c=decision Use clap derive macros, not the builder, for all subcommands.
   x 100 c=decision Configuration is read from YAML.
   + 40 c=decision Configuration is read from TOML, since YAML surprised users with booleans.
   + 30 c=correction The binary is called tidy-logs, not logtidy.
   + 30 c=fact CI runs on self-hosted runners labelled arm64-big.
   + 5 c=summary Session of Tuesday: split parser.rs into lexer and parser, tests for quoted fields, benchmark shows 2.1 times the speed.
   . 40 c=summary Old session: renamed the crate, set up the repository, wrote the readme.
   + 4 c=open The Windows build fails in the test path_with_spaces.
   . 9 c=open The benchmark of the lexer is missing.
   = 5 c=done Wrote the benchmark of the lexer in benches/lexer.rs.
   . 3 Looked at crates for colours.
   . 2 Formatted the readme.
   . 2 other c=decision Use YAML for all configuration.
   . 1 - Groceries: oats, apples, tofu.
   d 12 clap is a command line argument parser. You must always set a version.`,
  `garden | ewa |
   + 400 I never use chemical pesticides.
   + 365 The soil is heavy clay, pH 7.4 by the test of last November.
   x 330 Tomatoes grow in bed two.
   + 120 Tomatoes moved to bed four because of blight in bed two.
   + 100 Decided to plant a hedge of hornbeam instead of thuja along the road.
   + 60 The well pump is a Grundfos SBA 3-45, fuse 12.
   . 40 Saw a hedgehog.
   . 35 Slugs again.
   + 8 Planted 40 cloves of garlic Messidrome in bed three.
   + 5 Still to do: bring the dahlia tubers in before the first frost.
   . 4 Nice evening light.
   . 3 Swept leaves.
   . 2 Neighbours burned something.
   . 2 - Passport photo taken.
   . 1 Cold hands.
   d 80 Garlic should be planted in October. Never plant it after onions.
   f 60 Ewa | is member of | allotment club Sonnenhang`,
  `appli-mobile | claire |
   + 200 Je préfère que les commentaires du code soient en français.
   + 150 L'API de production répond sur api.velo-lyon.fr, version 3.
   x 140 Nous utilisons Redux pour l'état global.
   + 50 Nous avons remplacé Redux par Zustand, plus simple à tester.
   + 30 Décidé : pas de connexion par Facebook, seulement par e-mail.
   . 29 Journée calme.
   . 28 - Acheté des chaussures.
   + 6 Corrigé le bug des notifications en double sur Android 14.
   + 3 À faire : traduire l'écran d'accueil en italien avant la démo.
   . 2 Déjeuner avec l'équipe.
   . 2 Le wifi du bureau est lent.
   . 1 Relu deux articles sur le design.
   d 25 Zustand est une bibliothèque de gestion d'état. Il faut toujours typer le store.
   . 1 other Le site vitrine utilise Redux.`,
  `data-pipeline | kofi |
   + 230 - Explain trade-offs before you write code, I always want to choose myself.
   + 180 The warehouse is BigQuery, dataset analytics_eu, region europe-west3.
   + 120 Jobs are scheduled by Dagster; Airflow was rejected because of the upgrade pain.
   ~ 110 The daily export lands at 05:00.
   + 41 The daily export lands at 03:30 now, finance needs it before opening.
   + 38 Customer ids are hashed with a salt that lives in Secret Manager under salt-2025.
   . 30 Cleaned up old branches.
   . 22 Dashboard colours discussed for an hour.
   + 10 Backfilled March to June after the schema change of orders_v2.
   + 6 The unit tests of dedupe() are flaky on CI; cause unknown, must be looked at.
   . 5 Onboarding call for a new colleague.
   . 4 Cost report looks fine.
   . 3 other Exports of the lab project land at noon.
   . 2 - Watched football.
   . 2 Rebased twice.
   . 1 Restarted Docker.
   d 50 Dagster is an orchestrator. Always define asset keys explicitly.
   . 1 Typo in the wiki fixed.`,
];
