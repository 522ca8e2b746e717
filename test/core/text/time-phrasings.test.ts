import { describe, expect, it } from "vitest";
import { asksForNothingElse, timeOfQuestion } from "../../../src/core/text/time-expressions.ts";

/** A Thursday. */
const NOW = Date.UTC(2026, 10, 19, 15);

/**
 * Ways in which people ask for a time, a line each: the window, `|`, the question. A window is a day, month or year, or
 * `from..to` without the end, either of which may be missing; `-` where no time is meant.
 */
const PHRASINGS: Readonly<Record<string, string>> = {
  English: `
    2026-11-02..2026-11-09 | what did we do in week 45?
    2025-11-03..2025-11-10 | deploys in calendar week 45 of 2025
    - | what do I train in week 3?
    - | Q3 plan
    - | what do we plan for Q1?
    - | what did I write about week 3 of the course?
    2026-01..2026-04 | books of the first three months of 2026
    2025-10..2026-01 | invoices of the last three months of 2025
    2026.. | books read since the start of the year
    2026-11-18 | what did I eat yesterday
    2026-11-18 | what did the plumber say last night?
    2026-11-17 | the day before yesterday, what was it that Ann wanted?
    2026-11-09..2026-11-16 | calls last week
    2026-11-16..2026-11-23 | what did we spend this week
    2026-10 | electricity reading last month
    2026-11-16 | bugs found three days ago
    2026-11-02..2026-11-10 | who visited two weeks ago?
    2026-11-02..2026-11-10 | who visited a couple of weeks ago?
    2026-11-02..2026-11-10 | who visited a fortnight ago?
    2026-08-04..2026-09-05 | recipe I tried about three months ago
    2026-11-09.. | runs in the last ten days
    2026-11-12.. | runs over the past week
    2026-11-05.. | runs in the past fortnight
    2026-11-14..2026-11-16 | what did the kids do at the weekend?
    2026-11-14..2026-11-16 | films we saw last weekend
    2026-05 | decisions in May 2026
    2026-05 | decisions from May
    2026-03-03 | letter of 3 March
    2026-03-03 | letter of March 3rd, 2026
    2026-10-11..2026-10-21 | blood pressure mid-October
    2026-10-01..2026-10-11 | blood pressure in early October
    2026-10-21..2026-11-01 | blood pressure at the end of October
    2026-10-21..2026-11-01 | blood pressure late last month
    2025-09-01..2026-01 | decisions in late 2025
    2026-01..2026-05-02 | plans from the beginning of the year
    2026-09.. | mileage since September
    2025.. | mileage since 2025
    ..2026-03 | drafts before March 2026
    2026-06.. | pills taken since early June
    2026-05..2026-08 | fieldwork between May and July
    2025-06..2025-09 | holidays in summer 2025
    2026-11-16 | what did I do on Monday?
    2026-11-16 | what happened this Monday
    - | what time is judo on Monday?
    2026-11-09..2026-11-19 | what came yesterday or last week?
    2025-12-24..2025-12-27 | presents last Christmas
    2026-10-01..2026-10-11 | what happened between the 1st and the 10th of October?
    2026-10-01..2026-10-11 | meetings between 1 and 10 October 2026
    2026-10-03..2026-10-06 | guests from 3 to 5 October
    2026-10-03..2026-10-06 | guests, October 3–5
    2026-10-03..2026-10-06 | guests from October 3rd to 5th, 2026
    2025..2025-04 | sales in the first quarter of 2025
    2025-10..2026 | sales in the last quarter of 2025
    2025-04..2025-07 | sales in Q2 2025
    2026-07..2026-10 | sales in Q3
    2026-07..2026-10 | sales last quarter
    2026-10..2027 | sales this quarter
    2026-01..2026-07 | what did we decide in the first half of 2026
    2026-07..2027 | what did we decide in the second half of the year
    2026-05-16..2026-06 | rain in the second half of May
    2025..2025-04 | sales in the first quarter of last year
    2025..2025-04 | sales in the first quarter of the year 2025
    2026..2026-04 | sales in the first quarter of this year
    - | sales planned for the first quarter of next year
    2025-10..2026 | sales in Q4 last year
    2025-10..2026 | sales in the last quarter of last year
    2026-10..2027 | sales in the last quarter of the year
    2025-07..2026 | what did we decide in the second half of last year
    2025-05-16..2025-06 | rain in the second half of May 2025
    2024-10-01..2024-10-16 | rain in the first half of October 2024
    2026-10-01..2026-10-16 | rain in the first half of last month
    2025-03-21..2025-04-01 | rain at the end of March last year
    2026-11-18..2026-11-26 | guests between the 18th and the 25th of November
    2026-11-18..2026-11-26 | guests from 18 November to 25 November
    2026-11-18..2026-11-26 | guests, November 18–25
    2025-11-20..2025-11-26 | guests between the 20th and the 25th of November
    2026-10-28..2026-11-04 | guests between the 28th and the 3rd of November
    2025-10-28..2025-11-04 | guests between the 28th and the 3rd of November last year
    2025-12-28..2026-01-04 | guests between the 28th and the 3rd of January
    2025-12-28..2026-01-04 | guests, December 28–3
    2026-05-28..2026-06-04 | guests from May 28 to 3 June
    2024-02-29 | letter of 29 February
    2026-11-03..2026-11-10 | what happened between the 3rd and the 9th?
    2026-11-18..2026-11-26 | guests from the 18th to the 25th
    2026-10-28..2026-11-04 | guests between the 28th and the 3rd
    2026-10-28..2026-11-04 | guests between the 28th of October and the 3rd
    2026-10-03..2026-10-10 | guests on the 3rd and 9th of last month
    2026-11-03 | guests on the 3rd of this month
    2026-11-09 | what did the doctor say on the 9th about my knee?
    2026-10-25 | what did I note on the 25th
    2026-11-09.. | mileage since the 9th
    ..2026-11-09 | drafts before the 9th
    2026-05-04.. | drafts after the 3rd of May
    - | who wrote the 3rd edition?
    - | which firms sit on the 2nd floor?
    - | who lives on the 2nd or 3rd floor?
    - | what is between the 3rd and the 4th floor?
    - | what stands between the 2nd and 3rd note?
    - | who won on the 3rd try?
    - | what is on the 9th of the lists?
    - | where is the third quarter of the field?
    2026-11-12 | what happened today a week ago?
    2025-11-19 | what happened a year ago today?
    2026-10-31 | what happened on the last day of October?
    2026-10-01 | what happened on the first day of last month?
    2026-11-08..2026-11-15 | what happened in the second week of November
    2025-10-25..2025-11 | what happened in the last week of October 2025
    2026-09-14..2026-09-21 | what happened in the week of 15 September?
    2025-09-15..2025-09-22 | calls in the week of September 17, 2025
    2026-06..2026-08 | rain in June and July this year
    2026-11-09..2026-11-16 | calls last week, Jan
    2026..2026-07 | sales in H1 2026
    2026..2026-04 | sales in 2026 Q1
    2026-11-02..2026-11-09 | calls the week before last
    2024 | holidays the year before last`,
  German: `
    2026-11-02..2026-11-09 | was steht in KW 45?
    2026-11-02..2026-11-09 | was haben wir in Woche 45 gemacht?
    2025-11-03..2025-11-10 | Termine in der Kalenderwoche 45 2025
    2026-01..2026-04 | Bücher der ersten drei Monate 2026
    2025-10..2026-01 | Rechnungen aus den letzten drei Monaten 2025
    2026.. | gelaufene Kilometer seit Jahresbeginn
    2025.. | gelaufene Kilometer seit Jahresanfang 2025
    2025..2025-05-02 | was hat der Strom zu Jahresbeginn 2025 gekostet?
    2026-11-18 | was hat der Klempner gestern gesagt
    2026-11-18 | wer hat gestern Abend angerufen?
    2026-11-17 | was gab es vorgestern zu essen
    2026-11-17..2026-11-19 | was war vorgestern und gestern
    2026-11-09..2026-11-16 | Anrufe letzte Woche
    2026-11-09..2026-11-16 | Anrufe in der vorigen Woche
    2026-11-16..2026-11-23 | Ausgaben diese Woche
    2026-10 | Zählerstand letzten Monat
    2026-10 | Zählerstand im vergangenen Monat
    2026-11-16 | Fehler vor drei Tagen
    2026-11-02..2026-11-10 | wer war vor 14 Tagen da?
    2026-11-02..2026-11-10 | wer war vor zwei Wochen da?
    2026-08-04..2026-09-05 | Rezept von vor drei Monaten
    2026-11-09.. | Läufe in den letzten zehn Tagen
    2026-11-09.. | Läufe der letzten 10 Tage
    2026-11-14..2026-11-16 | was haben die Kinder am Wochenende gemacht
    2026-11-14..2026-11-16 | Ausflug letztes Wochenende
    2026-05 | Beschlüsse im Mai
    2026-03-03 | Brief vom 3. März
    2026-03-03 | Brief vom 03.03.2026
    2026-03-03 | Brief vom 3.3.
    2026-10-11..2026-10-21 | Blutdruck Mitte Oktober
    2026-10-01..2026-10-11 | Blutdruck Anfang Oktober
    2026-10-21..2026-11-01 | Blutdruck Ende letzten Monats
    2025-09-01..2026-01 | Entscheidungen Ende 2025
    2025-09-01..2026-01 | Entscheidungen Ende letzten Jahres
    2026-01..2026-05-02 | Pläne von Anfang des Jahres
    2026-09-14..2026-09-21 | was war in der Woche vom 15. September?
    2026-09.. | Kilometer seit September
    2026-06.. | Tabletten seit Anfang Juni
    ..2026-03 | Entwürfe vor März 2026
    2026-05..2026-08 | Arbeiten zwischen Mai und Juli
    2026-05..2026-08 | Arbeiten von Mai bis Juli
    2024-03..2024-06 | Arbeiten im Frühjahr 2024
    2025 | Urlaub letztes Jahr
    2025 | Urlaub voriges Jahr
    2026-11-16 | was war am Montag?
    - | wann ist am Montag Judo?
    2026-11-19 | was habe ich heute früh notiert?
    2026-11-05.. | was kam in den letzten 14 Tagen per Post
    2026-10-01..2026-10-11 | was war zwischen dem 1. und dem 10. Oktober
    2026-10-01..2026-10-11 | was war zwischen dem 1. und 10. Oktober 2026
    2026-10-03..2026-10-06 | Gäste vom 3. bis 5. Oktober
    2026-10-03..2026-10-06 | Gäste vom 3. bis zum 5. Oktober
    2025..2025-04 | Umsatz im ersten Quartal 2025
    2025-10..2026 | Umsatz im letzten Quartal 2025
    2025-04..2025-07 | Umsatz Q2 2025
    2026-07..2026-10 | Umsatz im letzten Quartal
    2026-01..2026-07 | was haben wir in der ersten Hälfte von 2026 entschieden
    2026-01..2026-07 | was haben wir im ersten Halbjahr 2026 entschieden
    2026-07..2027 | was haben wir in der zweiten Jahreshälfte entschieden
    2026-06-16..2026-07 | Regen in der zweiten Junihälfte
    2026-08-21..2026-09 | was stand Ende August an?
    2026-05.. | Regen von Mai an
    2025..2025-04 | Umsatz im ersten Quartal letzten Jahres
    2025..2025-04 | Umsatz im ersten Quartal des vergangenen Jahres
    2025..2025-04 | Umsatz im ersten Quartal des Jahres 2025
    2026..2026-04 | Umsatz im ersten Quartal dieses Jahres
    - | was ist im ersten Quartal nächsten Jahres geplant?
    2025..2025-07 | was haben wir im ersten Halbjahr letzten Jahres entschieden
    2025-07..2026 | was haben wir in der zweiten Hälfte des Jahres 2025 entschieden
    2025-05-16..2025-06 | Regen in der zweiten Hälfte Mai 2025
    2025-05-01..2025-05-16 | Regen in der ersten Maihälfte 2025
    2025-05-16..2025-06 | Regen in der zweiten Maihälfte letzten Jahres
    2025-05 | Regen im Mai letzten Jahres
    2026-11-18..2026-11-26 | Gäste vom 18. bis 25. November
    2026-10-28..2026-11-04 | Gäste vom 28. bis zum 3. November
    2026-11-03..2026-11-10 | was war zwischen dem 3. und 9.?
    2026-11-03..2026-11-10 | was war vom 3. bis zum 9. dieses Monats
    2026-10-03..2026-10-10 | was war vom 3. bis 9. letzten Monats
    2026-11-09 | was habe ich am 9. gemacht?
    2026-11-09.. | was ist seit dem 9. passiert?
    - | was liegt zwischen dem 3. und 4. Stock?
    - | wer wohnt im 3. Stock?
    - | wer war am 3. Spieltag da?
    - | wer ist am 3.4 schuld
    2026-11-12 | was war heute vor einer Woche?
    2025-11-19 | was war heute vor einem Jahr?
    2025-11-18 | was war gestern vor einem Jahr?
    2026-10-31 | was war am letzten Tag im Oktober?
    2026-11-02..2026-11-09 | Anrufe vorletzte Woche
    2026-11-09..2026-11-16 | wen hat letzte Woche Jan getroffen?`,
  French: `
    2026-11-02..2026-11-09 | qu'est-ce que j'ai fait la semaine 45 ?
    2026-01..2026-04 | livres lus pendant les trois premiers mois de 2026
    2026.. | livres lus depuis le début de l'année
    2026-11-18 | qu'a dit le plombier hier ?
    2026-11-18 | qui a appelé hier soir
    2026-11-17 | repas d'avant-hier
    2026-11-09..2026-11-16 | appels de la semaine dernière
    2026-11-16..2026-11-23 | dépenses de cette semaine
    2026-10 | relevé du mois dernier
    2026-10 | relevé du mois passé
    2026-11-16 | bogues trouvés il y a trois jours
    2026-11-02..2026-11-10 | visite il y a deux semaines
    2026-11-02..2026-11-10 | visite il y a une quinzaine de jours
    2026-11-02..2026-11-10 | visite il y a quinze jours
    2026-08-04..2026-09-05 | recette essayée il y a trois mois
    2026-11-09.. | courses des dix derniers jours
    2026-11-09.. | courses ces dix derniers jours
    2026-11-14..2026-11-16 | sorties du week-end dernier
    2026-11-14..2026-11-16 | sorties de ce week-end
    2026-05 | décisions en mai 2026
    2026-05 | décisions du mois de mai
    2026-03-03 | lettre du 3 mars
    2026-03-01 | lettre du 1er mars
    2026-03-03 | lettre du 03/03/2026
    2026-10-11..2026-10-21 | tension mi-octobre
    2026-10-01..2026-10-11 | tension début octobre
    2026-10-21..2026-11-01 | tension à la fin du mois d'octobre
    2025-09-01..2026-01 | décisions de fin 2025
    2026-01..2026-05-02 | projets du début de l'année
    2026-09.. | kilomètres depuis septembre
    2026-06.. | cachets depuis début juin
    ..2026-03 | brouillons avant mars 2026
    2026-05..2026-08 | travaux entre mai et juillet
    2026-05..2026-08 | travaux de mai à juillet
    2025-06..2025-09 | vacances de l'été 2025
    2025-06..2025-09 | vacances à l'été 2025
    2026-06..2026-09 | vacances l'été dernier
    2025 | voyages l'an dernier
    2025 | voyages l'année dernière
    2026-11-16 | qu'est-ce que j'ai fait lundi ?
    2026-11-16 | réunion de lundi dernier
    2026-10-01..2026-10-11 | qu'est-ce qui s'est passé entre le 1er et le 10 octobre 2026
    2026-10-03..2026-10-06 | les invités du 3 au 5 octobre
    2025..2025-04 | les ventes au premier trimestre 2025
    2025-10..2026 | les ventes au dernier trimestre de 2025
    2026-07..2026-10 | les ventes du trimestre dernier
    2026-01..2026-07 | décisions du premier semestre 2026
    2026-05-16..2026-06 | la pluie dans la deuxième moitié de mai
    2026-05-01..2026-05-16 | la pluie de la première quinzaine de mai
    2025..2025-04 | les ventes au premier trimestre de l'année dernière
    2025..2025-04 | les ventes au premier trimestre de l'année 2025
    2026..2026-04 | les ventes au premier trimestre de cette année
    - | les ventes au premier trimestre de l'année prochaine
    2025-05-16..2025-06 | la pluie dans la deuxième moitié de mai 2025
    2025-05 | la pluie en mai de l'année dernière
    2026-11-18..2026-11-26 | les invités du 18 au 25 novembre
    2026-10-28..2026-11-04 | les invités du 28 au 3 novembre
    2026-11-03..2026-11-10 | que s'est-il passé entre le 3 et le 9 ?
    2026-11-09 | qu'ai-je fait le 9 ?
    2026-10-03..2026-10-10 | les invités du 3 au 9 du mois dernier
    - | qui habite le 3 pièces ?
    - | une remise entre le 3 et le 9 pour cent
    2025-11-19 | qu'est-ce que j'ai fait il y a un an aujourd'hui ?
    2026-10-31 | la pluie du dernier jour d'octobre
    2026-11-02..2026-11-09 | appels de l'avant-dernière semaine`,
  Spanish: `
    2026-11-02..2026-11-09 | ¿qué hicimos en la semana 45?
    2026-01..2026-04 | libros de los tres primeros meses de 2026
    2026-01..2026-04 | libros de los primeros tres meses de 2026
    2026.. | libros leídos desde el comienzo del año
    2026-11-18 | qué dijo el fontanero ayer
    2026-11-18 | quién llamó anoche
    2026-11-18 | quién llamó ayer por la tarde
    2026-11-17 | qué comimos anteayer
    2026-11-09..2026-11-16 | llamadas de la semana pasada
    2026-11-16..2026-11-23 | gastos de esta semana
    2026-10 | lectura del mes pasado
    2026-11-16 | errores de hace tres días
    2026-11-02..2026-11-10 | visita hace dos semanas
    2026-11-02..2026-11-10 | visita hace un par de semanas
    2026-11-02..2026-11-10 | visita de hace quince días
    2026-08-04..2026-09-05 | receta que probé hace tres meses
    2026-11-09.. | carreras de los últimos diez días
    2026-11-09.. | carreras en los últimos 10 días
    2026-11-14..2026-11-16 | excursión del fin de semana pasado
    2026-11-14..2026-11-16 | excursión el finde pasado
    2026-05 | decisiones en mayo de 2026
    2026-03-03 | carta del 3 de marzo
    2026-03-03 | carta del 3/3/2026
    2026-10-11..2026-10-21 | tensión a mediados de octubre
    2026-10-01..2026-10-11 | tensión a principios de octubre
    2026-10-21..2026-11-01 | tensión a finales del mes pasado
    2025-09-01..2026-01 | decisiones de finales de 2025
    2026-01..2026-05-02 | planes de principios de año
    2026-09.. | kilómetros desde septiembre
    2026-06.. | pastillas desde principios de junio
    ..2026-03 | borradores antes de marzo de 2026
    2026-05..2026-08 | trabajos entre mayo y julio
    2026-05..2026-08 | trabajos de mayo a julio
    2025-06..2025-09 | vacaciones del verano de 2025
    2026-06..2026-09 | vacaciones del verano pasado
    2025 | viajes del año pasado
    2026-11-16 | ¿qué hice el lunes?
    2026-11-09..2026-11-16 | compras de la semana pasada o hace diez días
    2026-11-16 | reunión del lunes pasado
    2026-10-01..2026-10-11 | qué pasó entre el 1 y el 10 de octubre
    2026-10-03..2026-10-06 | los invitados del 3 al 5 de octubre de 2026
    2025..2025-04 | ventas en el primer trimestre de 2025
    2026-07..2026-10 | ventas del trimestre pasado
    2026-01..2026-07 | decisiones de la primera mitad de 2026
    2026-07..2027 | decisiones del segundo semestre
    2026-05-16..2026-06 | la lluvia en la segunda quincena de mayo
    2025..2025-04 | ventas en el primer trimestre del año pasado
    2025-10..2026 | ventas en el cuarto trimestre del año pasado
    2026..2026-04 | ventas en el primer trimestre de este año
    - | ventas en el primer trimestre del próximo año
    - | ventas en el primer trimestre del año que viene
    2025-05-16..2025-06 | la lluvia en la segunda quincena de mayo de 2025
    2025-05 | la lluvia en mayo del año pasado
    2026-11-18..2026-11-26 | los invitados del 18 al 25 de noviembre
    2026-10-28..2026-11-04 | los invitados entre el 28 y el 3 de noviembre
    2026-11-03..2026-11-10 | ¿qué pasó entre el 3 y el 9?
    2026-11-09 | ¿qué pasó el día 9?
    2026-10-03..2026-10-10 | los invitados del 3 al 9 del mes pasado
    - | qué hay entre el 3 y el 4 piso
    - | el 3 por ciento de qué
    2025-11-19 | ¿qué hice hoy hace un año?
    2026-10-31 | la lluvia del último día de octubre
    2026-11-02..2026-11-09 | llamadas de la penúltima semana`,
  Italian: `
    2026-11-02..2026-11-09 | cosa abbiamo fatto nella settimana 45?
    2026-01..2026-04 | libri dei primi tre mesi del 2026
    2026.. | libri letti dall'inizio dell'anno
    2026-11-18 | cosa ha detto l'idraulico ieri
    2026-11-18 | chi ha chiamato ieri sera?
    2026-11-17 | cena dell'altro ieri
    2026-11-17 | cena di due giorni fa
    2026-11-09..2026-11-16 | chiamate della settimana scorsa
    2026-11-09..2026-11-16 | chiamate della scorsa settimana
    2026-11-16..2026-11-23 | spese di questa settimana
    2026-10 | lettura del mese scorso
    2026-11-16 | errori di tre giorni fa
    2026-11-02..2026-11-10 | visita di due settimane fa
    2026-11-02..2026-11-10 | visita di un paio di settimane fa
    2026-11-02..2026-11-10 | visita di una quindicina di giorni fa
    2026-08-04..2026-09-05 | ricetta provata tre mesi fa
    2026-11-09.. | corse degli ultimi dieci giorni
    2026-11-09.. | corse negli ultimi 10 giorni
    2026-11-14..2026-11-16 | gita dello scorso fine settimana
    2026-11-14..2026-11-16 | gita nel weekend
    2026-05 | decisioni a maggio
    2026-05 | decisioni nel maggio 2026
    2026-03-03 | lettera del 3 marzo
    2026-03-03 | lettera del 3/3/2026
    2026-10-11..2026-10-21 | pressione a metà ottobre
    2026-10-01..2026-10-11 | pressione a inizio ottobre
    2026-10-21..2026-11-01 | pressione alla fine di ottobre
    2025-09-01..2026-01 | decisioni di fine 2025
    2026-01..2026-05-02 | piani dell'inizio dell'anno
    2026-09.. | chilometri da settembre
    2026-06.. | pastiglie dall'inizio di giugno
    ..2026-03 | bozze prima di marzo 2026
    2026-05..2026-08 | lavori tra maggio e luglio
    2026-05..2026-08 | lavori da maggio a luglio
    2025-06..2025-09 | vacanze nell'estate 2025
    2026-06..2026-09 | vacanze dell'estate scorsa
    2025 | viaggi dell'anno scorso
    2026-11-16 | cosa ho fatto lunedì?
    2026-11-16 | riunione di lunedì scorso
    2026-10-01..2026-10-11 | cosa è successo tra il 1° e il 10 ottobre
    2026-10-03..2026-10-06 | gli ospiti dal 3 al 5 ottobre 2026
    2025..2025-04 | vendite nel primo trimestre del 2025
    2026-07..2026-10 | vendite dello scorso trimestre
    2026-01..2026-07 | decisioni nella prima metà del 2026
    2026-07..2027 | decisioni del secondo semestre
    2026-05-16..2026-06 | la pioggia nella seconda metà di maggio
    2025..2025-04 | vendite nel primo trimestre dell'anno scorso
    2025..2025-04 | vendite nel primo trimestre dello scorso anno
    2026..2026-04 | vendite nel primo trimestre di quest'anno
    - | vendite nel primo trimestre del prossimo anno
    2025-05-16..2025-06 | la pioggia nella seconda metà di maggio 2025
    2025-05 | la pioggia nel maggio dell'anno scorso
    2026-11-18..2026-11-26 | gli ospiti dal 18 al 25 novembre
    2026-10-28..2026-11-04 | gli ospiti dal 28 al 3 novembre
    2026-11-03..2026-11-10 | cosa è successo tra il 3 e il 9?
    2026-11-09 | cosa ho fatto il 9?
    2026-10-03..2026-10-10 | gli ospiti dal 3 al 9 del mese scorso
    - | chi viene tra le 8 e le 10?
    2025-11-19 | cosa ho fatto oggi un anno fa?
    2026-10-31 | la pioggia dell'ultimo giorno di ottobre`,
  Portuguese: `
    2026-11-02..2026-11-09 | o que fizemos na semana 45?
    2026-01..2026-04 | livros dos primeiros três meses de 2026
    2026.. | livros lidos desde o início do ano
    2026-11-18 | o que disse o canalizador ontem
    2026-11-18 | quem ligou ontem à noite?
    2026-11-17 | jantar de anteontem
    2026-11-17 | jantar de há dois dias
    2026-11-09..2026-11-16 | chamadas da semana passada
    2026-11-16..2026-11-23 | despesas desta semana
    2026-10 | contagem do mês passado
    2026-11-16 | erros de há três dias
    2026-11-02..2026-11-10 | visita há duas semanas
    2026-11-02..2026-11-10 | visita há cerca de duas semanas
    2026-11-02..2026-11-10 | visita há umas duas semanas
    2026-11-02..2026-11-10 | visita de duas semanas atrás
    2026-11-02..2026-11-10 | visita há quinze dias
    2026-08-04..2026-09-05 | receita que fiz há três meses
    2026-11-09.. | corridas dos últimos dez dias
    2026-11-09.. | corridas nos últimos 10 dias
    2026-11-14..2026-11-16 | passeio do fim de semana passado
    2026-11-14..2026-11-16 | passeio no fim de semana
    2026-05 | decisões em maio
    2026-05 | decisões de maio de 2026
    2026-03-03 | carta de 3 de março
    2026-03-03 | carta de 03/03/2026
    2026-10-11..2026-10-21 | tensão em meados de outubro
    2026-10-01..2026-10-11 | tensão no início de outubro
    2026-10-21..2026-11-01 | tensão no final do mês passado
    2025-09-01..2026-01 | decisões no fim de 2025
    2026-01..2026-05-02 | planos do início do ano
    2026-09.. | quilómetros desde setembro
    2026-06.. | comprimidos desde o início de junho
    ..2026-03 | rascunhos antes de março de 2026
    2026-05..2026-08 | trabalhos entre maio e julho
    2026-05..2026-08 | trabalhos de maio a julho
    2025-06..2025-09 | férias no verão de 2025
    2026-06..2026-09 | férias do verão passado
    2025 | viagens do ano passado
    2026-11-16 | o que fiz na segunda-feira?
    2026-11-16 | reunião de segunda passada
    2026-10-01..2026-10-11 | o que aconteceu entre 1 e 10 de outubro
    2026-10-03..2026-10-06 | as visitas de 3 a 5 de outubro
    2025..2025-04 | vendas no primeiro trimestre de 2025
    2026-07..2026-10 | vendas do último trimestre
    2026-01..2026-07 | decisões da primeira metade de 2026
    2026-07..2027 | decisões do segundo semestre
    2026-05-16..2026-06 | a chuva na segunda quinzena de maio
    2025..2025-04 | vendas no primeiro trimestre do ano passado
    2026..2026-04 | vendas no primeiro trimestre deste ano
    - | vendas no primeiro trimestre do próximo ano
    2025-05-16..2025-06 | a chuva na segunda quinzena de maio de 2025
    2025-05 | a chuva em maio do ano passado
    2026-11-18..2026-11-26 | as visitas de 18 a 25 de novembro
    2026-10-28..2026-11-04 | as visitas entre 28 e 3 de novembro
    2026-11-03..2026-11-10 | o que aconteceu entre o dia 3 e o dia 9?
    2026-11-09 | o que aconteceu no dia 9?
    2026-10-03..2026-10-10 | as visitas de 3 a 9 do mês passado
    - | quanto é entre 3 e 9?
    2025-11-19 | o que fiz hoje há um ano?
    2026-10-31 | a chuva do último dia de outubro
    2026-11-02..2026-11-09 | chamadas da semana retrasada`,
  Dutch: `
    2026-11-02..2026-11-09 | wat deden we in week 45?
    2026-01..2026-04 | boeken van de eerste drie maanden van 2026
    2026.. | boeken gelezen sinds het begin van het jaar
    2026-11-18 | wat zei de loodgieter gisteren
    2026-11-18 | wie belde er gisteravond?
    2026-11-17 | eten van eergisteren
    2026-11-09..2026-11-16 | telefoontjes van vorige week
    2026-11-09..2026-11-16 | telefoontjes afgelopen week
    2026-11-16..2026-11-23 | uitgaven deze week
    2026-10 | meterstand vorige maand
    2026-11-16 | fouten van drie dagen geleden
    2026-11-02..2026-11-10 | bezoek twee weken geleden
    2026-11-02..2026-11-10 | bezoek een paar weken geleden
    2026-11-02..2026-11-10 | bezoek van veertien dagen geleden
    2026-08-04..2026-09-05 | recept van drie maanden geleden
    2026-11-09.. | rondjes van de laatste tien dagen
    2026-11-09.. | rondjes in de afgelopen 10 dagen
    2026-11-14..2026-11-16 | uitje vorig weekend
    2026-11-14..2026-11-16 | uitje in het weekend
    2026-05 | besluiten in mei
    2026-05 | besluiten van mei 2026
    2026-03-03 | brief van 3 maart
    2026-03-03 | brief van 3-3-2026
    2026-10-11..2026-10-21 | bloeddruk half oktober
    2026-10-11..2026-10-21 | bloeddruk midden oktober
    2026-10-01..2026-10-11 | bloeddruk begin oktober
    2026-10-21..2026-11-01 | bloeddruk eind vorige maand
    2025-09-01..2026-01 | besluiten eind 2025
    2026-01..2026-05-02 | plannen van begin dit jaar
    2026-09.. | kilometers sinds september
    2026-06.. | pillen sinds begin juni
    ..2026-03 | concepten voor maart 2026
    2026-05..2026-08 | werk tussen mei en juli
    2026-05..2026-08 | werk van mei tot en met juli
    2025-06..2025-09 | vakantie in de zomer van 2025
    2026-06..2026-09 | vakantie vorige zomer
    2025 | reizen vorig jaar
    2026-11-16 | wat heb ik maandag gedaan?
    2026-11-16 | overleg van afgelopen maandag
    2026-10-01..2026-10-11 | wat gebeurde er tussen 1 en 10 oktober
    2026-10-03..2026-10-06 | gasten van 3 tot 5 oktober
    2026-10-03..2026-10-06 | gasten van 3 t/m 5 oktober 2026
    2025..2025-04 | omzet in het eerste kwartaal van 2025
    2026-07..2026-10 | omzet vorig kwartaal
    2026-01..2026-07 | besluiten in de eerste helft van 2026
    2026-07..2027 | besluiten in de tweede helft van het jaar
    2026-05-16..2026-06 | regen in de tweede helft van mei
    2025..2025-04 | omzet in het eerste kwartaal van vorig jaar
    2025..2025-04 | omzet in het eerste kwartaal van het afgelopen jaar
    2026..2026-04 | omzet in het eerste kwartaal van dit jaar
    - | omzet in het eerste kwartaal van volgend jaar
    2025-05-16..2025-06 | regen in de tweede helft van mei 2025
    2025-05 | regen in mei vorig jaar
    2026-11-18..2026-11-26 | gasten van 18 tot 25 november
    2026-10-28..2026-11-04 | gasten tussen 28 en 3 november
    2026-11-03..2026-11-10 | wat gebeurde er tussen de 3e en de 9e?
    2026-11-09 | wat heb ik op de 9e gedaan?
    2026-10-03..2026-10-10 | gasten van 3 tot 9 vorige maand
    - | wie woont er op de 2e verdieping?
    - | wat is er tussen de 2e en 3e verdieping
    2026-11-12 | wat deed ik vandaag een week geleden?
    2026-10-31 | regen op de laatste dag van oktober
    2026-11-02..2026-11-09 | telefoontjes van voorlaatste week`,
};

const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((part) => part.trim()) as [string, string]);
const printed = (time: number) => (Number.isFinite(time) ? new Date(time).toISOString().slice(0, 10) : "");

/** The window in full: the first day and the one after the last. */
function fullWindow(window: string): string {
  if (window === "-") return "-";
  const start = (date: string) => (date === "" ? Infinity : Date.parse(`${date}T00:00:00Z`));
  const [from = "", to] = window.split("..");
  if (to !== undefined) return `${printed(start(from))}..${printed(start(to))}`;
  const first = new Date(start(from));
  const [year, month, day] = [first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate()];
  const end =
    from.length === 4
      ? Date.UTC(year + 1, 0)
      : from.length === 7
        ? Date.UTC(year, month + 1)
        : Date.UTC(year, month, day + 1);
  return `${printed(start(from))}..${printed(end)}`;
}

describe.each(Object.entries(PHRASINGS))("timeOfQuestion in %s", (_, phrasings) => {
  it.each(lines(phrasings))("reads %s of: %s", (window, question) => {
    const period = timeOfQuestion(question, NOW);
    // What is to come is told from what happened, see the next test.
    expect(
      period === undefined || period.isComing === true
        ? "-"
        : `${printed(period.from)}..${printed(period.to)}`,
    ).toBe(fullWindow(window));
  });
});

const DAY = 86_400_000;
// NOW is a Saturday in November.
const COMING = `
what have I got on in December
what arrives in January
what is due next week
what is planned for tomorrow?
when is the dentist next week?
was steht nächste Woche an?
was kommt im Januar?
Termine im Dezember
qu'est-ce qui est prévu la semaine prochaine ?
rendez-vous en janvier
¿qué tengo mañana?
¿qué hay previsto en diciembre?
cosa ho la prossima settimana?
o que tenho amanhã?
o que está previsto para a próxima semana?
wat staat er volgende week gepland?
afspraken in december
co mam jutro?
co jest zaplanowane w grudniu?
что запланировано на следующей неделе?
o que eu tenho em dezembro?
what's happening in December?
anything on in January?
my plans for December
where am I in January
what do I need to do in December
was ist im Dezember los?
что у меня в декабре?
`;
it.each(COMING.trim().split("\n"))("reads what is to come: %s", (question) => {
  const period = timeOfQuestion(question, NOW);
  expect(period?.isComing).toBe(true);
  expect(period?.to).toBeGreaterThan(NOW);
  expect(period?.from).toBeLessThan(NOW + 70 * DAY);
});

const VERBS = `
what did I talk about in June 2024?
what did we discuss in June 2024?
worüber haben wir im Juni 2024 gesprochen?
woran habe ich im Juni 2024 gearbeitet?
de quoi ai-je parlé en juin 2024 ?
sur quoi ai-je travaillé en juin 2024 ?
¿de qué hablé en junio de 2024?
¿en qué trabajamos en junio de 2024?
di cosa ho parlato a giugno 2024?
em que trabalhei em junho de 2024?
waar heb ik in juni 2024 aan gewerkt?
nad czym pracowałem w czerwcu 2024?
над чем я работал в июне 2024?
जून 2024 में मैंने क्या किया?
`;
it.each(VERBS.trim().split("\n"))("asks for nothing but the time: %s", (question) => {
  const period = timeOfQuestion(question, NOW);
  expect(period && `${printed(period.from)}..${printed(period.to)}`).toBe("2024-06-01..2024-07-01");
  const rest = `${question.slice(0, period?.start)} ${question.slice(period?.end)}`;
  expect(asksForNothingElse(rest)).toBe(true);
});

it.each([
  ["what did I write on Monday evening?", 1],
  ["was habe ich am Montagabend gemacht?", 1],
  ["o czym rozmawiałem w zeszłym tygodniu?", 7],
  ["pichle hafte maine kya kiya?", 7],
  ["पिछले हफ्ते क्या हुआ", 7],
])("reads %s", (question, days) => {
  const { from = 0, to = 0 } = timeOfQuestion(question, NOW) ?? {};
  expect((to - from) / DAY).toBe(days);
  expect(from).toBeLessThan(NOW);
});

it("reads hours", () => {
  expect(timeOfQuestion("what did I do in the last 48 hours?", NOW)?.from).toBe(NOW - 2 * DAY);
  expect(timeOfQuestion("anything happen in the last hour?", NOW)?.from).toBe(NOW - DAY / 24);
  for (const text of [
    "过去48小时发生了什么？",
    "過去48時間に何があった？",
    "지난 48시간 동안 무슨 일이 있었어?",
  ])
    expect(timeOfQuestion(text, NOW)?.from).toBe(NOW - 2 * DAY);
  expect(timeOfQuestion("was war in den letzten 3 Stunden?", NOW)?.from).toBe(NOW - DAY / 8);
});

it("reads the last day of a shorter month as a month before the last of a longer one", () => {
  const period = timeOfQuestion("what happened today a month ago?", Date.UTC(2026, 2, 31, 15));
  expect(printed(period?.from ?? NaN)).toBe("2026-02-28");
});

it.each([
  ["KW 1", "2025-12-30", "2025-12-29"],
  ["KW 53", "2027-01-02", "2026-12-28"],
  ["KW 52", "2026-01-02", "2025-12-22"],
])("reads %s on %s, in the days whose week is of another year", (week, now, from) => {
  const period = timeOfQuestion(`was steht in ${week}?`, Date.parse(`${now}T15:00:00Z`));
  expect(printed(period?.from ?? NaN)).toBe(from);
});

it.each(["mai", "q1", "lundi"])("reads %s with many words that bind behind it in linear time", (time) => {
  for (const bound of ["de la ", "du mois ", "von der "])
    expect(() => timeOfQuestion(`${time} ${bound.repeat(160)}`, NOW)).not.toThrow();
});
