/** Projects by which a context is judged: no rule and no figure was chosen by them. See `context-set.ts` for the marks. */
export const JUDGED: readonly string[] = [
  `billing | omar |
   + 220 Invoices are numbered YYYY-NNNNN and numbers are never reused.
   + 180 - When you show me SQL, format keywords in upper case.
   x 160 VAT is calculated per invoice.
   + 75 VAT is calculated per line from now on, the auditor asked for it.
   + 60 Jobs that send mail run on the worker pool mail-eu with at most 8 threads.
   + 35 We will keep XML invoices for ten years, in the bucket invoices-archive.
   . 33 Refactored a helper for dates.
   . 30 Long meeting about holidays.
   . 21 - Concert tickets for June.
   + 9 Shipped credit notes: they reference the original invoice and reverse every line.
   + 4 The export for Datev is not finished, the column for cost centres is missing.
   . 3 Reviewed a pull request of Lin.
   . 3 Tests took eleven minutes.
   . 2 Office moved two desks.
   . 2 Coffee with Lin.
   . 1 Nothing much.
   d 40 Invoices must always carry the tax number. Never change an issued invoice.
   . 1 other VAT is calculated per order.`,
  `github.com/kim/synth | kim |
   + 350 Audio callbacks must not allocate memory.
   + 190 - I like code without abbreviations in names.
   + 150 Sample rate is fixed at 48 kHz.
   ~ 130 The plugin is built with JUCE 7.
   + 80 The plugin is built with JUCE 8 now, because of the new renderer.
   + 55 The filter is a zero-delay feedback ladder; the biquad was thrown out since it clicked.
   . 52 Played with presets.
   . 40 - New strings on the guitar.
   + 20 The licence server is at license.kimsynth.dev, the key pair is rotated in January.
   + 7 Rewrote the envelope generator with exponential segments.
   + 5 Remaining before the beta: automation of the second oscillator does not work in Logic.
   . 4 Sorted samples.
   . 3 Asked in the forum about CLAP.
   . 2 Listened to old demos.
   . 2 Ate too late.
   . 1 Updated the compiler cache.
   d 70 JUCE is a framework. You should never lock in the audio thread.
   . 1 other The mobile app samples at 44.1 kHz.`,
  `phd-admin | marta |
   + 280 My student number is 2217834 and my faculty is physics.
   + 200 I would rather get feedback as a list of points than as running text.
   x 190 My second examiner is Dr. Lindqvist.
   + 70 Dr. Lindqvist retired, the second examiner is Dr. Adeyemi instead.
   + 50 I chose to write the thesis cumulatively, with four papers.
   . 45 The canteen has a new menu.
   + 25 Paper two was rejected by PRB; we resubmit to New Journal of Physics.
   + 6 Submitted the travel refund for the summer school in Erice.
   + 2 The form for the extension of the contract must be at the office by 15 December.
   . 2 Group photo.
   . 2 Lost my scarf.
   . 1 Queue at the printer.
   . 1 - Yoga in the evening.
   . 1 Read about quantum dots in a magazine.
   d 60 Students should always register their thesis in time. Extensions are decided by the board.
   f 200 Marta | is supervised by | Prof. Ruiz`,
  `werkstatt | uwe |
   + 600 Bitte alle Maße in Millimetern angeben.
   + 300 Die Bandsäge ist eine Felder FB 510, Baujahr 2014.
   ~ 200 Holz bestelle ich bei Sägewerk Kröger.
   + 90 Holz bestelle ich jetzt bei Holzhandel Meinert, Kröger hat geschlossen.
   + 40 Für die Küche Albers haben wir uns auf Esche geölt geeinigt, nicht lackiert.
   + 30 Frau Albers ist nur dienstags und freitags erreichbar.
   . 25 Werkstatt gefegt.
   . 20 - Skat mit den Jungs.
   + 7 Korpusse der Küche Albers verleimt und geschliffen.
   + 3 Scharniere für die Küche Albers müssen noch bestellt werden.
   . 2 Späne abgeholt.
   . 2 Radio läuft wieder.
   . 1 Kaffee war alle.
   . 1 Kalt in der Halle.
   d 100 Esche ist ein hartes Holz. Immer mit scharfem Werkzeug arbeiten.
   . 1 other Die Treppe Jansen wird aus Buche gebaut.`,
  `- | priya |
   + 400 Call me Pri, not Priya.
   + 300 I am allergic to penicillin.
   + 150 My husband Dev works night shifts at St. Mary's hospital.
   x 140 We live in a flat in Leeds.
   + 45 We moved to a house in Otley, 12 Weston Lane.
   + 30 I made up my mind: I will do the part-time master's in data science at York.
   f 45 Priya | drives | a used Kona Electric
   F 700 Priya | drives | an old Polo
   . 28 Bread turned out flat.
   . 20 Long walk along the river.
   + 8 Handed in the application for York with both references.
   + 5 Boiler service has to be arranged before January.
   . 4 Cleaned windows.
   . 3 Called mum.
   . 2 The bins were late.
   . 1 Cinema was full.
   . 1 Watched snooker.
   d 25 York is a city in England. Applicants should always bring their passport.`,
  `mobile-bank | chen |
   + 240 - Do not use the word "simply" in explanations.
   + 200 Feature flags are in LaunchDarkly, environment key mob-prod.
   + 140 Agreed with security: no logging of account numbers, not even masked ones.
   ~ 120 The design system is Polaris.
   + 60 We replaced Polaris by our own components in packages/ui.
   + 44 The review board wants two approvals for anything in /auth.
   + 30 Not Tuesday: the release train leaves on Wednesdays at 14:00.
   . 26 Deleted screenshots.
   . 21 Chat with the intern.
   + 6 Biometric login works on both platforms, merged in PR 2217.
   + 3 Accessibility audit found low contrast on the transfer screen; not fixed yet.
   . 3 Wrote my weekly report.
   . 2 Tried a new font in the terminal.
   . 2 - Laundry.
   . 1 Meeting cancelled.
   . 1 Emulator was slow.
   d 33 WCAG asks for contrast. Always test with a screen reader.
   . 1 other Release train of the web team leaves on Mondays.`,
  `game-jam | leo |
   + 90 The theme is "tides", deadline 6 December at 18:00 CET.
   + 80 We use Godot 4.4 with C#, no GDScript.
   x 70 Art style is watercolour.
   + 40 Art style is one-bit pixels at 320x180 after all, watercolour took too long.
   + 38 Sofia makes the music, Ben the levels, I write the code.
   + 30 - I want tests only for rules of the game, not for rendering.
   . 25 Brainstormed names.
   + 10 Water simulation runs on a grid of 64 by 36 cells and is done.
   + 6 The player can fall out of level 3, must be fixed before Friday.
   . 5 Pizza night.
   . 4 Sofia sent a funny clip.
   . 3 Played a game by others.
   . 2 Renamed the repository once more.
   . 1 Stream was offline.
   . 1 - Haircut.
   d 15 Godot is an engine. Never free a node in its own signal.
   . 1 other We use Unity for the client work.`,
  `search-service | ana | ranking of products
   + 210 Ranking signals are text match, sales of 30 days and margin, in this order.
   + 140 We decided against learning to rank until there are a million clicks a week.
   x 130 Synonyms live in a CSV file in the repository.
   + 58 Synonyms moved into the admin tool, the CSV is gone.
   + 50 The index has 14 shards on es-prod-2.
   . 48 Fixed the footer.
   . 30 New chairs.
   + 12 A/B test of boosting new products ran for two weeks: plus 1.8 percent revenue.
   + 5 Ranking of bundles is wrong because their sales are counted twice; to be solved.
   . 4 Read an article on vector databases.
   . 4 other Ranking of articles uses dwell time.
   . 3 Stand-in for Tim.
   . 3 - Swimming.
   . 2 Cleaned the inbox.
   . 1 Slack was down.
   d 30 Elasticsearch is a search engine. Always size shards below 50 GB.
   + 300 - Give me numbers first, then the explanation.`,
  `home-server | finn |
   + 190 c=preference Finn wants systemd units instead of Docker for everything that runs at home.
   + 150 c=fact The server is an N100 box with 32 GB, host name nest, address 10.0.4.2.
   x 140 c=decision Photos are kept in Nextcloud.
   + 60 c=decision Photos are kept in Immich, Nextcloud was too slow with 90,000 files.
   + 40 c=correction Backups go to the disk at Lea's place, not to the cloud.
   + 30 c=decision Remote access goes over WireGuard only, no port is open otherwise.
   + 4 c=summary Session of Sunday: moved Jellyfin to the new disk, fixed permissions, transcoding uses the iGPU now.
   . 50 c=summary Old session: first install of Debian, partitioning, ssh keys.
   . 12 c=open Jellyfin's transcoding with the iGPU does not work.
   = 4 c=done Transcoding of Jellyfin with the iGPU works after adding the user to the group render.
   + 3 c=open Certificates for nest.home.arpa expire in January and renewal is not automated.
   . 3 Watched a video on racks.
   . 2 Fan noise measured.
   . 1 - Board game evening.
   . 1 other c=decision Docker is used for all services of the club.
   d 9 Immich is a photo server. Always read the release notes before you upgrade.`,
  `app-viajes | lucia |
   + 210 Prefiero que las respuestas sean breves y en español.
   + 160 La base de datos es PostgreSQL 17 en el servidor rutas-db.
   x 150 Usamos Mapbox para los mapas.
   + 70 Cambiamos Mapbox por MapLibre porque era demasiado caro.
   + 40 Acordamos no guardar la ubicación de los usuarios más de siete días.
   . 35 Reunión larga.
   . 30 - Cumpleaños de mi prima.
   + 8 Arreglé el error del calendario cuando cambia la hora.
   + 4 Falta traducir los correos de confirmación al portugués.
   . 3 Café con Pablo.
   . 2 Leí sobre accesibilidad.
   . 1 Internet lento.
   d 30 MapLibre es una biblioteca de mapas. Siempre hay que citar las fuentes.
   . 1 other El blog usa Mapbox.`,
  `robot-arm | yuki |
   + 330 All angles in radians, all lengths in metres, no exceptions.
   + 240 The controller board is a Teensy 4.1, firmware in C++20.
   ~ 200 Joint two has a stepper motor.
   + 90 Joint two got a brushless motor with harmonic drive instead of the stepper.
   + 60 Inverse kinematics is solved analytically, the numeric solver was too slow.
   + 33 Emergency stop is wired to pin 33 and cuts the 48 V rail.
   . 30 Printed a new cable clip.
   . 28 - Visited my aunt.
   + 11 Calibrated the wrist, error is now below 0.3 mm.
   + 5 The gripper loses its zero after power cycles, reason unclear.
   . 4 Cleaned the bench.
   . 3 Ordered screws.
   . 2 Took photos for the club.
   . 1 Sensor data looked fine.
   d 55 Harmonic drives have no backlash. Never overload them.
   . 1 other The drone uses degrees.
   + 100 - I read on a phone, so keep lines of code under 80 columns.`,
  `newsletter | sara |
   + 260 The newsletter goes out on the first Thursday of the month.
   + 210 - Please write in a plain tone, no exclamation marks.
   x 180 We send with Mailchimp.
   + 66 Since September we send with Buttondown.
   + 50 Decided to drop the section with jobs, only 2 percent clicked it.
   + 45 The list has 4,180 readers, a third of them in Austria.
   . 40 Tried a darker blue.
   . 30 Phone call with the printer.
   + 9 Wrote and scheduled the November issue about repair cafés.
   + 4 For December an interview partner is missing.
   . 3 - Bought wool.
   . 2 Inbox zero.
   . 2 Someone unsubscribed twice.
   . 1 Lunch outside.
   d 44 Newsletters should always have an unsubscribe link. Never buy addresses.
   . 1 other The podcast comes out on Mondays.`,
];
