"""Everything that training needs as few, small files, so that it can be carried to another machine -> FOLDER.

usage: pack.py TEXTS.json E5_PACKED.bin E5_PROJECTION.bin TEACHER_FOLDER FOLDER
Words become ids (the student's: only pieces that occur, renumbered); the student's weights stay 4-bit, the teacher's become 6-bit by row.
"""
import json, os, random, subprocess, sys
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer
sys.path.append(os.environ.get("CONVERT", os.path.join(os.path.dirname(__file__), "convert")))
from e5bin import E5Bin

texts, packed, projection, teacher, out = sys.argv[1:6]
os.makedirs(out, exist_ok=True)
X = json.load(open(texts))
rnd = random.Random(5)
KEYS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]


def mistyped(t):
    """one or two slips of the hand in longer words, or hasty writing"""
    if rnd.random() < 0.35:
        return t.lower().rstrip(".?!").replace(",", "").replace("'", "")
    words = t.split(" ")
    long = [i for i, w in enumerate(words) if len(w) > 3 and w.isalpha()]
    for i in rnd.sample(long, min(len(long), rnd.choice([1, 1, 2]))):
        w, k = words[i], rnd.randrange(1, len(words[i]) - 1)
        how = rnd.randrange(4)
        row = next((r for r in KEYS if w[k].lower() in r), KEYS[0])
        near = row[min(len(row) - 1, max(0, row.find(w[k].lower()) + rnd.choice([-1, 1])))]
        words[i] = [w[:k] + w[k + 1 :], w[:k] + w[k] + w[k:], w[:k] + w[k + 1] + w[k] + w[k + 2 :], w[:k] + near + w[k + 1 :]][how]
    return " ".join(words)


english = X["english"]
wording = lambda i: english[i] if i >= 0 else None
other = {(i, t): None for i, _, t in X["translations"]}
other |= {(p[a], p[a + 2]): None for p in X["pairs"] for a in (0, 3) if p[a + 2] != wording(p[a])}
other |= {(i, t): None for i, t, _ in X["lookalikes"] if t != wording(i)}
slips = {(i, mistyped(t)): None for i, t in enumerate(english) if rnd.random() < 0.15}
slips = [s for s in slips if s[1] != english[s[0]]]
translated = list(other)
items = english + [t for _, t in translated] + [t for _, t in slips]
of = np.array(list(range(len(english))) + [i for i, _ in translated] + [i for i, _ in slips], np.int32)
where = {k: len(english) + j for j, k in enumerate(translated)}
item = lambda i, t: i if wording(i) == t else where[i, t]
pairs = np.array([[item(p[0], p[2]), item(p[3], p[5]), p[6]] for p in X["pairs"]], np.int32)
keys = sorted({p[7] for p in X["pairs"]})
number = {k: j for j, k in enumerate(keys)}
key = np.array([number[p[7]] for p in X["pairs"]], np.int32)
lookalikes = np.array([[item(i, t), topic] for i, t, topic in X["lookalikes"]], np.int32)


def flat(rows):
    return np.concatenate([np.array(r, np.int64) for r in rows]), np.array([len(r) for r in rows], np.uint16)


json.dump(items + ["passage:", "query:"], open(out + "/items.json", "w"), ensure_ascii=False)
subprocess.run(["npx", "jiti", os.path.join(os.path.dirname(os.path.abspath(__file__)), "pieces.ts"), out + "/items.json", out + "/items.bin"], check=True)
numbers, at, rows, weights = np.fromfile(out + "/items.bin", "<u4"), 0, [], []
for _ in range(len(items) + 2):
    pair = numbers[at + 1 : at + 1 + 2 * numbers[at]].reshape(-1, 2)
    rows.append(pair[:, 0])
    weights.append(pair[:, 1])
    at += 1 + pair.size
assert at == len(numbers)
# two pieces and three
prefixes = [rows.pop(-2).tolist(), rows.pop().tolist()]
assert [len(p) for p in prefixes] == [2, 3], prefixes
weights = weights[:-2]
for f in ("items.json", "items.bin"):
    os.remove(f"{out}/{f}")
ids, lengths = flat(rows)
pieces = np.unique(np.concatenate([ids, [0, 1, 2, *prefixes[0], *prefixes[1]]]))
small = np.zeros(pieces.max() + 1, np.int64)
small[pieces] = np.arange(len(pieces))
np.savez_compressed(out + "/texts.npz", ids=small[ids].astype(np.uint32), weights=np.concatenate(weights).astype(np.uint8), lookalikes=lookalikes, asked=X["asked"], lengths=lengths, of=of, english=len(english), translated=len(translated),
    marks=small[[0, 1, 2]], prefixes=small[np.array([prefixes[0] + [1], prefixes[1]])], pairs=pairs, key=key, none=number.get("", -1),
    source=np.array([0 if i < X.get("topic_texts", 0) else 1 for i in range(len(english))], np.uint8), question=np.array(["?" in t or "？" in t for t in items]))
tm = Tokenizer.from_file(teacher + "/tokenizer.json")
tm.no_padding(); tm.enable_truncation(80)
mids, mlengths = flat([e.ids for e in tm.encode_batch(english)])
np.savez_compressed(out + "/teacher-texts.npz", ids=mids.astype(np.uint16), lengths=mlengths)

b = E5Bin(packed)
H = b.hidden
student = {"pieces": pieces.astype(np.int32), "tokens": np.fromfile(projection, "<f4")[-384 * 129 :]}
n, s = b.q4("emb.word", b.vocab, H)
student["word"], student["word.scale"] = n[pieces, 0::2] | n[pieces, 1::2] << 4, s[pieces]
for name, shape in (("emb.pos", (512, H)), ("emb.type", (2, H)), ("emb.ln.w", (H,)), ("emb.ln.b", (H,))):
    student[name] = b.f32(name, *shape)
for i in range(b.layers):
    for k, o, c in (("q", H, H), ("k", H, H), ("v", H, H), ("ao", H, H), ("fi", b.ffn, H), ("fo", H, b.ffn)):
        n, s = b.q4(f"l{i}.{k}.w", o, c)
        student[f"l{i}.{k}.w"], student[f"l{i}.{k}.w.scale"] = n[:, 0::2] | n[:, 1::2] << 4, s
        student[f"l{i}.{k}.b"] = b.f32(f"l{i}.{k}.b", o)
    for k in ("aln", "oln"):
        for p in "wb":
            student[f"l{i}.{k}.{p}"] = b.f32(f"l{i}.{k}.{p}", H)
np.savez(out + "/student.npz", **student)

w = load_file(teacher + "/model.safetensors")
parts = [{}, {}]
for name, v in w.items():
    if name.startswith("pooler") or "position_ids" in name:
        continue
    part = parts["layer." in name]
    if v.ndim == 2 and v.size > 10000:
        scale = np.abs(v).max(1, keepdims=True) / 31
        part[name], part[name + ":scale"] = np.rint(v / np.maximum(scale, 1e-12)).astype(np.int8), scale.astype(np.float32)
    else:
        part[name] = v.astype(np.float32)
for i, part in enumerate(parts):
    np.savez_compressed(f"{out}/teacher-{i}.npz", **part)
print(len(english), "English,", len(translated), "translated,", len(slips), "mistyped,", len(pairs), "pairs,", len(pieces), "pieces; tokens a text", lengths.mean())
for f in sorted(os.listdir(out)):
    print(f, os.path.getsize(f"{out}/{f}"))
