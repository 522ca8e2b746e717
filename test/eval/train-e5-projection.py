#!/usr/bin/env python3
"""Makes data/models/multilingual-e5-small/projection.bin: what is done to the model's vectors before they are kept.

    train-e5-projection.py WORDNET_FOLDER CACHE_FOLDER        (numpy, onnxruntime, tokenizers)

1. Vectors. All of e5's point much the same way, so their mean goes (one for questions, one for windows: the prefixes
   differ). What is left is mapped to the vectors that all-MiniLM-L6-v2 gives the same English sentences, by ridge
   regression: e5 learned what is a translation of what, MiniLM what is a paraphrase, and the map carries the second to all
   languages. Names, codes and typos are better told by e5's own vectors B, whose largest components are damped. The
   vector kept is that of which the inner product is MAPPED parts of the one and the rest of the other:
   x -> x sqrt(MAPPED W W' + (1 - MAPPED) B B'), 384 numbers as before.
2. Tokens. Centred, mapped in the same way, and projected to their first 128 principal components.

First answer right by these vectors alone on everyday notes / R@10 on three conversations of LoCoMo: vectors of
MiniLM .59 / .49, of e5 .65 / .52, centred .65 / .49, mapped alone .65 / .64, as here .69 / .61; tokens of MiniLM
.65 / .76, of e5 .71 / .71, centred and projected .72 / .75, as here .74 / .77.

Texts: definitions and examples of WordNet 3.0 (Debian package wordnet-base; licence: WORDNET_LICENCE), the labelled
statements in data/sectors, and words of the tokenizer's own vocabulary, which are of all its languages.

Written, float32 little-endian, a row a dimension of the model: mean of questions (384), mean of windows (384), map
(384 x 384), mean of tokens (384), map of tokens (384 x 128). A new file means a new SHA-256 in src/models/bundled-models.ts,
and vectors that do not mix with the old ones.
"""
import hashlib, json, pathlib, random, re, sys
import numpy as np

WORDNET_LICENCE = """WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved. Permission to use, copy, modify and
distribute this software and database and its documentation for any purpose and without fee or royalty is granted by its
licence, provided that the copyright notice and statements appear on all copies. It is provided "as is", without warranties;
the name of Princeton University may not be used in advertising. See copyright in the package."""

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "data/models"
SENTENCES = 14_000  # of examples, and as many of definitions
RIDGE = 1.0
MAPPED = 0.7
DAMPING = 0.2
TOKENS_MAPPED = 0.5
TOKEN_TEXTS = 1_500
VOCABULARY_WORDS = 10_000
WORDS_PER_RUN = 10
TOKEN_DIMENSIONS = 128

unit = lambda h: h / np.maximum(np.linalg.norm(h, axis=-1, keepdims=True), 1e-6)


def model_bytes(name):
    """Of multilingual-e5-small the layers; its tables are those of memoryd-e5-small."""
    whole = (MODELS / name.replace("multilingual", "memoryd") / "onnx/model_quantized.onnx").read_bytes()
    return (MODELS / name / "onnx/layers.bin").read_bytes() + whole[22900731:] if name == "multilingual-e5-small" else whole


class Encoder:
    """A model that ships, one text a run on one thread."""

    def __init__(self, name, prefixed):
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model_bytes(name), options)
        self.tokenizer = Tokenizer.from_file(str(MODELS / name.replace("multilingual", "memoryd") / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)
        self.prefixed = prefixed

    def states(self, text, kind):
        ids = np.array([self.tokenizer.encode(f"{kind}: {text}" if self.prefixed else text).ids])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return ids[0], self.session.run(None, feed)[0][0]

    def vectors(self, texts, kind):
        return np.array([unit(self.states(text, kind)[1].mean(0)) for text in texts], dtype=np.float32)


def wordnet_sentences(folder):
    """Examples and definitions of at least four words, shuffled the same way each time."""
    random.seed(5)
    definitions, examples = set(), set()
    for part in ("noun", "verb", "adj", "adv"):
        for line in open(f"{folder}/data.{part}", encoding="utf8"):
            if line.startswith("  "):
                continue
            gloss = line.split(" | ", 1)[1].strip()
            examples.update(e.strip() for e in re.findall(r'"([^"]+)"', gloss) if len(e.split()) >= 4)
            first = re.sub(r"[;:\s]+$", "", re.sub(r'"[^"]*"', "", gloss)).split(";")[0].strip()
            if len(first.split()) >= 4:
                definitions.add(first)
    examples, definitions = sorted(examples), sorted(definitions)
    random.shuffle(examples)
    random.shuffle(definitions)
    return examples[:SENTENCES] + definitions[:SENTENCES]


def vocabulary_words(tokenizer):
    """Whole words of three letters and more, evenly from the vocabulary, which is in order of frequency."""
    words = [piece[1:] for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    words = [word for word in words if re.fullmatch(r"[^\W\d_]{3,}", word)]
    return words[:: max(1, len(words) // VOCABULARY_WORDS)]


def token_states(encoder, texts):
    """Unit token vectors of the texts, without marks, prefix and punctuation."""
    rows = []
    for text in texts:
        ids, states = encoder.states(text, "passage")
        pieces = [encoder.tokenizer.id_to_token(i) for i in ids]
        # <s> ▁passage : … </s>
        keep = [i for i in range(3, len(ids) - 1) if re.search(r"[^\W_]", pieces[i].replace("▁", ""))]
        rows.append(unit(states[keep]))
    return np.concatenate(rows)


def half_power(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def fit_map(own, target, mapped, damping):
    """The map of centred e5 vectors, see above; `own` and `target` row by row of the same sentences."""
    x, y = own - own.mean(0), target - target.mean(0)
    scaled = lambda m: m * np.linalg.norm(x, axis=1).mean() / np.linalg.norm(x @ m, axis=1).mean()
    w = scaled(np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ y))
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    b = scaled((vectors * np.maximum(values, 1e-5) ** -damping) @ vectors.T)
    return half_power(mapped * w @ w.T + (1 - mapped) * b @ b.T)


def fit_tokens(sets, matrix):
    """Mean of token vectors, and the map with the first components of what it gives; each set counts the same."""
    mean = sum(s.mean(0) for s in sets) / len(sets)
    moments = sum(((s - mean) @ matrix).T @ ((s - mean) @ matrix) / len(s) for s in sets)
    return mean, matrix @ np.linalg.eigh(moments)[1][:, ::-1][:, :TOKEN_DIMENSIONS]


def cached(folder, name, make):
    file = pathlib.Path(folder) / f"{name}.npy"
    if not file.exists():
        np.save(file, make())
    return np.load(file)


def main(wordnet, cache):
    sentences = wordnet_sentences(wordnet)
    e5 = Encoder("multilingual-e5-small", True)
    target = cached(cache, "mini", lambda: Encoder("all-MiniLM-L6-v2", False).vectors(sentences, ""))
    windows = cached(cache, "windows", lambda: e5.vectors(sentences, "passage"))
    questions = cached(cache, "questions", lambda: e5.vectors(sentences[:4_000], "query"))
    statements = [s["text"] for n in ("statements", "further-statements") for s in json.load(open(ROOT / f"data/sectors/{n}.json"))]
    words = vocabulary_words(e5.tokenizer)
    runs = [" ".join(words[i :: -(-len(words) // WORDS_PER_RUN)]) for i in range(-(-len(words) // WORDS_PER_RUN))]
    of_texts = cached(cache, "tokens-texts", lambda: token_states(e5, statements + sentences[: TOKEN_TEXTS - len(statements)]))
    of_words = cached(cache, "tokens-words", lambda: token_states(e5, runs))

    own, target, of_texts, of_words = (a.astype(np.float64) for a in (windows, target, of_texts, of_words))
    matrix = fit_map(own, target, MAPPED, DAMPING)
    token_mean, token_map = fit_tokens([of_texts, of_words], fit_map(own, target, TOKENS_MAPPED, 0))
    parts = [questions.mean(0), own.mean(0), matrix, token_mean, token_map]
    data = b"".join(np.ascontiguousarray(part, dtype="<f4").tobytes() for part in parts)
    (MODELS / "multilingual-e5-small/projection.bin").write_bytes(data)
    print(len(data), "bytes, sha256", hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
