/**
 * How languages speak of time. Each entry is the source of a regular expression over folded text (lower case, without
 * diacritics), words divided by `|`; a blank stands for any white space.
 */
export interface TimeWords {
  /** January to December; Monday to Sunday; spring to winter; 1 to 12, then "a few". */
  readonly months: readonly string[];
  readonly weekdays: readonly string[];
  readonly seasons: readonly string[];
  readonly numbers: readonly string[];
  readonly day: string;
  readonly week: string;
  readonly month: string;
  readonly year: string;
  readonly weekend: string;
  readonly christmas: string;
  readonly today: string;
  readonly yesterday: string;
  readonly dayBeforeYesterday: string;
  /** "last" before its noun, and after it where it can stand there. */
  readonly last: string;
  readonly lastAfter?: string;
  readonly this: string;
  /** Up to now: "the past week". */
  readonly past?: string;
  /** The first, second and last third of a longer time: "early", "mid", "at the end of". */
  readonly parts: readonly [string, string, string];
  /** Two weeks, however they are counted. */
  readonly fortnight: string;
  readonly next?: string;
  readonly tomorrow?: string;
  /** Around a length of time: "vor …", "… ago". */
  readonly agoBefore?: string;
  readonly agoAfter?: string;
  /** Words that a month, a year or a season needs before it to be a time; articles included. */
  readonly in: string;
  /** An article alone, which is enough before "weekend". */
  readonly the?: string;
  /** Between the parts of a date. */
  readonly of: string;
  readonly before: string;
  readonly after: string;
  readonly since: string;
  readonly until: string;
  readonly between: string;
  readonly from: string;
  readonly and: string;
  readonly to: string;
  /** "(from …) on". */
  readonly onwards?: string;
  /** Words that ask what happened, or hold such a question together, and say nothing of what about. */
  readonly empty: string;
}

export const words = (list: string) => list.split(" ").map((word) => word.replaceAll("_", " "));

export const TIME_WORDS: Readonly<Record<string, TimeWords>> = {
  en: {
    months: words(
      "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sept?(?:ember)? oct(?:ober)? nov(?:ember)? dec(?:ember)?",
    ),
    weekdays: words("monday tuesday wednesday thursday friday saturday sunday"),
    seasons: words("spring summer autumn|fall winter"),
    numbers: words(
      "an?|one two|(?:a_)?couple(?:_of)? three four five six seven eight nine ten eleven twelve (?:a_)?few",
    ),
    day: "days?",
    week: "weeks?",
    parts: [
      "early(?: in)?|(?:the )?(?:beginning|start) of(?: the)?",
      "mid|(?:the )?middle of(?: the)?",
      "late(?: in)?|(?:the )?end of(?: the)?",
    ],
    fortnight: "(?:a |the |one )?fortnight",
    month: "months?",
    year: "years?",
    weekend: "week-?ends?",
    christmas: "christmas",
    today: "today|tonight|this (?:morning|afternoon|evening)",
    yesterday: "yesterday(?:'s)?(?: (?:morning|afternoon|evening|night))?|last night",
    dayBeforeYesterday: "(?:the )?day before yesterday",
    last: "last|past|previous",
    this: "this|current",
    past: "past",
    next: "next|coming",
    tomorrow: "tomorrow",
    agoAfter: "ago|back|earlier",
    in: "(?:back )?(?:in|during|of|from|over|on|at|throughout|around|within) (?:the )?(?:month of |year )?(?:the )?",
    the: "the ",
    of: "of",
    before: "before|prior to|earlier than",
    after: "after|later than|following",
    since: "(?:ever )?since",
    until: "until|till|up to|through",
    between: "between(?: the)?",
    from: "from(?: the)?",
    and: "and",
    to: "to|and|until|till|through",
    onwards: "on(?:wards?)?",
    empty:
      "planned|scheduled|what|which|who|was|were|is|are|there|anything|something|everything|all|any|things?|stuff|happen(?:ed|ing|s)?|did|do|does|done|doing|do(?:es)?|i|we|you|my|our|me|us|up|to|have|has|had|been|go(?:ing|ne|es)?|went|on|in|at|of|for|from|the|a|an|with|and|about|work(?:ed)?|new|news|notes?|noted|wr(?:ote|itten)|review|recap|summar(?:y|i[sz]e)|show|list|tell|give|find|remind|log(?:ged)?|diary|journal|entr(?:y|ies)|memor(?:y|ies)|events?|recorded|added|saved|remember(?:ed)?|get|got|that|be|so|else|exactly|please|note|down|came|can|could|take|took|place|activit(?:y|ies)",
  },
  de: {
    months: words(
      "jan(?:uar)?|janner feb(?:ruar)?|feber marz apr(?:il)? mai juni? juli? aug(?:ust)? sept?(?:ember)? okt(?:ober)? nov(?:ember)? dez(?:ember)?",
    ),
    weekdays: words("montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag"),
    seasons: words("fruhling|fruhjahr sommer herbst winter"),
    numbers: words(
      "ein(?:e[mnr]?)? zwei|(?:ein_)?paar drei vier funf sechs sieben acht neun zehn elf zwolf einigen?|wenigen?|mehreren",
    ),
    day: "tag(?:en?)?",
    week: "wochen?",
    parts: ["anfang", "mitte", "ende"],
    fortnight: "(?:14|vierzehn) tagen?",
    month: "monat(?:en?|s)?",
    year: "jahr(?:en?|e?s)?",
    weekend: "wochenenden?",
    christmas: "weihnachten",
    today: "heute(?: (?:morgen|vormittag|nachmittag|abend|fruh))?",
    yesterday: "gestern(?: (?:morgen|vormittag|nachmittag|abend|fruh))?|gestrigen|letzte nacht",
    dayBeforeYesterday: "vorgestern",
    last: "letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?",
    this: "diese[nmrs]?",
    agoBefore: "vor(?: etwa| rund| ungefahr| ca\\.?)?",
    in: "(?:im|in|am|an|ubers?|wahrend|zu|vom|des) (?:den |dem |der |des |das )?(?:jahre? )?",
    the: "das ",
    of: "des|der|von|vom|im|in der",
    before: "vor(?: dem| der)?|bevor",
    after: "nach(?: dem| der)?",
    since: "seit(?: dem| der)?|ab(?: dem)?",
    until: "bis(?: zum| zur| ende)?",
    between: "zwischen(?: dem)?",
    from: "von|vom",
    and: "und(?: dem)?",
    to: "bis(?: zum)?|und",
    onwards: "an",
    empty:
      "stand|steht|anstand|ansteht|geplant|erledigt|erlebt|was|welche[rsnm]?|wer|war(?:en)?|ist|sind|gab|gibt|es|alles|etwas|irgendetwas|neues|los|passiert(?:e)?|geschehen|geschah|habe?n?|hat(?:ten?)?|ich|wir|mir|mich|uns|mein[erns]*|unser[ens]*|gemacht|machte?n?|tat|getan|unternommen|gearbeitet|notiz(?:en)?|notiert|aufgeschrieben|eintrag|eintrage|ubersicht|ruckblick|zeig[e]?|bei|in|im|am|an|auf|der|die|das|den|dem|des|und|so|denn|da|eigentlich|war|ruckschau|ereignisse?|vorgefallen|zusammenfassung|alle[ns]?",
  },
  fr: {
    months: words(
      "janv(?:ier)? fevr?(?:ier)? mars avr(?:il)? mai juin juil(?:let)? aout sept(?:embre)? oct(?:obre)? nov(?:embre)? dec(?:embre)?",
    ),
    weekdays: words("lundi mardi mercredi jeudi vendredi samedi dimanche"),
    seasons: words("printemps ete automne hiver"),
    numbers: words("une?|un deux trois quatre cinq six sept huit neuf dix onze douze quelques|plusieurs"),
    day: "jours?|journees?",
    week: "semaines?",
    parts: ["(?:debut|le debut)", "(?:mi|(?:la |le )?mi-?lieu)", "(?:la )?fin(?! de semaine)"],
    fortnight: "(?:quinze|15) jours|(?:une )?quinzaine(?: de jours)?",
    month: "mois",
    year: "ans?|annees?",
    weekend: "week-?ends?|fins? de semaine",
    christmas: "noel",
    today: "aujourd'? ?hui|ce (?:matin|soir)|cet apres-midi",
    yesterday: "hier(?: (?:matin|soir|apres-midi))?|la nuit derniere",
    dayBeforeYesterday: "avant-?hier",
    last: "derniere?s?|passee?s?",
    lastAfter: "derniere?s?|passee?s?|precedente?s?|d'avant",
    this: "cette|cet|ce",
    agoBefore: "il y a(?: environ| a peu pres)?|voila|ca fait",
    in: "(?:en|au|aux|dans|pendant|durant|lors de|a|de|du|d'|pour|vers|courant|au cours de) ?(?:le |la |les |l'|l' )?(?:(?:mois|annee) (?:de |d'|du )?)?(?:l'|la |le )?",
    the: "le |ces ",
    of: "de|du|d'|de l'annee|de la|de l'",
    before: "avant(?: le| la| l'| les)?",
    after: "apres(?: le| la| l'| les)?",
    since: "depuis(?: le| la| l'| les)?|a partir d[eu](?: l'| la)?|des",
    until: "jusqu'?(?: ?(?:a|au|en)(?: la| l')?)",
    between: "entre(?: le)?",
    from: "de|du",
    and: "et(?: le| la)?",
    to: "a|au|et|jusqu'(?:a|au|en)",
    empty:
      "prevue?s?|qu|que|quoi|quelles?|quels?|qui|est|ce|c|s|se|sont|il|elle|y|a|ai|as|ont|avons|avez|j|je|nous|on|m|mes|mon|ma|nos|notre|moi|fait(?:es)?|faisait|passee?s?|arrivee?s?|etait|etaient|de|du|des|d|l|le|la|les|un|une|en|au|aux|dans|pour|et|notes?|notee?s?|ecrit|tout|toutes?|tous|neuf|nouveau|nouvelles|quelque|chose|choses|montre|moi|liste|resume|travaille|evenements?|eu|lieu|produit|t",
  },
  es: {
    months: words(
      "ene(?:ro)? feb(?:rero)? mar(?:zo)? abr(?:il)? may(?:o)? jun(?:io)? jul(?:io)? ago(?:sto)? sep?t?(?:iembre)? oct(?:ubre)? nov(?:iembre)? dic(?:iembre)?",
    ),
    weekdays: words("lunes martes miercoles jueves viernes sabado domingo"),
    seasons: words("primavera verano otono invierno"),
    numbers: words(
      "una?|un dos|un_par_de tres cuatro cinco seis siete ocho nueve diez once doce unos|unas|pocos|pocas|algun[oa]s",
    ),
    day: "dias?",
    week: "semanas?",
    parts: [
      "(?:a )?(?:principios?|comienzos?|inicios?)",
      "(?:a )?(?:mediados|mitad)",
      "(?:a )?(?:finales|fines|fin(?! de semana))",
    ],
    fortnight: "(?:quince|15) dias|(?:una )?quincena",
    month: "mes(?:es)?",
    year: "anos?",
    weekend: "fin(?:es)? de semana|finde",
    christmas: "navidad(?:es)?",
    today: "hoy|esta (?:manana|tarde|noche)",
    yesterday: "ayer(?: por la (?:manana|tarde|noche))?|anoche",
    dayBeforeYesterday: "anteayer|antes de ayer|antier",
    last: "ultim[oa]s?|pasad[oa]s?",
    lastAfter: "pasad[oa]s?|anterior(?:es)?|ultim[oa]s?",
    this: "est[ea]",
    agoBefore: "hace(?: unos| unas| como| casi)?",
    agoAfter: "atras",
    in: "(?:en|durante|de|del|por|a|para|hacia|sobre) (?:el |la |los |las )?(?:(?:mes|ano) (?:de |del )?)?",
    the: "el ",
    of: "de|del|de la|de este|el",
    before: "antes de(?:l)?(?: la| los| las)?",
    after: "despues de(?:l)?(?: la| los| las)?|tras(?: el| la)?",
    since: "desde(?: el| la)?|a partir de(?:l)?(?: la)?",
    until: "hasta(?: el| la)?",
    between: "entre(?: el| la)?",
    from: "de|del|desde(?: el)?",
    and: "y(?: el)?|e",
    to: "a|al|y|hasta(?: el)?",
    empty:
      "previst[oa]s?|planead[oa]s?|que|cual(?:es)?|quien(?:es)?|hubo|hay|habia|paso|pasaba|pasado|ha|he|has|han|hemos|ocurrio|ocurrido|sucedio|hice|hizo|hicimos|hecho|hacer|hacia|hago|estuve|estuvimos|estaba|fue|era|yo|nosotros|me|mi|mis|nos|nuestr[oa]s?|el|la|los|las|lo|un|una|de|del|en|a|al|con|y|por|para|notas?|anote|apunte|apuntes|anotado|escribi|todo|todas?|todos|algo|cosas?|nuev[oa]s?|novedades|resumen|muestra|lista|trabaje|eventos?|tuve|tuvo|lugar|se",
  },
  it: {
    months: words(
      "gen(?:naio)? feb(?:braio)? mar(?:zo)? apr(?:ile)? mag(?:gio)? giu(?:gno)? lug(?:lio)? ago(?:sto)? sett?(?:embre)? ott(?:obre)? nov(?:embre)? dic(?:embre)?",
    ),
    weekdays: words("lunedi martedi mercoledi giovedi venerdi sabato domenica"),
    seasons: words("primavera estate autunno inverno"),
    numbers: words(
      "una?|un due|un_paio_di tre quattro cinque sei sette otto nove dieci undici dodici alcun[ie]|qualche|poch[ie]",
    ),
    day: "giorn[oi]|giornat[ae]",
    week: "settiman[ae]",
    parts: ["(?:(?:all'|l')?inizio|(?:gli )?inizi)", "meta", "fine(?! settimana)"],
    fortnight: "(?:quindici|15) giorni|(?:una )?quindicina di giorni",
    month: "mes[ei]",
    year: "ann[oi]",
    weekend: "week-?end|fine settimana",
    christmas: "natale",
    today: "oggi|sta(?:mattina|sera|notte)|questa (?:mattina|sera)|questo pomeriggio",
    yesterday: "ieri(?: (?:mattina|pomeriggio|sera|notte))?|la (?:notte|scorsa notte)",
    dayBeforeYesterday: "(?:(?:dal|del)?l')?altro ?ieri|avantieri",
    last: "scors[oaie]|ultim[oaie]|passat[oaie]",
    lastAfter: "scors[oaie]|passat[oaie]|precedenti?",
    this: "quest[oa']",
    agoAfter: "fa|or sono|addietro",
    in: "(?:in|nel|nella|nell'|nei|negli|nelle|ad?|durante|di|del|dello|della|dell'|dei|degli|delle|per|verso|al|lo|da) ?(?:(?:il|lo|la|l'|i|gli|le) ?)?(?:(?:mese|anno) (?:di |del )?)?",
    the: "il |lo ",
    of: "di|del|della|dell'|dello",
    before: "prima (?:di|del|della|dell'|dello|dei)",
    after: "dopo(?: il| la| l'| lo)?",
    since: "(?:(?:a partire |sin |fin )?(?:da|dal|dalla|dall'|dallo|dai))",
    until: "fino (?:a|al|alla|all'|ad)",
    between: "tra(?: il| l')?|fra(?: il| l')?",
    from: "da|dal|dall'",
    and: "e(?: il| l')?",
    to: "a|al|e|fino a|all'",
    onwards: "in poi",
    empty:
      "previst[oaie]|combinat[oaie]|che|cosa|cos|cose|quali|quale|chi|e|era|erano|c|ci|sono|stato|stati|successo|successa|accaduto|avvenuto|ho|ha|hai|hanno|abbiamo|fatto|fatta|facevo|facevamo|fare|io|noi|mi|mio|mia|miei|nostr[oaie]|il|lo|la|i|gli|le|l|un|una|di|del|della|in|nel|nella|a|al|con|per|note|nota|appunt[oi]|annotato|scritto|tutto|tutte|tutti|qualcosa|novita|nuov[oaie]|riassunto|mostra|elenca|lavorato|eventi|evento|si",
  },
  pt: {
    months: words(
      "jan(?:eiro)? fev(?:ereiro)? mar(?:co)? abr(?:il)? maio jun(?:ho)? jul(?:ho)? ago(?:sto)? set(?:embro)? out(?:ubro)? nov(?:embro)? dez(?:embro)?",
    ),
    weekdays: words(
      "segunda(?:-feira)? terca(?:-feira)? quarta(?:-feira)? quinta(?:-feira)? sexta(?:-feira)? sabado domingo",
    ),
    seasons: words("primavera verao outono inverno"),
    numbers: words(
      "uma?|um dois|duas|um_par_de tres quatro cinco seis sete oito nove dez onze doze alguns|algumas|poucos|poucas|uns|umas",
    ),
    day: "dias?",
    week: "semanas?",
    parts: [
      "(?:[oa] )?(?:inicio|principio|comeco)",
      "(?:meados|meio)",
      "(?:[oa] )?(?:fim|final|finais|fins)(?! de semana)",
    ],
    fortnight: "(?:quinze|15) dias|(?:uma )?quinzena(?: de dias)?",
    month: "mes(?:es)?",
    year: "anos?",
    weekend: "fi(?:m|ns) de semana|fim-de-semana",
    christmas: "natal",
    today: "hoje|esta (?:manha|tarde|noite)",
    yesterday: "ontem(?: (?:de|a|pela) (?:manha|tarde|noite))?",
    dayBeforeYesterday: "anteontem|antes de ontem",
    last: "ultim[oa]s?|passad[oa]s?",
    lastAfter: "passad[oa]s?|anterior(?:es)?|ultim[oa]s?",
    this: "(?:n?est[ea]|n?ess[ea]|d?est[ea])",
    agoBefore: "ha(?: cerca de| uns| umas| quase)?|faz",
    agoAfter: "atras",
    in: "(?:em|n[oa]s?|durante|de|d[oa]s?|por|para|a|ao|pel[oa]) (?:(?:mes|ano) (?:de |do )?)?",
    the: "o ",
    of: "de|do|da",
    before: "antes d[eoa]s?",
    after: "depois d[eoa]s?|apos(?: [oa])?",
    since: "desde(?: [oa])?|a partir d[eoa]",
    until: "ate(?: [oa]| ao)?",
    between: "entre(?: [oa])?",
    from: "de|do|desde(?: [oa])?",
    and: "e(?: [oa])?",
    to: "a|ao|e|ate(?: [oa]| ao)?",
    onwards: "em diante",
    empty:
      "previst[oa]s?|planead[oa]s?|que|o|qual|quais|quem|houve|ha|havia|aconteceu|acontecido|ocorreu|passou|fiz|fez|fizemos|feito|fazer|fazia|estive|eu|nos|me|meu|minhas?|meus|noss[oa]s?|a|os|as|um|uma|de|do|da|em|no|na|com|e|por|para|notas?|anotei|anotado|escrevi|tudo|todos|todas|algo|coisas?|nov[oa]s?|novidades|resumo|mostre|lista|trabalhei|eventos?|foi|era|se|teve|lugar",
  },
  nl: {
    months: words(
      "jan(?:uari)? feb(?:ruari)? maart|mrt apr(?:il)? mei juni? juli? aug(?:ustus)? sept?(?:ember)? okt(?:ober)? nov(?:ember)? dec(?:ember)?",
    ),
    weekdays: words("maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"),
    seasons: words("lente|voorjaar zomer herfst|najaar winter"),
    numbers: words("een twee|(?:een_)?paar drie vier vijf zes zeven acht negen tien elf twaalf enkele|enige"),
    day: "dag(?:en)?",
    week: "we(?:ek|ken)",
    parts: [
      "(?:het )?begin(?: van(?: de| het)?)?",
      "(?:het )?(?:midden|half|medio)(?: van(?: de| het)?)?",
      "(?:het )?einde?(?: van(?: de| het)?)?",
    ],
    fortnight: "(?:14|veertien) dagen",
    month: "maand(?:en)?",
    year: "ja(?:ar|ren)",
    weekend: "weekend(?:en)?",
    christmas: "kerst(?:mis)?",
    today: "vandaag|van(?:morgen|middag|avond|ochtend)",
    yesterday: "gister(?:en)?(?:ochtend|middag|avond|morgen)?|vannacht|afgelopen nacht",
    dayBeforeYesterday: "eergisteren",
    last: "vorige?|afgelopen|laatste|verleden",
    this: "deze|dit",
    agoAfter: "geleden|terug",
    in: "(?:in|op|tijdens|gedurende|van|rond|om|voor|over) (?:de |het )?(?:(?:loop|jaar) (?:van )?(?:de |het )?)?",
    the: "het ",
    of: "van|in",
    before: "voor(?: de| het)?|voordat",
    after: "na(?: de| het)?",
    since: "sinds(?: de| het)?|vanaf(?: de| het)?|sedert",
    until: "tot(?: en met)?(?: de| het)?",
    between: "tussen(?: de| het)?",
    from: "van",
    and: "en",
    to: "tot(?: en met)?|t/m|en",
    empty:
      "gepland|stond|speelde|wat|welke?|wie|was|waren|is|er|zijn|gebeurd|gebeurde|gedaan|deed|deden|heb|heeft|hebben|had|ik|we|wij|mij|me|mijn|ons|onze|de|het|een|in|op|aan|van|voor|met|en|bij|notities?|genoteerd|opgeschreven|alles|iets|dingen|nieuws|nieuwe?|overzicht|samenvatting|toon|laat|zien|gewerkt|gebeurtenissen|allemaal|zo|ging",
  },
  ru: {
    months: words(
      "январ[ьяе] феврал[ьяе] март[ае]? апрел[ьяе] ма[ийяе] июн[ьяе] июл[ьяе] август[ае]? сентябр[ьяе] октябр[ьяе] ноябр[ьяе] декабр[ьяе]",
    ),
    weekdays: words(
      "понедельник[а]? вторник[а]? сред[аыу] четверг[а]? пятниц[аыу] суббот[аыу] воскресень[ея]",
    ),
    seasons: words("весн(?:а|ы|ои) лет(?:о|а|ом) осен(?:ь|и|ью) зим(?:а|ы|ои)"),
    numbers: words(
      "один|одну|одна два|две|пару три четыре пять шесть семь восемь девять десять одиннадцать двенадцать несколько",
    ),
    day: "д(?:ень|ня|неи|ни)",
    week: "недел(?:я|ю|и|ь|е)",
    parts: ["начал[ео]", "середин[еуы]", "кон(?:ец|це|ца)"],
    fortnight: "две недели",
    month: "месяц(?:а|ев|е|ы)?",
    year: "год(?:а|у|ы)?|лет",
    weekend: "выходн(?:ые|ых)",
    christmas: "рождеств(?:о|а)",
    today: "сегодня",
    yesterday: "вчера",
    dayBeforeYesterday: "позавчера",
    last: "прошл(?:ои|ом|ую|ыи|ые|ых|ая|ое)|последн(?:ие|их|ии|юю|ем|еи|яя)",
    this: "эт(?:от|ои|ом|у|а|их)",
    agoAfter: "назад",
    in: "(?:в|во|на|за|о) ",
    of: "",
    before: "до|перед",
    after: "после",
    since: "с|со|начиная с",
    until: "до|по",
    between: "между",
    from: "с|от",
    and: "и",
    to: "до|по|и",
    empty:
      "что|чем|какие|кто|было|были|был|есть|я|мы|мне|нас|нам|мои|делала?|делали|сделала?|сделали|произошло|случилось|происходило|заметки|записи|все|нового|в|на|за|и|с",
  },
};
