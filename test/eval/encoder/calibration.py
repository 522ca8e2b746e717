"""250 everyday texts in the languages of training: they find the largest activation per channel.
usage: calibration.py TEXTS.json OUT.json"""
import json, random, sys

X = json.load(open(sys.argv[1]))
rnd = random.Random(7)
pairs, other, english = rnd.sample(X["pairs"], 110), rnd.sample(X["translations"], 60), rnd.sample(X["english"], 80)
texts = ["query: " + p[2] for p in pairs[:55]] + ["passage: " + p[5] for p in pairs[55:]]
texts += [("query: " if i % 2 else "passage: ") + t[2] for i, t in enumerate(other)]
texts += [("query: " if "?" in t else "passage: ") + t for t in english]
json.dump(texts, open(sys.argv[2], "w"), ensure_ascii=False, indent=0)
