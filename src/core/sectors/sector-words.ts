/**
 * Word lists behind the textual cues of `sector-cues.ts`: closed classes of English as far as possible, and for
 * verbs and feelings the common words that a learner's dictionary would mark so. Lower case, both spellings.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** Base forms that open an instruction; only their place at the start of a clause counts. */
export const INSTRUCTION_VERBS = words(`
  accept add adjust agree aim allow answer apply approve ask assign attach avoid back bake be beat begin
  bleed blend boil book break breathe bring brush build bump buy calculate call cancel carry catch change
  charge check choose clean clear click close collect combine come commit compare compile complete configure
  confirm connect consider contact convert cook copy count cover create cut debug decide defer define delete
  deploy descale describe dial dip disable disconnect discuss divide do document double download drag drain
  draw drink drive drop dry eat edit empty enable encourage end ensure enter escalate estimate exit expect
  explain export fasten feed fetch file fill find finish fit fix flip flush fold follow format forward
  freeze fry gather get give go grab grease greet grind handle hang heat hide hit hold ignore import include
  increase inform insert inspect install invite involve iron join keep knead knock label lay leave let lift
  light limit line link list listen load lock log look loosen lower make map mark measure melt mention merge
  mind mix monitor mount move mute name never note notify obtain offer omit open order pack paint park pass
  paste pause pay peel pick pin ping place plan plant plug point polish post pour practice practise praise
  prefer prefix prepare press prevent print prioritise prioritize proceed prune publish pull push put
  quarantine quote raise reach read rebase reboot rebuild record refer reload remember remind remove rename
  repeat replace reply report request reserve reset resist respond restart restore return review revoke
  rewrite rinse roll rotate round rub run sand save say scan schedule screw scroll seal search season see
  select send separate serve set shake share shut sign simmer sit skip slice slide slow smile snooze soak
  soften sort speak split spray spread sprinkle squash squeeze stack stand start stay steam step stick stir
  stop store stretch strip submit subtract swap switch take talk tap taste tell test thank thaw thread throw
  tidy tie tighten toast touch track translate treat trim trust try tune turn twist type undo unlock unplug
  unscrew update upgrade upload use validate verify visit wait walk warm warn wash watch water wear weigh
  whisk wipe work wrap write zip`);

/** Forms of the past that do not end in -ed. Words that read the same in the present (put, cut, read, set) are left out. */
export const IRREGULAR_PAST = words(`
  arose ate awoke became began bent bit bled blew bore bought broke brought built burnt came caught chose
  did drank dreamt drew drove dug fed fell felt fled flew forgot fought found froze gave got grew had heard
  held hid hung kept knew laid learnt led left lent lost made meant met overcame overslept paid ran rang
  rewrote rode rose said sang sank sat saw sent shook shot shrank slept slid sold sought spent spoke sprang
  spun stank stole stood struck stuck swam swept swore swung taught thought threw told took tore understood
  was went wept were withdrew woke won wore wrote`);

/** Adjectives and adverbs in -ed, and words that merely end so. */
export const NOT_PAST = words(`
  advanced amused annoyed ashamed based bed beloved bored closed combined confused delighted depressed
  detailed devastated disappointed disgusted embarrassed excited exhausted feed frightened frustrated
  heartbroken hundred indeed irritated limited linked naked need needed overwhelmed pleased protected red
  related relieved rugged sacred scared seed shared shed sled speed stressed supposed terrified thrilled
  tired united unused used weed wicked worried`);

/** Feelings: nouns, verbs and adjectives of emotion and mood. Matched as whole words. */
export const FEELINGS = words(`
  ache aches aching adore adored adores afraid alarmed amazed amused anger angry anguish annoyed annoying
  annoys anxiety anxious appalled ashamed astonished awe awful awkward bawled bawling beaming besotted
  bitter bitterness bliss blissful blue blushed blushing bored boredom broken-hearted calm calmer cheered
  cheerful cheers cheery comfort comforted comforting content cranky cries crushed cry crying dejected
  delight delighted delights depressed despair desperate despise despised devastated disappointed
  disappointing disappointment disgust disgusted disgusting dismay dismayed distraught distress distressed
  downcast dread dreaded dreadful dreading dreads ecstatic edgy elated elation embarrassed embarrassing
  embarrassment enraged enraptured enthusiastic envious envy euphoric exasperated excited excitement
  exciting exhausted exhilarated fear fearful fears frightened frightening frightens frustrated frustrating
  frustration fuming furious fury giddy giggling glad gleeful gloomy glum grateful gratitude grief grieving
  grinning grumpy guilt guilty gutted happier happiest happily happiness happy hate hated hates hating
  heartache heartbreaking heartbroken heartsick heartwarming helpless homesick hopeless horrible horrified
  humiliated hurt hurts hysterical impatient infatuated infuriated infuriates infuriating insulted
  intimidated irked irks irritated irritating irritation jealous jealousy jittery joy joyful joyous jubilant
  livid loathe loathes loneliness lonely lonesome longing love loved loves loving mad melancholy merry
  miffed miserable misery moody mortified mourn moved nerves nervous nostalgia nostalgic numb outraged
  overjoyed overwhelmed overwhelming pains panic panicked panicking panicky peaceful petrified pity pleased
  pride proud rage rattled relief relieved remorse resent resentful resentment restless sad sadden saddened
  saddens sadder sadness scare scared scares scary scream screaming seething shaken shame shocked shy sick
  sickens smitten sob sobbed sobbing sorrow sorry speechless startled stings stress stressed stressful stung
  stunned sulking surprised suspense tearful tearing tears tender tense tension terrible terrified terrifies
  terrifying terror thankful thrill thrilled thrilling thrills tired torn touched touching trembling
  troubled unbearable uneasy unhappy unloved upset upsets upsetting vexed weary weep weeping weepy wept
  wistful wonderful worried worries worry worrying wounded yearn yearning`);

/** Parts of the body and expressions by which English speaks of feelings. */
export const FEELING_BODY = words(`
  blood bones breath butterflies chest goosebumps heart hearts knees knots laugh laughed laughing lip lips
  lump mood palms shiver shivers sigh sighed skin smile smiling soul spirits stomach tears throat`);

/** Verbs and nouns of thinking about oneself and of drawing conclusions. */
export const REFLECTION = words(`
  actually admit aim ambition apparently aspire assume assumed assumption became because become becoming
  believe believed better blind conclusion discovered doubt easier grow grown growth habit habits harder
  hindsight honest honestly hope insight instead learn learned learning learnt lesson lessons mattered
  matters maybe meaning misjudged mistake mistaken mistaking mistook myself notice noticed noticing
  ourselves overestimate overestimated pattern patterns perhaps purpose rather realise realised realising
  realize realized realizing really reason recognise recognised recognize recognized reconsider reflecting
  reflection regret rethink retrospect seem seemed seems sense strength strengths suspect suspected takeaway
  taught teaches tend tendency tends think thinking thought underestimate underestimated understand
  understood value values weakness weaknesses wish wished wonder wondered wondering worse`);

export const MONTHS = words(
  "january february march april june july august september october november december",
);
export const WEEKDAYS = words("monday tuesday wednesday thursday friday saturday sunday");

/** Words that point from the moment of writing to a moment. */
export const NEARBY_TIMES = words(
  "yesterday today tonight tomorrow overnight ago earlier afterwards meanwhile once later",
);

export const FREQUENCY = words(
  "always never usually often sometimes rarely seldom whenever every each everyone nobody anyone whoever ever",
);
export const OBLIGATION = words(
  "must should shall ought needs need requires required mandatory forbidden allowed",
);
export const SEQUENCE = words("first next then finally last before after until once step steps again");
export const DEFINING_VERBS = words(`
  allows called consists contains costs defined denotes describes has holds includes known lasts lives mean
  means prefers provides refers stands uses`);
export const DEGREE = words(
  "so such too very utterly completely absolutely totally beyond deeply what how pure sheer",
);
export const INTERJECTIONS = words(`
  aah ah alas argh aw damn gosh haha hooray hurrah hurray lol ngl oh omg ooh ouch phew sigh ugh woohoo wow
  yay yikes yuck`);
export const COMPARISON = words("more less fewer better worse than most least rather instead");

/** Each is a cue of its own: pronouns, auxiliaries, articles, prepositions and conjunctions. */
export const FUNCTION_WORDS: readonly string[] = [
  ...words(`
    a about after all am an and any are as at be because been before being by can each for from had has have he her his
    how i i'm i've if in into is it its me more most my never no not of off on once only or our out over own same she
    should so than that the their them then there they this through to too under until up us was we were what when
    where which who while why with would you your don't it's`),
];

/** Frequent small words of German, French, Spanish, Italian, Portuguese, Dutch and Polish that English does not have. */
export const FOREIGN_FUNCTION_WORDS = words(`
  der das und ich nicht ist sie wir ein eine einen dem den des mit auf für von zu zum zur im wenn aber auch haben
  le la les une est pas je nous vous dans avec sur qui que ce cette mais du au aux et il elle
  el los las un y por con para como pero muy mi su yo está del se lo
  che di non sono il gli una della ho è anche
  os não uma com em foi meu minha
  het een ik niet en dat wij zijn naar maar
  nie się na jest że`);
