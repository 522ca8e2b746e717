/**
 * English forms that no suffix rule reaches, and their base: verbs, plurals, short names of months, small numbers.
 * A form that is commonly another word ("saw", "left" as a side, "felt", "found" as to establish) is listed when
 * the verb is by far the commoner in what people write of their lives.
 */
export const IRREGULAR_FORMS: ReadonlyMap<string, string> = new Map(
  `arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent; bite bit bitten;
  bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought;
  catch caught; choose chose chosen; come came; creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt;
  drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found;
  flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
  freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung; hear heard;
  hide hid hidden; hold held; keep kept; know knew known; lay laid; lead led; learn learnt; leave left; lend lent;
  light lit; lose lost; make made; mean meant; meet met; pay paid; ride rode ridden; ring rang rung; rise rose risen;
  run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken; shine shone;
  shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid;
  speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen; stick stuck; strike struck;
  sweep swept; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told;
  think thought; throw threw thrown; understand understood; undertake undertook undertaken; wake woke woken;
  wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; write wrote written;
  child children; man men; woman women; foot feet; tooth teeth; goose geese; mouse mice; wife wives; knife knives;
  leaf leaves; half halves; shelf shelves; wolf wolves; thief thieves; loaf loaves; life lives; good better best;
  bad worse worst; person people persons;
  january jan; february feb; march mar; april apr; june jun; july jul; august aug; september sep sept; october oct;
  november nov; december dec;
  monday mon; tuesday tue tues; wednesday wed weds; thursday thu thur thurs; friday fri;
  2 two; 3 three; 4 four; 5 five; 6 six; 7 seven; 8 eight; 9 nine; 10 ten; 11 eleven; 12 twelve`
    .split(";")
    .flatMap((entry) => {
      const [base = "", ...forms] = entry.trim().split(/\s+/);
      return forms.map((form): [string, string] => [form, base]);
    }),
);
