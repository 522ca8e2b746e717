import { fold } from "./fold.ts";
import { fromLanguages, timeWords } from "./languages.ts";
import { matchesOf } from "./matches.ts";

/** Words for a change, an end or a correction, folded; a star stands for any ending, for a word, and two for one to five words. */
const WORDS: readonly string[] = [
  // English
  "now no_longer not_any_more anymore any_more moved moves change changes changed changing switched switching replaced replaces instead from_now_on from_today",
  "as_of starting stopped quit gave_up given_up cancelled canceled postponed pushed_back rescheduled relocated renamed extended raised",
  "lowered increased reduced scrapped dropped closed_down sold back_to correction actually retired took_over taken_over updated migrated",
  "bumped went_up goes_up new not_ended ended over_with has_left left_the has_become became turned_out after_all not_valid outdated obsolete",
  "any_longer no_more is_gone are_gone has_gone have_gone called_off discontinued phased_out swapped takes_over handed_over used_to_be",
  "is_back reopened resumed from_*_on from_this from_next since_the_move resign* retires in_place_of is_leaving are_leaving will_not_*",
  "deprecated removed deleted shut_down expired overruled withdrawn reversed brought_forward upgraded downgraded started_at started_my",
  "died passed_away not_survive is_over was_over are_over rejected stolen got_rid_of gave_away gave_back brought_back paid_off used_up ran_out by_now",
  "joined quits dropping gone_from handed_in wound_up shut_for_good no_more_of won't_*_any lately these_days",
  "increase decreased cancellation postponement relocation renewed suspended delayed put_off put_back",
  "went_down gone_up gone_down has_risen rose_to rises_to fell_to falls_to dearer cheaper halved doubled elected appointed dismissed fired sacked promoted laid_off moving_to moves_to done_with turned_down decided_against reject hands_over hand(?:s|ed)_**_over_to",
  // German
  "jetzt nun nunmehr nicht_mehr kein*_mehr umgezogen zieht_um gewechselt wechselt gewechselt geandert andert neu neue neuer neues neuen statt stattdessen",
  "verschoben verlegt gekundigt aufgehort aufgegeben ab_sofort ab_heute kunftig verlangert erhoht gesenkt ersetzt abgesagt umbenannt abgeschafft korrektur umgestellt",
  "nicht_langer doch ausgetauscht abgelost eingestellt aufgelost verkauft inzwischen mittlerweile von_nun_an ubernimmt ubernommen anstelle in_rente vertagt entfallt fallt_aus ausgezogen",
  "gezogen zieht_nach ziehen_nach neuerdings seither seitdem dichtgemacht zugemacht geschlossen macht_*_zu gestorben verstorben gestohlen geklaut",
  "zuruckgebracht zuruckgegeben abgegeben beendet hort_auf umgestiegen weggezogen ab_jetzt lauft_aus gilt_nicht getrennt kundigt",
  "umzug absage gestiegen gesunken steigt_auf sinkt_auf teurer billiger gunstiger angehoben halbiert verdoppelt gekurzt reduziert herabgesetzt heraufgesetzt",
  "gewahlt abgewahlt wiedergewahlt ernannt entlassen befordert abberufen vorgezogen ausgesetzt abgelehnt verworfen schluss_mit aus_und_vorbei verlegen_*_auf uberg(?:ibt|ab|aben|ebe)_**_an an_**_ubergeben g[ai]bt?_**_an_*_ab",
  String.raw`\p{L}*(?:erhohung|anpassung|senkung|verlegung|verschiebung|verlangerung|umstellung|kundigung|umbenennung)`,
  // French
  "maintenant desormais ne_*_plus n'est_plus plus_de change a_change changee nouveau nouvelle nouvel demenage remplace remplacee au_lieu reporte reportee arrete annule",
  "dorenavant a_partir_de passe_a quitte deplace deplacee prolonge augmente",
  "reprend a_repris n'a_plus il_n'y_a_plus vendu vendue finalement cesse abandonne resilie repousse repoussee a_la_place a_la_retraite prend_la_suite demissionne",
  "a_ferme ont_ferme est_ferme est_mort est_morte decede decedee passe_chez passes_chez passee_chez a_rejoint renonce termine depuis_peu monte_a cede rendu vole_*_mon",
  "augmentation hausse demenagement annulation changement resiliation prolongation renouvele* a_compter_d*",
  "augmentee?s? baissee? baisse_a diminuee? reduit* doublee? divise* passe_de passent_a passera_a decale* ajourn* differe* suspendu* avance_au avancee_au emmenag* demenag* recommence*",
  "elue? elus nommee? licenciee? viree? promue? revoque* refusee? c'est_fini fini_l* finie terminee passent?_la_main passe_la_main transm(?:et|is)_**_a(?:ux?)?",
  // Spanish
  "ahora ya_no cambio cambia cambiado nuevo nueva mudado mudo en_vez en_lugar aplaz* deja* dejo a_partir_de_ahora pasa_a trasladad* cancelad* sustitu* prorrogad* vuelve_a vendi* jubil* al_final pospues* abandon*",
  "vendid* vendimos mudamos cambiamos cambiaron dejamos cerro cerrado cerrada cerraron murio muerto robaron robado robada devuelt* renunci* de_ahora_en_adelante sube_a baja_a desde_hoy",
  "aumento subida bajada mudanza cancelacion aplazamiento traslado rebaja aumentad* aumentaron disminuid* reducid* reduj* subio ha_subido ha_bajado han_subido",
  "han_bajado suben_a bajan_a pasan_a pasara_a suspend* retras* adelant* anul* pospon* pospus* reanud* renov* elegid* nombrad* despedid* destituid* ascendid* rechaz* retirad* se_acabo se_termino basta_de traspas* pass?(?:a|o|ato|ou)_(?:l[ae]|il|el|[oa])_(?:gestion[ei]?|gestao|responsab*|direzione|direc*|guida|mano|testimone|relevo|testigo|pasta) affida(?:no|t[oa])?_**_ad? transfer(?:e|iu)_**_(?:para|ao?)",
  // Italian
  "ora adesso non_*_piu cambiato cambiata cambia nuovo nuova trasferit* spostat* invece rinviat* smesso d'ora_in_poi sostitui* annullat* e_andata_in_pensione disdett* alla_fine smett* vendut* posticipat* anticipat* in_pensione al_posto",
  "chiuso chiusa chiude morto morta rubat* restituit* finito finita rinunciat* passati_a passato_a passata_a ormai da_oggi lasciato lasciata sale_a scende_a cambiamo",
  "aumento trasloc* disdetta annullamento rinvio spostamento ribasso rincaro aumentat* diminuit* ridott* sces[oaie] salit[oaie] dimezzat* raddoppiat*",
  "rimandat* sospes* sospend* ricominci* riprend* rinnovat* elett* nominat* licenziat* revocat* promoss* rifiutat* respint* basta_con da_ora_in_poi passano_a passera_a",
  // Portuguese
  "agora ja_nao mudou mudei mudou-se mudaram novo nova em_vez adiad* deixou deixei a_partir_de_agora trocou passou_a cancelad* substitu* afinal vendi* desistiu voltou_a reformou* aposentou*",
  "vendemos vendeu vendid* mudamos trocamos trocaram trocad* deixamos deixaram fechou fechad* fecharam morreu roubad* roubaram devolv* acabou acabaram desistimos passamos_a",
  "passaram_a passa_a sobe_para baixa_para desde_hoje foi_para",
  "subida descida mudanca cancelamento adiamento diminuid* aumentad* aumentou reduzid* subiu desceu baixou subiram desceram baixaram suspens* antecipad* recome* renovad*",
  "eleit* nomead* despedid* demitid* exonerad* promovid* recusad* chega_de passam_a",
  // Dutch
  "nu niet_meer geen_*_meer verhuisd nieuw nieuwe veranderd gewijzigd in_plaats verplaatst verschoven gestopt voortaan opgezegd vervangen afgezegd verlengd toch niet_langer verkocht uitgesteld vervalt overgenomen neemt_*_over met_pensioen afgeschaft",
  "overgestapt stap_over stapt_over stappen_over stopt stoppen gestolen gesloten overleden gestorven opgeheven teruggebracht verkoopt gaat_weg gaan_weg tegenwoordig sindsdien ingeruild",
  "verhuizing opzegging annulering gestegen gedaald verhoogd verlaagd stijgt_naar daalt_naar duurder goedkoper gehalveerd verdubbeld verminderd opgeschort vervroegd hervat",
  "gekozen herkozen benoemd ontslagen bevorderd afgewezen geweigerd klaar_met vernieuwd overgedragen dr(?:aagt|oeg)_over dr(?:aagt|oeg)_**_over geeft_**_door_aan",
  String.raw`\p{L}*(?:verhoging|verlaging|wijziging)`,
  // Russian, Polish, Swedish
  "теперь больше_не переех* перен* вместо нов* изменил* отмен* teraz juz_nie zmien* przen* now* zamiast nu inte_langre flyttat andrat bytt istallet",
  // Turkish, Hindi, Arabic, Korean
  "artik degisti tasindi yerine iptal birakti अब لم_يعد الان بدلا انتقل 이제 더_이상",
];
/** "From June", "ab Juni". */
const fromAMonth = () =>
  `(?:from|since|starting(?: in)?|as of|ab|seit|von|des|depuis|a partir de|a compter de|desde|da|a partire da|vanaf|sinds|per) (?:${timeWords()
    .flatMap(({ months }) => months)
    .join("|")})`;
const PATTERN = fromLanguages(
  () =>
    new RegExp(
      String.raw`(?<![\p{L}\p{N}_'’]|\bto )(?:${[fromAMonth(), ...WORDS.join(" ").split(/\s+/)]
        .map((word) =>
          word
            .replaceAll("_**_", String.raw` (?:[\p{L}'’]{1,20} ){1,5}`)
            .replaceAll("_*_", String.raw` [\p{L}'’]{1,20} `)
            .replaceAll("_", " ")
            .replaceAll("*", String.raw`\p{L}*`),
        )
        .join(
          "|",
        )})(?![\p{L}\p{N}_])|改|不再|现在|現在|搬到|换成|取消|推迟|変更|変わ|変えた|やめた|辞めた|移転|바뀌|변경|그만두|옮겼|もう|になりました|になった|引っ越`,
      "gu",
    ),
);
/** Characters of a text that are searched. */
const SEARCHED_CHARS = 2_000;

/** "Not removed", "nobody resumed": what was denied did not change. Words of change that deny ("no longer") stand for themselves. */
const DENIED =
  /(?:(?<!\p{L})(?:not|never|nobody|none|without|nicht|nie|niemand|ohne|jamais|personne|nadie|nessuno|ninguem|niet|nooit|не|nikt)|n['’]t) (?:[\p{L}'’]{1,12} ){0,2}$/u;
const DENYING =
  /^(?:no|not|nicht|kein|n'|il n'|ne|ya no|non|ja nao|geen|niet|will not|won't|is no|are no|juz nie|inte|more)(?!\p{L})/u;

/** The words of change in a text, folded, but for those that it denies. */
export function changeWords(text: string): Set<string> {
  const folded = fold(text.slice(0, SEARCHED_CHARS));
  const found = new Set<string>();
  for (const { 0: word, index } of matchesOf(PATTERN(), folded))
    if (DENYING.test(word) || !DENIED.test(folded.slice(Math.max(0, index - 40), index))) found.add(word);
  return found;
}

/** Prohibitions, allergies, doses and other warnings about health and safety, folded. */
const WARNING = new RegExp(
  [
    String.raw`allerg\p{L}*|anaphyla\p{L}*|intoleran\p{L}*|coeliac|celiac|unvertraglich\p{L}*|аллерг\p{L}*|alerg\p{L}*`,
    String.raw`\d[\d.,]* ?(?:mg|mcg|µg|ug|ml|iu|i\.?e\.?|units?|einheiten|unites|unidades|drops|tropfen)`,
    String.raw`tablets?|pills?|tabletten?|comprimes?|pastillas?|comprimidos?|compresse|tabletki|insulin\p{L}*|dos(?:e|es|age|is|en)|medication|medikamente?n?|medicijn\p{L}*`,
    String.raw`must not|mustn['’]t|must never|may not|not allowed|never (?!mind|again\b.*\bwork)\p{L}+|do not|don['’]t ever|forbidden|prohibited|not to (?:be|take|have|eat|drink|get|use|give)|not safe|unsafe|dangerous|toxic|poison\p{L}*|avoid|keep away`,
    String.raw`darf (?:nicht|kein\p{L}*|nie)|durfen (?:nicht|kein\p{L}*|nie)|verboten|niemals|auf keinen fall|giftig|lebensgefahr\p{L}*|vorsicht`,
    String.raw`interdit\p{L}*|ne (?:doit|doivent|faut) (?:pas|jamais)|surtout pas|jamais de|dangereu\p{L}*|toxique`,
    String.raw`prohibid\p{L}*|no (?:puede|debe|pueden|deben)(?: \p{L}+)?|nunca|peligro\p{L}*|toxic\p{L}*|proibid\p{L}*|nao pode|vietat\p{L}*|non deve|pericolo\p{L}*|mai dare`,
    String.raw`mag (?:niet|geen|nooit)|mogen (?:niet|geen|nooit)|verboden|gevaarlijk|giftige?|nie wolno|zakaz\p{L}*|нельзя|запрещ\p{L}*|никогда|опасн\p{L}*`,
  ]
    .map((words) => `(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`)
    .join("|") + "|アレルギー|禁止|危険|過敏|禁忌|मना है|एलर्जी|मत (?:दे|कर)",
  "u",
);
/** Marks and words of something that is still to be done. */
const OPEN =
  /^\s*(?:[-*] )?\[ \]|(?<!\p{L})(?:todo|to do:|fixme|still (?:need|have|open|missing)|remember to|don't forget|need to|needs to|noch offen|offen:|muss noch|mussen noch|nicht vergessen|a faire|reste a|il faut encore|pendiente|falta \p{L}+|por hacer|da fare|por fazer|nog doen|moet nog|do zrobienia)(?!\p{L})/u;

/** Whether a note must never be taken for replaced by a guess: a prohibition, an allergy, a dose or another warning, or something open. */
export function isStanding(text: string): boolean {
  const folded = fold(text.slice(0, SEARCHED_CHARS));
  return WARNING.test(folded) || OPEN.test(folded);
}
