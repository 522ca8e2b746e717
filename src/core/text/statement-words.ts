import { fold } from "./fold.ts";

/**
 * Words by which a sentence shows that it tells something lasting, in several languages, folded (lower case, no
 * diacritics). An underscore stands for a blank, a star for any ending of a word, `~` for up to two words; `^` is the
 * beginning of the sentence behind its filler words, `@` one word. Words divided by blanks are alternatives.
 */

export const STATEMENT_KINDS = ["correction", "decision", "preference", "open", "done", "fact"] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

type Cue = { readonly pattern: RegExp; readonly score: number };

function words(lines: readonly string[]): RegExp {
  const alternatives = lines
    .join(" ")
    .split(/\s+/)
    .map((word) =>
      word
        .replaceAll("_~_", String.raw`,? (?:@ ){0,2}`)
        .replaceAll("@", String.raw`[^ ]{1,24}`)
        .replaceAll("_", " ")
        .replaceAll("*", String.raw`[\p{L}']{0,16}`),
    );
  return new RegExp(
    String.raw`(?:(?=,)|(?<![\p{L}\p{N}_'-]))(?:${alternatives.join("|")})(?![\p{L}\p{N}_])`,
    "u",
  );
}

const cue = (score: number, ...lines: readonly string[]): Cue => ({ pattern: words(lines), score });

const PREFERENCE = [
  cue(
    0.9,
    // English
    "^prefer_@_over i_~_prefer we_~_prefer prefers my_preference i'd_~_rather i_would_~_rather from_now_on going_forward in_future in_the_future as_a_rule",
    "(?:i|we|she|he|they|user)_~_(?:hate|hates|dislike|dislikes|detest|can't_stand|cannot_stand|loathe|loves) my_~_favou?rite* call_me address_me",
    "^always ^never please_always please_never (?:should|must|do|you|and|but|want_you_to)_(?:always|never) ^whenever_you ^(?:every|each)_time_you",
    "pet_peeve ^rule: ^preference: ^(?:house|our)_rule i'm_(?:not_)?a_(?:big_)?fan_of works_best_for_me (?:is|are)_best_for_me (?:is|are)_always",
    // German
    "ich_~_bevorzug* bevorzug* mir_~_(?:ist|sind|ware)_~_lieber mag_~_lieber ich_~_lieber am_liebsten ich_hasse bitte_~_(?:immer|nie|niemals) ^immer ^nie ^niemals",
    "kunftig in_zukunft ab_sofort ab_jetzt von_nun_an grundsatzlich* standardmassig ich_will_~_(?:immer|nie|niemals) mein*_lieblings* nenn_mich lieblings* ich_mag_(?:es|kein*)",
    // French
    "je_~_prefere* nous_preferons je_n'aime_pas je_deteste dorenavant desormais a_l'avenir prefere* ^toujours ^(?:ne_)?jamais ne_~_jamais toujours_~_(?:en|avec|par) par_defaut",
    "appelle-moi appelez-moi j'aime_(?:que|les|quand) j'adore",
    // Spanish
    "prefiero preferimos no_me_gusta* me_gusta* odio me_encanta* a_partir_de_ahora de_ahora_en_adelante en_adelante ^siempre ^nunca favorit* por_defecto llamame",
    // Italian
    "preferisco preferiamo mi_piac* detesto adoro d'ora_in_poi d'ora_in_avanti in_futuro ^sempre ^mai non_~_mai preferit* chiamami di_default",
    // Portuguese
    "prefiro gosto_de nao_gosto odeio daqui_em_diante daqui_para_(?:a_)?frente a_partir_de_agora ^sempre me_chame chama-me por_padrao",
    // Dutch
    "ik_~_liever heb_liever het_liefst ik_hou_~_van ik_haat voortaan vanaf_nu in_het_vervolg ^altijd ^nooit noem_me standaard favoriete",
  ),
  cue(
    0.7,
    "i_~_(?:like|love|enjoy)_(?:my|to|short|the_way|when|working|having|using|it_when|things|\\p{L}+s|\\p{L}+ing) i_(?:don't|do_not)_~_(?:like|want|care_for|enjoy)",
    "(?:i|we)_(?:always|never|usually|mostly|only|generally|typically|rarely) by_default ^use_@_(?:instead_of|not|rather_than|over) ^use_~_(?:instead_of|rather_than|everywhere)",
    "(?:should|must)_(?:@_){0,2}(?:be|use|have|stay|go|contain|start|end|fit|touch|need|say|return|run|fail|list|include|show|mention|name|come) (?:answer|reply|respond|write|speak|talk)_(?:@_){0,4}in_(?:english|german|french|spanish|italian|portuguese|dutch)",
    "^(?:don't|do_not|avoid|stop)_(?:ever_)?(?:us*|add*|writ*|apologi*|explain*|creat*|put*|commit*|push*|mock*|suggest*|ask*|send*|call*|mention*|end*|start*)",
    "^no_[^ ,]{2,20}_(?:in|on|before|after|without|please|unless) ^keep_~_(?:short|brief|small|under|below|concise|simple|out_of) i_want_(?:all|every|you_to_~_before|short|my) make_sure_~_(?:every|always|each|all)",
    "before_(?:every|each|any) (?:for|in|on|with)_(?:all|every|any|each) ^only_(?:use|write|commit|change|ask) (?:user|she|he)_(?:likes|enjoys|wants(?![^.]{1,60}_for_[^.]{1,20}(?:birthday|christmas|wedding))) ,_(?:never|nie|niemals|jamais|nunca|nooit)_@ ^when_you_[^,]{1,40}, (?:replies|answers|responses|reports|summaries)_(?:in|as|with|without|should)_@ ^for_[^,]{1,30}_i_want ^(?:use|write|round|put|name|call|sort|format|give|list|show)_[^,]{1,40},_not_@ i_don't_(?:eat|drink|smoke|use|take|work|answer|read) ^(?:@_){1,4}in_this_(?:repo|repository|project|codebase)_(?:start|begin|end|use|must|are|have|go)",
    "immer nie niemals ich_mag ich_mochte_(?:kein*|immer|nur) bitte_~_kein* bitte_(?:auf|als|ohne|nur|stets)_@ ^kein*_~_(?:in|ohne|vor) nur_noch verwende_~_(?:statt|immer) (?:soll|sollen|muss|mussen|darf|durfen)_~_(?:sein|haben|bleiben|werden)",
    "toujours j'aime ^pour_(?:les?|la|mes|mon|ma)_[^,]{1,30},_(?:utilise|ecris|mets|prends) je_(?:ne_)?veux_(?:pas|que|toujours) utilise_~_(?:plutot|au_lieu) plutot_que pas_de_~_dans evite*",
    "siempre nunca evita* no_uses no_quiero usa_~_en_(?:vez|lugar)",
    "sempre evita_di non_usare non_voglio usa_~_(?:invece|al_posto)",
    "nao_quero evite* nao_use* use_~_em_vez",
    "altijd nooit ik_wil_(?:geen|altijd|graag) gebruik_~_(?:in_plaats|geen|liever) liever geen_~_in",
  ),
];

const DECISION = [
  cue(
    0.92,
    "(?:we|i|they|team|board|council|committee)_~_(?:decided|agreed|chose|chosen|settled_on|opted|picked|concluded) ^decision: ^decided: ^agreed: ^agreed_with ^resolved: the_decision it's_(?:decided|settled) it_is_(?:decided|settled)",
    "(?:let's|let_us)_(?:go_with|use|stick|stay|drop|switch|adopt|skip|postpone|not|settle|go_for|move_to|keep|stop|abandon|replace|call_it|take) (?:i'm|we're|i_am|we_are)_(?:going_with|sticking_with|switching|dropping|migrating|moving_to|moving_away|moving_off|not_going|keeping|replacing)",
    "(?:we|i)_(?:went|go)_with (?:was|were|is|been)_(?:decided|agreed|approved|rejected|ruled_out|scrapped) made_up_my_mind final_(?:call|decision|answer) (?:ruled|ruling)_out",
    "(?:habe|haben|hat|wurde|ist)_~_(?:entschieden|entschlossen|geeinigt|beschlossen|festgelegt|verworfen|vereinbart) @_(?:entschieden|beschlossen|geeinigt|festgelegt|vereinbart) entscheidung* beschluss (?:es|wir)_bleib(?:t|en)_bei",
    "wir_(?:nehmen|nutzen_kunftig|verwenden_kunftig|setzen_auf|wechseln|verzichten|streichen|steigen) lass_uns_~_(?:nehmen|bleiben|verwenden|nutzen|verzichten|streichen)",
    "(?:avons|ai|a|ont|est|etait)_~_(?:decide|choisi|convenu|opte|retenu|tranche|abandonne) on_(?:part_sur|garde|passe_a|prend|abandonne|reste_sur) nous_(?:gardons|passons_a|partons_sur|abandonnons|utiliserons|restons) la_decision",
    "(?:hemos|he|han|se_ha|ha)_~_(?:decidido|acordado|elegido|optado|descartado) decidimos decidi acordamos elegimos optamos vamos_a_(?:usar|utilizar|quedarnos|dejar|cambiar|migrar) nos_quedamos_con la_decision descartamos",
    "(?:abbiamo|ho|hanno|e_stato)_~_(?:deciso|scelto|concordato|optato|scartato|stabilito) la_decisione restiamo_(?:con|su) passiamo_a andiamo_(?:con|avanti_con) useremo teniamo",
    "escolhemos optamos ficamos_com vamos_(?:usar|utilizar|ficar|manter|mudar|migrar|abandonar) a_decisao ficou_(?:decidido|combinado|acordado) combinamos foi_decidido",
    "(?:hebben|heb|heeft|is)_~_(?:besloten|gekozen|afgesproken|besproken_dat) (?:besloten|gekozen_voor|afgesproken) we_(?:gaan_voor|houden_het_bij|stappen_over|kiezen|blijven_bij|gebruiken_voortaan) het_besluit beslissing",
  ),
  cue(
    0.72,
    "(?:we|i)(?:'ll|_will|_are_going_to|'re_going_to|'m_going_to)_~_(?:use|go_with|keep|drop|support|switch|adopt|stay|stick|replace|ship_with|host|target|pay|rent|buy|name|call|plant|grow|hire|sell|build|publish) (?:we're|i'm|we_are|i_am)_not_(?:renewing|extending|continuing|buying|hiring|joining|attending|selling|changing|adding|supporting|using) (?:we|i)_(?:won't|will_not|are_not_going_to|aren't_going_to)",
    "(?:we|i)_(?:no_longer|don't_~_anymore|stopped|gave_up|quit|dropped|switched|moved_to|moved_from|adopted|replaced|abandoned) instead,_we_will will_be_(?:called|named|hosted|replaced)",
    "(?:nehmen_wir|nehme_ich|ich_werde_[^.,]{1,30}_nicht_@*) wir_(?:werden|machen|behalten)_~_(?:nicht|nutzen|verwenden|einsetzen|behalten)",
  ),
];

const CORRECTION = [
  cue(
    0.92,
    "^correction ^(?:no|nope),?_(?:actually|it's|it_is|that's|the|i|we|my|not|she|he|they|you|there|this|wait) that's_(?:wrong|incorrect|not_(?:right|correct|true|what|how)) that_is_(?:wrong|incorrect|not_(?:right|correct|true))",
    "(?:^|,_|and_)actually,?_(?:it|its|it's|the|that|that's|i|i'm|my|we|our|he|she|they|there|no) i_(?:actually_)?meant i_said_~_(?:not|@,_not) you_(?:misunderstood|misread|mixed_up|confused|misremember*) you_(?:got|have|had)_~_wrong scratch_that",
    "i_was_(?:wrong|mistaken) my_mistake mixed_(?:that|it|this|them)_up that's_(?:outdated|out_of_date) ^(?:it|that|she|he)_(?:is|was)_@,_not_@ ^you_(?:wrote|said)_[^,]{1,40},_but i_(?:misspoke|mistyped|misremembered) not_@,_but (?:is|are|was|were)_(?:wrong|incorrect|outdated|out_of_date):? contrary_to ^wrong[,:.] i_never_said ^not_@[,:;]",
    "^nein, das_(?:stimmt|ist)_(?:so_)?(?:nicht|falsch) korrektur ^falsch stimmt_nicht das_ist_nicht_(?:richtig|korrekt) ich_meinte ich_meine_nicht sondern eigentlich_(?:heisst|ist|sind|war) ^doch, habe_mich_(?:geirrt|vertan|vertippt)",
    "^non, c'est_(?:faux|inexact) ce_n'est_pas_~_mais je_voulais_dire en_fait,? ^erreur correction_: je_me_suis_trompe* ^faux",
    "^no,_(?:es|en|el|la|los|las|no|yo|mi|son|era|se|eso) eso_no_es en_realidad queria_decir me_equivoque correccion ^falso no_es_@,?_sino sino_(?:el|la|en|que)",
    "^no,_(?:e|il|la|lo|non|mi|si|i|le|sono|in) non_e_(?:cosi|vero|corretto) in_realta volevo_dire intendevo mi_sono_sbagliat* correzione bensi",
    "^nao,_(?:e|o|a|os|as|eu|nao|esta|isso|na|no|foi|era) isso_nao_esta na_verdade na_realidade eu_quis_dizer queria_dizer enganei-me me_enganei correcao errado[,:.]",
    "^nee, dat_klopt_niet dat_is_(?:niet|fout|onjuist) eigenlijk_(?:is|heet|was|zijn) ik_bedoel* correctie ik_had_het_(?:fout|mis) ^fout ik_vergiste",
  ),
  cue(
    0.62,
    "(?:is|are|was|isn't|aren't|wasn't|uses|runs|lives|has|should_be)_[^,]{1,40},_not ,_nicht_@ ,_pas_@ ,_no_(?:el|la|en|a|de|los|un|una)_@ ,_non_@ ,_nao_@ ,_niet_@",
  ),
];

const OPEN = [
  cue(0.95, "(?:haven't|hasn't|have_not|has_not|not_yet)_(?:decided|agreed|chosen|settled)"),
  cue(
    0.85,
    "^todo:? ^to-do:? ^fixme:? ^open: ^next:? remind_me (?:don't|do_not)_let_me_forget still_(?:have|has)_no (?:it's|it_is)_not_yet_(?:clear|known|sure) (?:don't|do_not|let's_not)_forget ^remember_to still_(?:need|needs|have_to|has_to|missing|open|pending|waiting|unclear|unresolved|undecided|outstanding|owe|left|to_do|haven't|hasn't|don't|doesn't|not)",
    "waiting_(?:for|on) blocked_(?:by|on) open_question* (?:haven't|hasn't|have_not|has_not|didn't|isn't|not|aren't)_~_yet yet_to_be (?:is|are)_yet_to next_steps? follow_up pick_(?:this|it)_up (?:is|are)_due need_to_~_(?:before|by|next|later|tomorrow|this_week|soon)",
    "(?:i|we)_(?:still_)?(?:need|have|ought)_to_(?!say|admit|know|see|ask) to_be_(?:decided|done|confirmed|determined|clarified) undecided unresolved left_to_do on_my_(?:list|plate) put_off_until (?:before|by)_(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|the_end_of|next)",
    "erinner*_mich (?:liegt|liegen)_noch_(?:bei|beim|auf) noch_(?:offen|nicht|zu|ausstehend|klaren|fehl*|kein*|unklar) (?:muss|mussen)_~_noch fehlt_noch (?:steht|stehen)_~_aus vergiss_nicht offen_ist offene_frage warte*_~_auf bis_(?:montag|dienstag|mittwoch|donnerstag|freitag|ende)",
    "rappelle-moi rappelez-moi je_dois_encore il_(?:faut|reste)_~_(?:encore|a) il_reste n'oublie* pas_encore reste_a a_faire en_attente on_doit_encore il_faut_encore",
    "recuerdame hay_que falta_\\p{L}{2,}[aei]r falta_(?:por|el|la|que) pendiente* no_olvides aun_no todavia_(?:no|falta|tengo|tenemos|hay) queda_por esperando tengo_que tenemos_que",
    "ricordami bisogna manca_(?:ancora|il|la) non_dimenticare ancora_da in_sospeso dobbiamo devo non_~_ancora in_attesa da_fare resta_da",
    "lembra-me me_lembre* falta_ainda ainda_(?:nao|falta|temos|preciso|precisamos|tenho) nao_te_esquecas nao_esqueca pendente temos_de temos_que preciso_de precisamos",
    "herinner_me nog_(?:niet|te|geen|open|steeds) moet*_~_nog vergeet_niet openstaand wacht*_op moeten_we (?:ik|we)_moet*",
  ),
  cue(
    0.6,
    "(?:needs|has)_to_be (?:needs|need)_(?:a|an|to)_@ (?:i'll|i_will|we'll|we_will)_~_(?:tomorrow|later|next|on_monday|on_tuesday|on_wednesday|on_thursday|on_friday|this_weekend|after) (?:tomorrow|next_(?:week|month|sprint|quarter)),?_(?:i|we) deadline (?:i|we)_(?:plan|intend|hope)_to (?:i'm|we're)_planning_to",
    "(?:i|we)_should_~_(?:at_some_point|eventually|later|soon|someday) (?:sometime|someday|at_some_point) morgen_(?:muss|will|werde) nachste_woche demain_je manana_(?:tengo|hay|voy) domani_(?:devo|dobbiamo) amanha_(?:tenho|vou)",
  ),
];

const DONE_VERBS =
  "fixed|finished|merged|deployed|released|shipped|migrated|added|removed|renamed|upgraded|updated|installed|implemented|wrote|written|rewrote|built|moved|bought|booked|sent|paid|signed|called|cancelled|canceled|completed|solved|resolved|closed|tested|published|refactored|configured|set_up|replaced|cleaned|ordered|submitted|found|launched|hired|rented|sold|created|enabled|disabled|reverted|rolled_back|passed|planted|painted|repaired|filed|applied|registered|visited|met|attended|submitted|handed_in|ran|backed_up|rotated|patched|archived|deleted|started|tracked_down|reproduced|measured|tuned|picked_up|baked|cooked";
const DONE = [
  cue(
    0.84,
    `(?:i|we)(?:'ve)?_(?:have_)?(?:just_|already_|finally_|successfully_|also_)?(?:${DONE_VERBS}) (?:turned|turns)_out ^done: ^fixed: (?:the|root|real)_(?:cause|culprit|reason|root_cause|problem|bug)_~_was was_caused_by (?:came|was_coming)_from`,
    "(?:is|are|was|were|has_been|have_been|got)_(?:now_|already_|finally_|all_)?(?:done|finished|live|merged|deployed|fixed|released|shipped|completed|migrated|closed|signed|paid|booked|published|resolved|solved|launched|approved_by|rolled_out) fixed_(?:it|the|by) solved_(?:it|the|by)",
    "(?:habe|haben|hat|wurde|wurden|ist|sind)_[^.]{1,60}_(?:behoben|fertig|erledigt|ausgerollt|veroffentlicht|umgestellt|migriert|gebaut|geschrieben|geschickt|gekauft|gebucht|bezahlt|abgeschlossen|gelost|repariert|aktualisiert|installiert|eingerichtet|umgezogen|gefunden|gemerged|deployt|unterschrieben|abgegeben|verkauft|bestanden|bestellt|gemietet|verschickt|eingereicht|renoviert|erneuert) lag_~_an ursache_war ist_(?:fertig|erledigt|behoben|live)",
    "(?:j'ai|nous_avons|on_a|a_ete|ont_ete)_~_(?:corrige|termine|fini|deploye|publie|migre|installe|ajoute|supprime|envoye|achete|reserve|paye|resolu|ecrit|livre|signe|repare|trouve|fusionne|rendu|vendu|commande|loue|renove)* la_cause_etait venait_d*",
    "(?:he|hemos|ha_sido)_~_(?:terminado|corregido|desplegado|publicado|migrado|instalado|enviado|comprado|reservado|pagado|resuelto|arreglado|firmado|acabado|actualizado|vendido|entregado|alquilado|pedido) (?:arregle|termine|desplegamos|publicamos|migramos|arreglamos|terminamos|compre|reserve|envie|pague|mande|vendi|entregue) la_causa_era",
    "(?:ho|abbiamo|e_stat[oa])_~_(?:finito|corretto|risolto|pubblicato|migrato|installato|inviato|comprato|prenotato|pagato|sistemato|completato|rilasciato|firmato|aggiornato|spedito|consegnato|venduto|affittato|ordinato) la_causa_era",
    "(?:terminei|corrigi|publicamos|migramos|instalei|enviei|comprei|reservei|paguei|resolvi|acabei|concluimos|lancamos|terminamos|corrigimos|assinei|atualizei|entreguei) a_causa_era foi_~_(?:corrigido|publicado|concluido|resolvido)",
    "(?:heb|hebben|is|zijn)_[^.]{1,60}_(?:opgelost|afgerond|gefixt|uitgerold|gepubliceerd|gemigreerd|geinstalleerd|verstuurd|gekocht|geboekt|betaald|geschreven|gebouwd|hersteld|ondertekend|bijgewerkt|klaar) de_oorzaak_was",
  ),
  cue(
    0.66,
    "(?:works|worked|passes|compiles|builds)_(?:after|once|because) (?:yesterday|last_(?:week|night|month|friday|monday|year)|this_morning),?_(?:i|we) ^(?:deployed|released|shipped|merged|migrated|published|finished|upgraded|switched|installed|moved|removed|added)_@_@",
  ),
];

const BE =
  "is|are|was|were|isn't|aren't|has|have|had|uses|use|runs|run|lives|live|works|work|belongs|owns|leads|maintains|speaks|costs|supports|requires|starts|ends|listens|depends|returns|expects|takes|plays|studies|teaches|manages|handles|stores|reads|writes|sits|stands|holds|contains|means|closes|opens|needs|comes|goes|expires|moved|joined|died|loves|likes|wants|drives|sends|reports|hosts|weighs|lasts|allows|limits|called|named|turns|grew|retired|meets|happens|arrives|leaves|consists|includes|serves|points|covers|wrote|founded|deploys|keeps|sleeps|eats";
const FACT = [
  cue(
    0.8,
    `^(?:my|our)_(?:@_){1,6}(?:${BE}) ^(?:my|our)_@'s_@ (?:my|our)_@(?:_@)?_(?:is|are|was|has|have|lives|works|runs|uses)`,
    "i(?:'m|_am)_(?:a|an|the|from|allergic|vegetarian|vegan|married|divorced|born|based|responsible|left-handed|colou?r-?blind|deaf|pregnant|retired|diabetic|in_charge|lactose|an?_\\p{L}+|\\d+) i_(?:live|work|study|speak|own|drive|teach|grew_up|was_born|run|manage|lead|maintain|play|moved|come|studied|worked|lived|commute|weigh|sleep|wear|have_(?:a|an|two|three|four|five|my|been|asthma|diabetes|\\d+))",
    "we_(?:have|use|run|host|deploy|store|sell|support|own|employ|operate|live|work|bill|charge|track|release|maintain|develop|build|serve|target|meet|keep_(?:our|the|all)|are_(?:a|an|based|\\d+)|are_(?:two|three|four|five|six|seven|eight|ten)) we're_(?:a|based)",
    "ich_(?:bin|wohne|lebe|arbeite|heisse|spreche|habe_(?:ein*|zwei|drei|\\d+)|komme|studiere|leite|fahre|unterrichte) ^(?:mein|meine|unser|unsere|unserer|meiner)_~_(?:@_){0,2}(?:ist|sind|hat|heisst|wohnt|arbeitet|lauft|laufen|liegt|nutzt|verwendet|kostet|war|lebt|spielt|geht|steht|leitet|haben|beginnt)",
    "wir_(?:sind|haben|nutzen|verwenden|betreiben|wohnen|arbeiten|hosten|verkaufen|speichern) je_(?:suis|travaille|vis|m'appelle|parle|dirige|conduis|viens) j'(?:habite|ai_(?:un|une|deux|trois|\\d+)|enseigne|etudie) ^(?:mon|ma|mes|notre|nos)_~_(?:@_){0,2}(?:est|sont|a|ont|s'appelle|habite|travaille|tourne|utilise|vit|coute|se_trouve|joue|commence|ecoute|s'appellent) nous_(?:sommes|avons|utilisons|hebergeons|habitons|vendons)",
    "(?:soy|vivo|trabajo|tengo_(?:un|una|dos|tres|\\d+)|me_llamo|hablo|estudio|naci) ^(?:mi|mis|nuestro|nuestra|nuestros|nuestras)_~_(?:@_){0,2}(?:es|son|esta|estan|tiene|vive|trabaja|se_llama|usa|corre|cuesta|juega|empieza|viven) (?:tenemos_(?!que)|usamos|utilizamos|vivimos)",
    "(?:sono_(?:un|una|nat[oa]|allergic[oa]|di|vegetarian[oa]|il|la)|vivo_a|abito|lavoro|ho_(?:un|una|due|tre|\\d+)|mi_chiamo|parlo|insegno) ^(?:il_mio|la_mia|i_miei|le_mie|mio|mia|il_nostro|la_nostra|i_nostri|nostro|nostra)_~_(?:@_){0,2}(?:e|sono|ha|si_chiama|vive|lavora|gira|usa|costa|abita|gioca|inizia|hanno|studia) (?:usiamo|abbiamo_(?:un|una|due|tre|\\d+)|siamo)",
    "(?:sou|moro|trabalho|tenho_(?:um|uma|dois|duas|tres|\\d+)|me_chamo|chamo-me|falo|nasci|vivo_em) ^(?:o_meu|a_minha|os_meus|as_minhas|meu|minha|meus|o_nosso|a_nossa|nosso|nossa|nossos)_~_(?:@_){0,2}(?:e|sao|tem|mora|vive|trabalha|se_chama|chama-se|usa|corre|roda|fica|custa|joga|comeca|esta|estuda|estudam) (?:temos_(?!de|que)|somos)",
    "(?:ik_(?:ben_(?:een|allergisch|geboren|vegetarier|de)|woon|werk|heet|spreek|heb_(?:een|twee|drie|\\d+)|studeer|kom_uit|rijd)) ^(?:mijn|onze|ons)_~_(?:@_){0,2}(?:is|zijn|heeft|woont|werkt|heet|draait|gebruikt|kost|leeft|speelt|staat|begint|hebben) we_(?:gebruiken|hebben|wonen|zijn|draaien)",
  ),
  cue(
    0.52,
    `^the_(?:@_){1,5}(?:${BE}) ^(?:the|our|my)_(?:@_){1,3}\\p{L}{3,}s_(?:every|each|on|at|until|from)_@ ^(?:she|he|they)_(?:${BE}) ^(?!(?:it|this|that|these|those|here|there|what|which|who|how|why|everything|nothing|something|i|we|you|and|or|but|if|when)_)@(?:_(?:and_)?@){0,2}_(?:is|lives|works|runs|uses|has|belongs|owns|leads|maintains|speaks|costs|supports|requires|listens|depends|starts|takes|studies|teaches|manages|plays|expires|stores|moved|joined|turns)`,
    "^(?:der|die|das)_(?:@_){1,4}(?:ist|sind|hat|lauft|laufen|liegt|nutzt|verwendet|heisst|kostet|wohnt|arbeitet|gehort|beginnt|endet|speichert|leitet) ^(?:le|la|les|l'@)_(?:@_){1,4}(?:est|sont|tourne|utilise|s'appelle|coute|habite|travaille|appartient|commence|se_trouve|ecoute)",
    "^(?:el|la|los|las)_(?:@_){1,4}(?:es|son|esta|usa|corre|tiene|cuesta|vive|trabaja|se_llama|empieza|guarda) ^(?:il|lo|la|i|gli|le)_(?:@_){1,4}(?:e|sono|usa|gira|ha|costa|vive|lavora|si_chiama|si_trova|inizia) ^(?:o|a|os|as)_(?:@_){1,4}(?:e|sao|usa|corre|roda|tem|custa|fica|mora|trabalha|chama-se|comeca) ^(?:de|het)_(?:@_){1,4}(?:is|zijn|draait|gebruikt|heeft|kost|woont|werkt|heet|staat|begint)",
    "^@_(?:ist|wohnt|arbeitet|heisst|leitet|habite|travaille|s'appelle|est|vive|trabaja|se_llama|lavora|abita|trabalha|mora|woont|werkt|heet)",
  ),
];

export const CUES: {
  readonly kinds: Readonly<Record<StatementKind, readonly Cue[]>>;
  /** Words at the beginning that say nothing. */
  readonly filler: RegExp;
  readonly doubt: RegExp;
  /** Points to something that only the conversation shows. */
  readonly pointing: RegExp;
  /** A state that passes. */
  readonly passing: RegExp;
  /** Requests, replies and greetings. */
  readonly never: RegExp;
} = {
  kinds: {
    preference: PREFERENCE,
    decision: DECISION,
    correction: CORRECTION,
    open: OPEN,
    done: DONE,
    fact: FACT,
  },
  filler:
    /^(?:ok(?:ay)?|so|well|also|and|but|oh|ah|hm+|yes|yeah|yep|right|sure|great|good|thanks|thank you|please|btw|by the way|fyi|just so you know|for the record|note(?: that)?|remember(?: that)?(?: to)?(?= )|one more thing|another thing|hey|hi|look|listen|anyway|then|again|important|ja|also|ubrigens|gut|danke|bitte|und|aber|au fait|oui|merci|bon|alors|d'accord|por cierto|si|vale|bueno|gracias|tra l'altro|comunque|sim|bom|alias|ah e|trouwens|oke|dus|goed)(?:[,:;.!-]+ ?| )/,
  doubt: words([
    "maybe perhaps i_guess might not_sure if_we_could what_if wonder* suppose imagine could_be seems looks_like i_think_it vielleicht peut-etre quizas forse talvez misschien scheint wahrscheinlich probably possibly hypothetically",
  ]),
  pointing: words([
    "^(?:it|this|that|these|those|they|there|here)_(?:is|are|was|were|has|does|looks|seems|works|should|will|still) ^(?:it's|that's|there's|here's|das_ist|es_ist|c'est|(?:es|das)_(?:geht|klappt|funktioniert)|ca|esto|eso|questo|isso|dit|dat_is|het_is) as_above see_(?:above|below) line_\\d+ ^(?:this|that)_@_(?:is|fails|throws|looks|was|has)",
  ]),
  passing: words([
    "fail* broken crash* error errors red currently again slow weird stuck hang* loading compiling (?:not|isn't|doesn't|don't)_(?:work*|show*|compile|build|load) won't_(?:work|compile|build|load|start) missing undefined right_now at_the_moment gerade kaputt geht_nicht schlagt_fehl echoue ne_marche_pas falla no_funciona fallisce non_funziona nao_funciona werkt_niet too_@ trop_@ zu_(?:lang|kurz|gross|klein|dunkel|langsam) demasiado troppo cut_off problem same better sorted attached off_by tired confused annoyed happy excited curious here below above",
  ]),
  never: words([
    "^(?:can|could|would|will|won't)_(?:you|we|i) ^(?:kannst|konntest|wurdest)_du ^(?:peux|pourrais|peut|pouvez|pourriez)[-_](?:tu|on|vous) ^(?:puedes|podrias|podemos|puoi|potresti|pode*|poderia*|kun_je|kunt_u|zou_je) ^(?:hello|good_morning|good_evening|guten_(?:morgen|tag)|hallo|bonjour|hola|ciao|ola)(?:_@)?[!.,]?$ ^thank* ^(?:go|carry)_on",
    "^(?:what|why|how|when|where|who|which|is_there|are_there|do_you|does|did|shall|should_(?:i|we))",
  ]),
};

export interface Statement {
  readonly kind: StatementKind;
  /** In (0, 1]: how much in the sentence speaks for the kind. */
  readonly score: number;
}

/** A lasting statement is one sentence; more is a paste. */
const MAX_CHARS = 600;
const MIN_WORDS = 2;
const MIN_SCORE = 0.5;
/** Texts with a smaller share of letters and blanks are code, tables and logs. */
const MIN_PROSE = 0.6;
/** Factors for what is said with doubt, and for what points to something that is not in the sentence. */
const DOUBT = 0.6;
const POINTING = 0.55;
const SPECIFIC = 0.12;

const QUESTION = /[?？]["'”’)\s]*$/u;
const CODE_LINE =
  /^(?:[{}[\]<$#>|/]|at |\d\d:\d\d|\d{4}-\d\d-\d\dT)|[{};]$|=>|\w\(\)\s*[{;]|^(?:import|const|let|def|class|return|export|function) \S{1,60}(?: \S{1,60})?[=({:;]/;
const NUMBER_OR_NAME = /\d|(?<=\S )["'“«`]?\p{Lu}[\p{L}\p{M}]+|`[^`\n]{2,}`|\b\p{L}+[./_-]\p{L}+/u;

/**
 * The kind of a sentence that is worth remembering: a standing preference, a decision, a correction, a fact about people
 * or projects, something open or something done. Undefined for questions, requests for the moment, replies, greetings,
 * passing states and code. Rules for English first, and the usual cue words of German, French, Spanish, Italian,
 * Portuguese and Dutch. Cost: linear.
 */
export function statementKind(sentence: string): Statement | undefined {
  const plain = sentence.trim();
  if (plain.length > MAX_CHARS || QUESTION.test(plain) || CODE_LINE.test(plain)) return undefined;
  if ((plain.match(/[\p{L}\p{M}\s]/gu)?.length ?? 0) < plain.length * MIN_PROSE) return undefined;
  const text = withoutFillers(
    fold(plain)
      .replaceAll(/[’`´]/g, "'")
      .replaceAll(/\s+/g, " ")
      .replace(/^(?:[-*•–] |\d{1,2}[.)] |> )/, ""),
  );
  if (text.split(" ").length < MIN_WORDS || CUES.never.test(text)) return undefined;
  let factor = 1;
  if (CUES.doubt.test(text)) factor *= DOUBT;
  if (CUES.pointing.test(text)) factor *= POINTING;
  const specific = NUMBER_OR_NAME.test(plain) ? SPECIFIC : 0;

  let best: Statement | undefined;
  for (const kind of STATEMENT_KINDS) {
    const strength = CUES.kinds[kind].find(({ pattern }) => pattern.test(text))?.score ?? 0;
    if (strength === 0) continue;
    const passing = (kind === "fact" || kind === "done") && CUES.passing.test(text) ? POINTING : 1;
    const score = Math.min(1, (strength + specific) * factor * passing);
    if (score >= MIN_SCORE && score > (best?.score ?? 0)) best = { kind, score };
  }
  return best;
}

/** Without "Ok, so", "by the way" and the like at the beginning; "no, actually" stays. */
function withoutFillers(text: string): string {
  let rest = text;
  for (let count = 0; count < 4; count += 1) {
    const filler = CUES.filler.exec(rest)?.[0];
    if (filler === undefined || filler.length === rest.length) break;
    rest = rest.slice(filler.length);
  }
  return rest;
}
