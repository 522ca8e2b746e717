"""What the scripts here share: encoder, head, texts, matching, losses of pairs, files.

A run is a folder with layers-0.npz to layers-2.npz (four layers each, 16-bit) and head.npz (head
and map of tokens). The parameters have the names in these files, which average.py and
taught_model.py read.
"""
import json, os, time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SIZE, LAYERS = 384, 12
# pieces.ts writes a token's weight times this
WEIGHT_SCALE = 80
STARTED = time.time()


def log(*values):
    """Prints the seconds since the start, then the values."""
    print(f"{time.time() - STARTED:6.1f} s", *values, flush=True)


class Layer(nn.Module):
    """One BERT layer: attention (q, k, v, o), norm n1, feed-forward (fi, fo), norm n2."""

    def __init__(self, size, heads, inner, eps, drop=0.0):
        super().__init__()
        self.heads, self.drop = heads, nn.Dropout(drop)
        self.q, self.k, self.v, self.o = (nn.Linear(size, size) for _ in range(4))
        self.fi, self.fo = nn.Linear(size, inner), nn.Linear(inner, size)
        self.n1, self.n2 = nn.LayerNorm(size, eps=eps), nn.LayerNorm(size, eps=eps)

    def forward(self, x, bias):
        count, length, size = x.shape
        q, k, v = (part(x).view(count, length, self.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        x = self.n1(x + self.drop(self.o(y.transpose(1, 2).reshape(count, length, size))))
        return self.n2(x + self.drop(self.fo(F.gelu(self.fi(x)))))


def attention_bias(mask):
    return torch.where(mask, 0.0, -1e4)[:, None, None, :]


def pooled(x, mask):
    """The mean of the hidden states where the mask is true, of length 1."""
    m = mask.unsqueeze(-1).float()
    return F.normalize((x.float() * m).sum(1) / m.sum(1), dim=-1)


class Student(nn.Module):
    """multilingual-e5-small and the map of tokens (mean, map).

    The table stays as it ships; it has only the rows that occur in the texts.
    """

    def __init__(self, folder, drop=0.0):
        super().__init__()
        packed = np.load(folder + "/student.npz")

        def tensor(name):
            return torch.from_numpy(packed[name])

        def matrix(name):
            """A matrix packed as Q4_0: two 4-bit values per byte, one scale per 32 values."""
            n = np.stack([packed[name] & 15, packed[name] >> 4], -1).reshape(len(packed[name]), -1).astype(np.float32) - 8
            return torch.from_numpy((n.reshape(len(n), -1, 32) * packed[name + ".scale"].astype(np.float32)[..., None]).reshape(n.shape))

        self.register_buffer("word", matrix("word"), persistent=False)
        self.register_buffer("pos", tensor("emb.pos") + tensor("emb.type")[0], persistent=False)
        self.norm = nn.LayerNorm(SIZE, eps=1e-12)
        self.layers = nn.ModuleList(Layer(SIZE, 12, 1536, 1e-12, drop) for _ in range(LAYERS))
        self.mean = nn.Parameter(tensor("tokens")[:SIZE].clone())
        self.map = nn.Parameter(tensor("tokens")[SIZE:].view(SIZE, 128).clone())
        with torch.no_grad():
            self.norm.weight.copy_(tensor("emb.ln.w"))
            self.norm.bias.copy_(tensor("emb.ln.b"))
            for i, layer in enumerate(self.layers):
                for part, name in dict(q="q", k="k", v="v", o="ao", fi="fi", fo="fo").items():
                    getattr(layer, part).weight.copy_(matrix(f"l{i}.{name}.w"))
                    getattr(layer, part).bias.copy_(tensor(f"l{i}.{name}.b"))
                for part, name in dict(n1="aln", n2="oln").items():
                    getattr(layer, part).weight.copy_(tensor(f"l{i}.{name}.w"))
                    getattr(layer, part).bias.copy_(tensor(f"l{i}.{name}.b"))

    def forward(self, ids, mask):
        """Vectors of texts, and the hidden states of their tokens."""
        x = self.norm(self.word[ids] + self.pos[: ids.shape[1]])
        bias = attention_bias(mask)
        for layer in self.layers:
            x = layer(x, bias)
        return pooled(x, mask), x

    def tokens(self, states):
        """Token vectors of hidden states: 128 dimensions, length 1."""
        with torch.autocast(states.device.type, enabled=False):
            return F.normalize((F.normalize(states.float(), dim=-1) - self.mean) @ self.map, dim=-1)


class Head(nn.Module):
    """Two maps of a text's vector: w to the teacher's vectors, o to the model's own former ones.

    Both see the vector less the mean m of its kind (0 note, 1 question), so that any weighting of
    the two is one 384 x 384 map. scale: the mean length of what each map returns; average.py
    divides by it.
    """

    def __init__(self):
        super().__init__()
        self.m = nn.Parameter(torch.zeros(2, SIZE))
        self.w, self.o = nn.Linear(SIZE, 768, bias=False), nn.Linear(SIZE, SIZE, bias=False)
        self.register_buffer("scale", torch.ones(2))
        nn.init.eye_(self.o.weight)

    def forward(self, vectors, kinds):
        x = vectors - self.m[kinds]
        return F.normalize(self.w(x), dim=-1), F.normalize(self.o(x), dim=-1)

    def mixed(self, vectors, kinds, weight):
        """Both parts as one vector of length 1; weight: the teacher's part, 0 to 1."""
        x = vectors - self.m[kinds]
        return F.normalize(torch.cat([weight**0.5 * self.w(x) / self.scale[0], (1 - weight) ** 0.5 * self.o(x) / self.scale[1]], 1), dim=-1)


def padded(values, lengths, device):
    """Rows of values, padded with 0, and their lengths, as tensors."""
    rows = np.zeros((len(lengths), int(lengths.max())), np.int32)
    rows[np.arange(rows.shape[1])[None] < lengths[:, None]] = values.astype(np.int32)
    return torch.from_numpy(rows).to(device), torch.from_numpy(lengths.astype(np.int64)).to(device)


class Texts:
    """The texts of texts.npz by index: first English ones, then translated, then mistyped.

    chunk: texts encoded at once. longest: pieces kept of each text (all). multiple: lengths are
    rounded up to it, since every new shape costs time on a GPU and padding costs time on a CPU.
    of: for each text the index of the English one of the same meaning, or -1.
    pairs: rows of question, note, topic. keys: for each pair a number for the person or thing that
    its question names, `none` where it names none. lookalikes: rows of note, topic.
    Topics from asked_from on have questions of their own; topics below come from templates.
    """

    def __init__(self, folder, device, chunk=512, longest=None, multiple=8, token_type=torch.bfloat16):
        self.device, self.chunk, self.multiple, self.token_type = device, chunk, multiple, token_type
        packed = np.load(folder + "/texts.npz")

        def numbers(name):
            return torch.from_numpy(packed[name]).long().to(device)

        self.english, self.translated = int(packed["english"]), int(packed["translated"])
        self.ids, self.lengths = padded(packed["ids"], packed["lengths"], device)
        self.weights = padded(packed["weights"], packed["lengths"], device)[0].float() / WEIGHT_SCALE
        if longest:
            self.ids, self.weights, self.lengths = self.ids[:, :longest], self.weights[:, :longest], self.lengths.clamp(max=longest)
        self.first, self.pad, self.last = (int(mark) for mark in packed["marks"])
        self.prefixes, self.of, self.source = numbers("prefixes"), numbers("of"), numbers("source")
        self.is_question = torch.from_numpy(packed["question"]).to(device)
        self.pairs, self.keys, self.none = numbers("pairs"), numbers("key"), int(packed["none"])
        self.lookalikes, self.asked_from = numbers("lookalikes"), int(packed["asked"])

    def __len__(self):
        return len(self.of)

    def inputs(self, items, kinds):
        """Ids and mask of texts, with the prefix of notes (kind 0) or of questions (kind 1)."""
        lengths, ahead = self.lengths[items], 3 + kinds
        longest = -(-(int(lengths.max()) + 5) // self.multiple) * self.multiple
        at = torch.arange(longest, device=self.device)[None]
        spots = at - ahead[:, None]
        own = self.ids[items[:, None], spots.clamp(0, self.ids.shape[1] - 1)].long()
        ids = torch.where((spots >= 0) & (spots < lengths[:, None]), own, self.pad)
        ids[:, 0] = self.first
        for i in range(3):
            ids[:, i + 1] = torch.where(i + 1 < ahead, self.prefixes[kinds, i], ids[:, i + 1])
        ids[torch.arange(len(items), device=self.device), lengths + ahead] = self.last
        return ids, at <= (lengths + ahead)[:, None]

    def encode(self, student, items, kinds, chunk=None, tokens=False):
        """Vectors of texts; with tokens also (token vectors, weights), padded to the longest."""
        # texts of like length share a chunk
        order = torch.argsort(self.lengths[items])
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order), device=self.device)
        longest = int(self.lengths[items].max())
        vectors, token_vectors = [], []
        for part in order.split(chunk or self.chunk):
            pooled_states, states = student(*self.inputs(items[part], kinds[part]))
            vectors.append(pooled_states)
            if tokens:
                most = int(self.lengths[items[part]].max())
                at = torch.arange(most, device=self.device)[None] + 3 + kinds[part][:, None]
                states = states.gather(1, at.clamp(max=states.shape[1] - 1)[..., None].expand(-1, -1, states.shape[2]))
                token_vectors.append(F.pad(student.tokens(states).to(self.token_type), (0, 0, 0, longest - most)))
        vectors = torch.cat(vectors)[back]
        return (vectors, (torch.cat(token_vectors)[back], self.weights[items, :longest])) if tokens else vectors


def rows_of(tokens, start, end):
    """Some of the texts of a pair (token vectors, weights)."""
    return tuple(part[start:end] for part in tokens)


def shorter(vectors, weights, multiple):
    """Moves tokens without weight to the end and cuts where no text has more with weight."""
    most = max(4, -(-int((weights > 0).sum(1).max()) // multiple) * multiple)
    at = torch.argsort((weights > 0).float(), dim=1, descending=True, stable=True)[:, :most]
    return vectors.gather(1, at[..., None].expand(-1, -1, vectors.shape[2])), weights.gather(1, at)


def matched(questions, notes, multiple):
    """Matches by tokens, (questions, notes).

    A match is the weighted mean, over a question's tokens, of the best cosine in the note. Both
    arguments are pairs (token vectors, weights).
    """
    (question_tokens, question_weights), (note_tokens, note_weights) = shorter(*questions, multiple), shorter(*notes, multiple)
    cosines = torch.einsum("qld,nmd->qnlm", question_tokens, note_tokens)
    best = cosines.masked_fill((note_weights <= 0)[None, :, None, :], -1.0).amax(3).float()
    return (best * (question_weights / question_weights.sum(1, keepdim=True).clamp(min=1e-6))[:, None]).sum(2)


def others(square):
    """True off the diagonal of a square matrix of this size."""
    return ~torch.eye(len(square), dtype=torch.bool, device=square.device)


def pair_losses(cosines, matches, topics, keys, none, line, tau=0.05, sharp=0.03):
    """Losses of finding the note of each question: by vectors, by tokens, by both, by line.

    By both: as the ranking adds them. By line: how far right matches are above `line`, which is the
    same for all questions, and wrong ones below. cosines and matches: (pairs, notes of the pairs,
    then look-alikes). A note of the same topic counts as wrong only where the question names the
    person or thing that differs; a look-alike always does.
    """
    fits = (topics[:, None] == topics[None]) & ((keys[:, None] == keys[None]) | (keys[:, None] == none) | (keys[None] == none))
    no_lookalike = torch.zeros_like(fits)
    right = torch.arange(len(fits), device=fits.device)
    left_out = torch.cat([fits & others(fits), no_lookalike], 1)
    scaled = cosines / tau
    masked = scaled.masked_fill(left_out, -1e4)
    by_vectors = (F.cross_entropy(masked, right) + F.cross_entropy(masked[:, : len(fits)].T, right)) / 2
    by_tokens = F.cross_entropy((matches / sharp).masked_fill(left_out, -1e4), right)
    by_both = F.cross_entropy(((matches + 0.18 * scaled * tau) / sharp).masked_fill(left_out, -1e4), right)
    hardest = matches.masked_fill(torch.cat([fits, no_lookalike], 1), -1.0).amax(1)
    by_line = (F.softplus((line - matches[right, right]) / 0.05) + F.softplus((hardest - line) / 0.05)).mean()
    return by_vectors, by_tokens, by_both, by_line


def form_loss(matches, english, sharp=0.03):
    """The loss of finding English texts by their translations and mistyped forms, and the reverse.

    matches: (forms, English texts). english: indices of the English texts; some may occur twice.
    """
    twice = (english[:, None] == english[None]) & others(matches)
    masked = (matches / sharp).masked_fill(twice, -1e4)
    right = torch.arange(len(english), device=english.device)
    return (F.cross_entropy(masked, right) + F.cross_entropy(masked.T, right)) / 2


def drift(new, old):
    """The mean squared change of the cosines of token vectors among each other."""
    return ((new @ new.T - old @ old.T) ** 2).mean()


def held_back(topics, hold):
    """True for topics that are not learned: every hold-th block of five neighbours."""
    return topics // 5 % hold == 3


class Exam:
    """Held questions, and the notes among which each must find one of its topic.

    The notes are those of all held topics, their look-alikes, and other texts.
    """

    def __init__(self, pairs, lookalikes, other_texts, most):
        pairs = pairs[torch.randperm(len(pairs), generator=torch.Generator().manual_seed(3)).to(pairs.device)]
        self.questions, self.topics = pairs[:most, 0], pairs[:most, 2]
        # a look-alike and another text answer nothing: no question has a topic below 0
        notes = torch.cat([torch.unique(pairs[:, 1:], dim=0), torch.stack([lookalikes[:, 0], -lookalikes[:, 1] - 1], 1)])
        self.notes = torch.cat([notes[:, 0], other_texts])
        self.note_topics = torch.cat([notes[:, 1], torch.full_like(other_texts, -1)])
        self.question_kinds, self.note_kinds = torch.ones_like(self.questions), torch.zeros_like(self.notes)

    def encoded(self, texts, student):
        """Vectors of the questions, vectors of the notes, and all matches by tokens."""
        questions, question_tokens = texts.encode(student, self.questions, self.question_kinds, tokens=True)
        notes, note_tokens = texts.encode(student, self.notes, self.note_kinds, tokens=True)

        def row(start):
            some = rows_of(question_tokens, start, start + 64)
            return torch.cat([matched(some, rows_of(note_tokens, i, i + 256), texts.multiple) for i in range(0, len(notes), 256)], 1)

        return questions, notes, torch.cat([row(i) for i in range(0, len(questions), 64)])

    def right(self, scores):
        """The share of questions whose first note has their topic, as text."""
        return f"{(self.note_topics[scores.argmax(1)] == self.topics).float().mean():.3f}"


def both(matches, cosines):
    """Matches by tokens and cosines of vectors as one score, as the ranking adds them."""
    return 5 * (matches - 0.3).clamp(min=0) + 0.9 * cosines


def save(student, head, run, about):
    """Writes a run: its weights, and run.json with what `about` holds."""
    os.makedirs(run, exist_ok=True)
    state = {name: values.detach().cpu().numpy() for name, values in student.state_dict().items()}
    for i in range(3):
        names = [name for name in state if name.startswith("layers.") and int(name.split(".")[1]) // 4 == i]
        np.savez(f"{run}/layers-{i}.npz", **{name: state[name].astype(np.float16) for name in names})
    parts = {"tokens." + name: state[name] for name in ("mean", "map")}
    parts |= {name: values.detach().cpu().numpy() for name, values in head.state_dict().items()}
    np.savez(run + "/head.npz", **{name: values.astype(np.float32) for name, values in parts.items()})
    with open(run + "/run.json", "w") as file:
        json.dump(about, file)
