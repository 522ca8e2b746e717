"""The texts that the encoder is taught with -> OUT (JSON): English sentences, their translations, pairs of question and note.

usage: make_texts.py OUT.json WORDNET_DEB_UNPACKED FOLDER_OF_PACKAGES
packages (all permissive): PyPI chitchat-dataset (MIT), Django, wagtail, jupyterlab-language-pack-* (BSD-3-Clause),
home-assistant-frontend, apache-superset (Apache-2.0); npm cldr-annotations-full (Unicode-3.0); Debian wordnet-base.
"""
import collections, gettext, glob, io, json, pathlib, random, re, sys, tarfile, zipfile

out, wordnet, packages = sys.argv[1:4]
here = pathlib.Path(__file__).parent
rnd = random.Random(11)
LANGUAGES = "de fr es it pt nl pl ru hi zh ja sv tr cs uk ko da fi ar el ro hu".split()
SAME = {"pt_BR": "pt", "pt-BR": "pt", "zh_CN": "zh", "zh_Hans": "zh", "zh-Hans": "zh", "de_DE": "de", "fr_FR": "fr", "es_ES": "es",
        "it_IT": "it", "nl_NL": "nl", "pl_PL": "pl", "ru_RU": "ru", "ja_JP": "ja", "hi_IN": "hi"}
english, at, translations, pairs = [], {}, [], []


def text(t):
    if t not in at:
        at[t] = len(english)
        english.append(t)
    return at[t]


def ok(t, low=3, high=32):
    return low <= len(t.split()) <= high and len(t) <= 220 and not re.search(r"[<>{}|\\=_#]|http|www|\d{6,}", t)


def add(name, texts, most):
    texts = list(dict.fromkeys(texts))
    rnd.shuffle(texts)
    for t in texts[:most]:
        text(t)
    print(f"{name}: {min(len(texts), most)} of {len(texts)}")


# topics: question and note in other words
NAMES = ("Anna Ben Clara David Emma Felix Grace Hugo Irene Jonas Karin Leo Mia Noah Olga Paul Quentin Rosa Simon Tara Uwe Vera Will Yasmin Zoe "
         "Marek Priya Kenji Fatima Luis Ingrid Tomasz Chiara Sven Amélie Joao Nikhil Mei Dmitri Aoife Bram Lucía Thomas Peter Lisa Yusuf "
         "Mrs Keller|Dr Novak|Mr Okafor|Signora Conti").replace("|", "\0").split(" ")
NAMES = [n for part in " ".join(NAMES).split("\0") for n in ([part] if re.match(r"(Mrs|Mr|Dr|Signora) ", part) else re.sub(r"(Mrs|Mr|Dr|Signora) ", r"\1~", part).split())]
NAMES = [n.replace("~", " ") for n in NAMES]
LOCAL = {"ru": dict(Anna="Анна", Paul="Пауль", David="Давид", Emma="Эмма", Leo="Лео", Olga="Ольга", Thomas="Томас", Peter="Пётр", Lisa="Лиза", Marek="Марек", Vera="Вера", Simon="Симон", Clara="Клара", Jonas="Йонас", Mia="Миа", Felix="Феликс"),
         "hi": dict(Anna="अन्ना", Paul="पॉल", David="डेविड", Emma="एमा", Leo="लियो", Olga="ओल्गा", Thomas="थॉमस", Peter="पीटर", Lisa="लीसा", Marek="मारेक", Priya="प्रिया", Nikhil="निखिल", Vera="वेरा", Simon="साइमन", Clara="क्लारा"),
         "zh": dict(Anna="安娜", Paul="保罗", David="大卫", Emma="艾玛", Leo="利奥", Olga="奥尔加", Thomas="托马斯", Peter="彼得", Lisa="丽莎", Marek="马雷克", Kenji="健二", Mei="小梅", Simon="西蒙", Clara="克拉拉", Felix="菲利克斯"),
         "ja": dict(Anna="アンナ", Paul="ポール", David="デイビッド", Emma="エマ", Leo="レオ", Olga="オルガ", Thomas="トーマス", Peter="ピーター", Lisa="リサ", Marek="マレク", Kenji="健二", Mei="メイ", Simon="サイモン", Clara="クララ", Felix="フェリックス")}
DAYS = {"en": "on Monday|on Tuesday|on Wednesday|on Thursday|on Friday|on Saturday|on Sunday", "de": "am Montag|am Dienstag|am Mittwoch|am Donnerstag|am Freitag|am Samstag|am Sonntag",
        "fr": "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche", "es": "el lunes|el martes|el miércoles|el jueves|el viernes|el sábado|el domingo",
        "it": "lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica", "pt": "na segunda|na terça|na quarta|na quinta|na sexta|no sábado|no domingo",
        "nl": "op maandag|op dinsdag|op woensdag|op donderdag|op vrijdag|op zaterdag|op zondag", "pl": "w poniedziałek|we wtorek|w środę|w czwartek|w piątek|w sobotę|w niedzielę",
        "ru": "в понедельник|во вторник|в среду|в четверг|в пятницу|в субботу|в воскресенье", "hi": "सोमवार को|मंगलवार को|बुधवार को|गुरुवार को|शुक्रवार को|शनिवार को|रविवार को",
        "zh": "星期一|星期二|星期三|星期四|星期五|星期六|星期日", "ja": "月曜日|火曜日|水曜日|木曜日|金曜日|土曜日|日曜日"}
DAYS = {k: v.split("|") for k, v in DAYS.items()}
SLOTS = dict(
    f=["my sister", "my brother", "my mum", "my dad", "my aunt", "my cousin", "my neighbour", "my boss", "my flatmate", "my grandmother", "our daughter", "our son", "my partner", "my colleague"],
    c="Lisbon Berlin Vienna Porto Leeds Oslo Turin Ghent Krakow Boston Kyoto Malmo Dublin Lyon Zurich Athens Toronto Seville Bergen Riga".split(),
    mo="January February March April May June July August September October November December".split(),
    t=["8:00", "9:30", "10:15", "12:00", "14:30", "16:00", "17:45", "19:00", "20:15", "21:30"], x=[str(i) for i in range(2, 31)],
    p=["12", "18.50", "25", "40", "65", "89", "120", "240", "450", "780", "1,150", "2,300"], col="red blue green grey black white yellow brown".split(),
    s="atlas-api|ledger|pixelbox|quillstore|northwind|the importer|mailgate|orbit|the billing worker|fernet|sandpiper|tally|the admin panel|harbor-sync|kestrel|lumen|gridmap|the parser".split("|"),
    o="Brightwater|Kestner Ltd|Nova Foods|the city library|Halvorsen|Blue Harbour|Tanaka Trading|the dance school|Orchard Press|Delmar".split("|"))


def environment():
    n, w, q = rnd.sample(NAMES, 3)
    e = {k: rnd.choice(v) for k, v in SLOTS.items()}
    e.update(n=n, N=n, w=q, W=w, d=rnd.choice(DAYS["en"])[3:], P=e["p"])
    e.update(F=e["f"][0].upper() + e["f"][1:], O=e["o"][0].upper() + e["o"][1:], D=e["d"])
    return e


def fill(t, e):
    return re.sub(r"\{(\w+)\}", lambda m: e[m[1]], t)


def key(question, note, e):
    """the values that tell this pair from others of its topic; empty: any note of the topic answers"""
    said = lambda t: {e[m].lower() for m in re.findall(r"\{([nNwWfFsocCxO])\}", t)}
    return "|".join(sorted(said(question) & said(note)))


topics = [l for l in open(here / "topics-english.txt", encoding="utf8").read().split("\n") if "||" in l]
for topic, line in enumerate(topics):
    notes, questions = ([x.strip() for x in part.split(" | ")] for part in line.split("||"))
    other = any("{N}" in t and re.search(r"\{n\}", t) for t in notes) or topic < 145
    for _ in range(26):
        e = environment()
        if other:
            e["N"], e["W"] = e["w"], e["w"]
        for q in questions:
            n = rnd.choice(notes)
            question, note = fill(q, e), fill(n, e)
            pairs.append((text(question), "en", question, text(note), "en", note, topic, key(q, n, e)))
blocks = re.sub(r"(?m)^#.*\n", "", open(here / "topics-languages.txt", encoding="utf8").read()).strip().split("\n\n")
for topic, block in enumerate(blocks, len(topics)):
    line = {l[:2]: [x.strip() for x in l[3:].split(" | ")] for l in block.split("\n")}
    assert set(line) == set(DAYS) and all(len(v) == 2 for v in line.values()), block
    for _ in range(60):
        e, day = environment(), rnd.randrange(7)

        def said(language, t):
            local = dict(e, d=DAYS[language][day])
            for s in "nw":
                if language in LOCAL and rnd.random() < 0.5:
                    local[s] = LOCAL[language].get(e[s], e[s])
            return fill(t, local)

        n, q = (text(said("en", t)) for t in line["en"])
        for a in rnd.sample(sorted(line), 8):
            b = a if rnd.random() < 0.3 else rnd.choice(sorted(line))
            pairs.append((q, a, said(a, line[a][1]), n, b, said(b, line[b][0]), topic, key(line["en"][1], line["en"][0], e)))
# notes with questions in other words, one a line; the English wording of a note stands for its other languages. A text in another
# language has the English text's number -1 where there is none
EN = set("the a an is are was were to of in on for with at my our we i it that this and not who what when where why how do does did can you your her his she he they has have had be by from or if no any which".split())


def is_english(t):
    words = re.findall(r"[a-z']+", t.lower())
    letters = re.sub(r"[^\w]", "", t)
    plain = sum(c.isascii() for c in letters) > 0.97 * len(letters)
    return plain and bool(words) and sum(w in EN for w in words) >= (0.18 if len(words) > 4 else 0.01) * len(words)


def number_of(t, wording=None):
    return text(t) if is_english(t) else -1 if wording is None else text(wording)


items = [json.loads(l) for l in open(here / "notes-asked.jsonl", encoding="utf8")]
lookalikes = []
for topic, d in enumerate(items, len(topics) + len(blocks)):
    notes = [d["note"], *d["same"]]
    wording = next((t for t in notes if is_english(t)), None)
    for q in d["ask"]:
        for note in notes:
            pairs.append((number_of(q), "", q, number_of(note, wording), "", note, topic, ""))
    for t in d["not"]:
        lookalikes.append((number_of(t), t, topic))
topic_texts = len(english)
print(len(topics), "+", len(blocks), "+", len(items), "topics,", len(pairs), "pairs,", len(english), "English texts")

# people's chat
messages, turns = [], []
archive = zipfile.ZipFile(glob.glob(f"{packages}/chitchat_dataset*.whl")[0])
for c in json.loads(archive.read("chitchat_dataset/dataset.json")).values():
    for turn in c["messages"]:
        said = [re.sub(r"\s+", " ", m["text"]).strip() for m in turn]
        messages += [t for t in said if ok(t, 4)]
        if len(said) > 1 and ok(" ".join(said), 9, 45):
            turns.append(" ".join(said))
add("chat", messages, 130_000)
add("turns of chat", turns, 40_000)

# WordNet: what words mean, and examples
meanings, examples = [], []
for kind in ("noun", "verb", "adj", "adv"):
    for l in open(f"{wordnet}/usr/share/wordnet/data.{kind}", encoding="utf8"):
        if l[:2] == "  ":
            continue
        head, gloss = l.split(" | ", 1)
        word = re.sub(r"\(.*", "", head.split()[4]).replace("_", " ")
        examples += [e.strip() for e in re.findall(r'"([^"]+)"', gloss) if ok(e)]
        d = re.sub(r"\([^)]*\)", "", re.sub(r'"[^"]*"', "", gloss)).strip(" ;\n")
        if kind in ("noun", "verb") and ok(d, 4):
            meanings.append(rnd.choice([d, f"{word}: {d}", f"{word}: {d}", f"what is {word}?"]))
add("meanings", meanings, 50_000)
add("examples", examples, 45_000)

# translations
by = collections.defaultdict(dict)
clean = lambda s: re.sub(r"\s+", " ", re.sub(r"[“”]", '"', s)).strip()


def translated(en, language, t):
    language = SAME.get(language, language)
    en, t = clean(en), clean(t)
    if language in LANGUAGES and ok(en, 2, 30) and en != t and 1 < len(t) < 220 and not re.search(r"[{}<>%|]", en + t):
        by[en][language] = t


for wheel in sorted(glob.glob(f"{packages}/*.whl")):
    if not re.search(r"/(django|wagtail|jupyterlab_language|apache_superset)", wheel, re.I):
        continue
    z = zipfile.ZipFile(wheel)
    for name in z.namelist():
        m = re.search(r"/([^/]+)/LC_MESSAGES/[^/]+\.mo$", name)
        if m and SAME.get(m[1], m[1]) in LANGUAGES:
            for k, v in gettext.GNUTranslations(io.BytesIO(z.read(name)))._catalog.items():
                if isinstance(k, str) and isinstance(v, str) and v:
                    translated(k.split("\x04")[-1], m[1], v)
z = zipfile.ZipFile(glob.glob(f"{packages}/home_assistant_frontend*.whl")[0])


def leaves(x, path=()):
    for k, v in x.items():
        yield from leaves(v, (*path, k)) if isinstance(v, dict) else [((*path, k), v)]


files = collections.defaultdict(dict)
for name in z.namelist():
    m = re.search(r"translations/((?:.*/)?)([A-Za-z-]+)-[0-9a-f]{32}\.json$", name)
    if m:
        files[m[1]][m[2]] = name
for group in files.values():
    base = dict(leaves(json.loads(z.read(group["en"]))))
    for language, name in group.items():
        if language != "en" and SAME.get(language, language) in LANGUAGES:
            for k, v in leaves(json.loads(z.read(name))):
                if isinstance(v, str) and isinstance(base.get(k), str):
                    translated(base[k], language, v)
sentences = len(by)
z = tarfile.open(glob.glob(f"{packages}/cldr-annotations-full*.tgz")[0])
words = {}
for language in ["en", *LANGUAGES]:
    words[language] = json.load(z.extractfile(f"package/annotations/{language}/annotations.json"))["annotations"]["annotations"]
for sign, w in words["en"].items():
    if not sign.isascii():
        for language in LANGUAGES:
            v = words[language].get(sign)
            if v and "tts" in v and "tts" in w:
                by[clean(w["tts"][0])][language] = clean(v["tts"][0])
                by[clean(", ".join(w["default"][:3]))][language] = clean(", ".join(v["default"][:3]))
keys = list(by)
rnd.shuffle(keys)
for en in keys:
    i = text(en)
    some = [l for l in by[en] if l in DAYS]
    rest = [l for l in by[en] if l not in DAYS]
    for l in rnd.sample(some, min(6, len(some))) + rnd.sample(rest, min(2, len(rest))):
        translations.append((i, l, by[en][l]))
print(sentences, "sentences and", len(by) - sentences, "words translated,", len(translations), "translations", collections.Counter(l for _, l, _ in translations).most_common())
json.dump({"english": english, "topic_texts": topic_texts, "translations": translations, "pairs": pairs, "lookalikes": lookalikes, "asked": len(topics) + len(blocks)}, open(out, "w"), ensure_ascii=False)
print(len(english), "English texts,", len(pairs), "pairs")
for p in rnd.sample(pairs, 12):
    print("   ", p)
