/**
 * Word lists behind the textual cues of `sector-cues.ts`: closed classes of English as far as possible, and for
 * verbs and feelings the common words that a learner's dictionary would mark so. Lower case, both spellings.
 */

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Base forms that open an instruction. Words that are nouns at least as often (water, plant, book) are in too: only the place at the start of a clause counts. */
export const INSTRUCTION_VERBS = words(`
  accept add adjust agree aim allow answer apply approve ask assign attach avoid back bake be beat begin bleed blend
  boil book break breathe bring brush build bump buy calculate call cancel carry catch change charge check choose clean
  clear click close collect combine come commit compare compile complete configure confirm connect consider contact
  convert cook copy count cover create cut debug decide defer define delete deploy describe descale dial dip disable
  disconnect discuss divide do document double download drag drain draw drink drive drop dry eat edit empty enable
  encourage end ensure enter escalate estimate exit expect explain export fasten feed fetch file fill find finish fit
  fix flip flush fold follow format forward freeze fry gather get give go grab grease greet grind handle hang heat
  hide hit hold ignore import include increase inform insert inspect install invite involve iron join keep knead knock
  label lay leave let lift light limit line link list listen load lock log look loosen lower make map mark
  measure melt mention merge mind mix monitor mount move mute name never note notify obtain offer omit open
  order pack paint park pass paste pause pay peel pick pin ping place plan plant plug point polish post pour practise
  practice praise prefer prefix prepare press prevent print prioritise prioritize proceed prune publish pull push put
  quarantine quote raise reach read rebase rebuild reboot record refer reload remember remind remove rename repeat
  replace reply report request reserve reset resist respond restart restore return review revoke rewrite rinse roll
  rotate round rub run sand save say scan schedule screw scroll seal search season see select send separate serve
  set shake share shut sign simmer sit skip slice slide slow smile snooze soak soften sort speak split spray spread
  sprinkle squash squeeze stack stand start stay steam step stick stir stop store stretch strip submit subtract switch
  swap take talk tap taste tell test thank thaw thread throw tidy tie tighten toast touch track translate treat trim
  trust try tune turn twist type undo unlock unplug unscrew update upgrade upload use validate verify visit wait walk
  warm warn wash watch water wear weigh whisk wipe work wrap write zip`);

/** Forms of the past that do not end in -ed. Words that read the same in the present (put, cut, read, set) are left out. */
export const IRREGULAR_PAST = words(`
  was were had did went came saw got took gave made said told found left met ran sat stood spoke wrote drove
  rode rose fell flew grew knew threw drew blew began swam sang rang drank sank brought bought caught taught thought fought
  sought felt kept slept wept swept lost built sent spent lent bent burnt learnt meant dreamt held led fed fled bled
  won wore tore bore swore broke woke chose froze stole ate forgot bit hid rode slid shot sold paid laid heard dug stuck
  struck hung swung spun understood became overcame overslept rewrote rang shook shrank sprang stank tore withdrew ran arose awoke`);

/** Adjectives and adverbs in -ed, and words that merely end so. */
export const NOT_PAST = words(`
  need needed indeed seed speed feed weed bed red shed sled hundred sacred naked wicked rugged beloved united
  used unused limited advanced supposed tired bored scared worried excited annoyed embarrassed ashamed frightened
  frustrated relieved disappointed delighted terrified overwhelmed exhausted pleased thrilled irritated depressed
  stressed heartbroken devastated amused confused disgusted shared closed combined based related detailed linked protected`);

/** What people feel: nouns, verbs and adjectives of emotion and mood. Matched as whole words. */
export const FEELINGS = words(`
  adore adores adored afraid alarmed amazed amused anger angry anguish annoyed annoying annoys anxiety anxious appalled
  ashamed astonished awe awful awkward bitter bitterness bliss blissful blue bored boredom broken-hearted calm calmer cheerful
  cheered cheers cheery comfort comforted comforting content crushed cry cries crying delight delighted depressed despair desperate
  despise despised devastated disappointed disappointing disappointment disgust disgusted disgusting dismay dismayed
  distraught distress distressed dread dreaded dreading dreads dreadful ecstatic elated elation embarrassed embarrassing
  embarrassment enraged enraptured enthusiastic envious envy euphoric exasperated excited excitement exciting exhausted exhilarated
  fear fears fearful frightened frightening frightens frustrated frustrating frustration furious fury giddy glad gleeful gloomy
  glum grateful gratitude grief grieving grumpy guilt guilty gutted happier happiest happily happiness happy hate hated hates
  hating heartache heartbroken heartbreaking heartwarming helpless homesick hopeless horrible horrified humiliated hurt hurts hysterical impatient infuriated infuriates
  infuriating insulted intimidated irritated irritating irritation jealous jealousy joy joyful joyous jubilant lonely lonesome loneliness
  longing loathe loathes love loved loves loving mad melancholy merry miserable misery moody moved mortified mourn nervous nerves
  nostalgia nostalgic numb outraged overjoyed overwhelmed overwhelming panic panicked panicking panicky peaceful petrified pity
  pleased proud pride rage rattled relief relieved remorse resent resentful resentment restless sad sadden saddened saddens sadder sadness scare scared
  scares scary shaken shame shocked shy sick sob sobbed sobbing sorrow sorry speechless startled stress stressed stressful
  stunned sulking surprised suspense tearful tears tender tense tension terrible terrified terrifies terrifying terror thankful thrill
  thrilled thrilling tired torn touched touching trembling troubled unbearable uneasy unhappy unloved upset upsets upsetting vexed weary weep weeping
  wept wistful wonderful worried worries worry worrying wounded yearn yearning livid fuming seething heartsick jittery edgy cranky downcast dejected weepy tearing thrills blushing blushed smitten infatuated besotted miffed irked
  irks sickens delights pains stings stung aches ache aching bawling bawled screaming scream giggling grinning beaming`);

/** Parts of the body and expressions by which English speaks of feelings. */
export const FEELING_BODY = words(`
  heart hearts stomach throat goosebumps shivers shiver butterflies knots lump tears chest palms blood skin knees bones soul spirits mood
  smile smiling laugh laughed laughing sigh sighed lip lips breath`);

/** Verbs and nouns of thinking about oneself and of drawing conclusions. */
export const REFLECTION = words(`
  realise realised realize realized realising realizing learn learned learnt learning lesson lessons taught teaches hindsight retrospect
  perhaps maybe apparently suspect suspected wonder wondering wondered think thinking thought believe believed understand understood
  notice noticed noticing tend tends tendency seem seems seemed habit habits pattern patterns mistake mistook mistaken
  mistaking assumption assumed assume underestimate underestimated overestimate overestimated misjudged strength strengths weakness weaknesses
  insight takeaway conclusion reason really actually rather instead because wish wished regret hope aspire aim ambition
  become becoming became grow grown growth purpose meaning values value better worse easier harder myself ourselves
  admit recognise recognised recognize recognized discovered reflection reflecting rethink reconsider doubt sense blind honest honestly matters mattered`);

export const MONTHS = words(
  "january february march april june july august september october november december",
);
export const WEEKDAYS = words("monday tuesday wednesday thursday friday saturday sunday");

/** Words that point from the moment of writing to a moment. */
export const NEARBY_TIMES = words("yesterday today tonight tomorrow overnight ago earlier afterwards meanwhile once later");

export const FREQUENCY = words(
  "always never usually often sometimes rarely seldom whenever every each everyone nobody anyone whoever ever",
);
export const OBLIGATION = words("must should shall ought needs need requires required mandatory forbidden allowed");
export const SEQUENCE = words("first next then finally last before after until once step steps again");
export const DEFINING_VERBS = words(
  "means mean defined called known stands refers consists contains includes describes denotes allows provides uses prefers lives has holds costs lasts",
);
export const DEGREE = words("so such too very utterly completely absolutely totally beyond deeply what how pure sheer");
export const INTERJECTIONS = words(
  "ah aah argh aw ugh phew wow yay hooray hurrah oh ooh omg damn alas yuck ouch gosh sigh hurray woohoo yikes lol ngl haha",
);
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
  der das und ich nicht ist sie wir ein eine einen dem den des mit auf für von zu zum zur im wenn aber auch war haben
  le la les une est pas je nous vous dans pour avec sur qui que ce cette mais du au aux et il elle
  el los las un y por con para como pero muy mi su yo está del se lo
  che di per non sono il gli una della ho è anche
  o os não uma com em foi meu minha eu
  het een ik niet van en dat wij zijn naar maar
  nie się na jest że`);
