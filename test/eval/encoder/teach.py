"""Teaches the encoder: all layers of multilingual-e5-small and a head of two parts, from the files that pack.py wrote.

usage: teach.py FOLDER OUT SECONDS [--batch 1024] [--pairs 128] [--rate 3e-4] [--steps 0]
One part of the head learns the teacher's vectors (what English sentences mean), the other keeps the model's own former
vectors; a translation and a mistyped text have the targets of the English text. Pairs of question and note are told apart
from all others of the batch, among them the same note of another person. Runs on a GPU if there is one.
"""
import argparse, glob, json, math, os, time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

a = argparse.ArgumentParser()
a.add_argument("folder"); a.add_argument("out"); a.add_argument("seconds", type=float)
for name, value in (("batch", 1024), ("pairs", 128), ("rate", 3e-4), ("steps", 0), ("group", 4), ("own", 1.0), ("nce", 0.05), ("lower", 0.3), ("foreign", 0.35), ("tau", 0.05), ("limit", 0), ("seed", 1)):
    a.add_argument("--" + name, type=type(value), default=value)
a = a.parse_args()
os.makedirs(a.out, exist_ok=True)
torch.manual_seed(a.seed)
D = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.backends.cuda.matmul.allow_tf32 = True
began = time.time()
say = lambda *x: print(f"{time.time() - began:6.1f} s", *x, flush=True)
half = lambda: torch.autocast(D.type, torch.bfloat16)


class Layer(nn.Module):
    def __init__(s, size, heads, inner, eps):
        super().__init__()
        s.heads = heads
        s.q, s.k, s.v, s.o = (nn.Linear(size, size) for _ in range(4))
        s.fi, s.fo = nn.Linear(size, inner), nn.Linear(inner, size)
        s.n1, s.n2 = nn.LayerNorm(size, eps=eps), nn.LayerNorm(size, eps=eps)

    def forward(s, x, bias):
        B, L, H = x.shape
        q, k, v = (f(x).view(B, L, s.heads, -1).transpose(1, 2) for f in (s.q, s.k, s.v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        x = s.n1(x + s.o(y.transpose(1, 2).reshape(B, L, H)))
        return s.n2(x + s.fo(F.gelu(s.fi(x))))


def pooled(x, mask):
    m = mask.unsqueeze(-1).float()
    return F.normalize((x.float() * m).sum(1) / m.sum(1), dim=-1)


class Teacher(nn.Module):
    """all-mpnet-base-v2"""

    def __init__(s, folder):
        super().__init__()
        z = {}
        for f in sorted(glob.glob(folder + "/teacher-[01].npz")):
            part = np.load(f)
            z |= {k: torch.from_numpy(part[k]) for k in part.files}
        w = {k: v.float() * z[k + ":scale"] if k + ":scale" in z else v.float() for k, v in z.items() if ":" not in k}
        s.word, s.pos, s.rel = (nn.Parameter(w[k + ".weight"]) for k in ("embeddings.word_embeddings", "embeddings.position_embeddings", "encoder.relative_attention_bias"))
        s.norm = nn.LayerNorm(768, eps=1e-5)
        s.layers = nn.ModuleList(Layer(768, 12, 3072, 1e-5) for _ in range(12))
        put = lambda m, n: m.load_state_dict({k: w[f"{n}.{k}"] for k in m.state_dict()})
        put(s.norm, "embeddings.LayerNorm")
        for i, l in enumerate(s.layers):
            for x, n in dict(q="attention.attn.q", k="attention.attn.k", v="attention.attn.v", o="attention.attn.o", n1="attention.LayerNorm",
                             fi="intermediate.dense", fo="output.dense", n2="output.LayerNorm").items():
                put(getattr(l, x), f"encoder.layer.{i}.{n}")

    def forward(s, ids, mask):
        L = ids.shape[1]
        i = torch.arange(L, device=ids.device)
        n = i[:, None] - i[None]
        far = n.abs()
        large = (8 + (torch.log(far.clamp(min=1).float() / 8) / math.log(16) * 8).long()).clamp(max=15)
        bias = s.rel[(n < 0).long() * 16 + torch.where(far < 8, far, large)].permute(2, 0, 1)[None]
        x = s.norm(s.word[ids] + s.pos[i + 2])
        bias = bias + torch.where(mask, 0.0, -1e4)[:, None, None, :]
        for l in s.layers:
            x = l(x, bias)
        return pooled(x, mask)


class Student(nn.Module):
    """multilingual-e5-small with the rows of its table that occur; the table stays as it ships"""

    def __init__(s, folder):
        super().__init__()
        z = np.load(folder + "/student.npz")
        t = lambda k: torch.from_numpy(z[k])

        def q4(name):
            n = np.stack([z[name] & 15, z[name] >> 4], -1).reshape(len(z[name]), -1).astype(np.float32) - 8
            return torch.from_numpy((n.reshape(len(n), -1, 32) * z[name + ".scale"].astype(np.float32)[..., None]).reshape(n.shape))

        s.register_buffer("word", q4("word"), persistent=False)
        s.register_buffer("pos", t("emb.pos") + t("emb.type")[0], persistent=False)
        s.norm = nn.LayerNorm(384, eps=1e-12)
        s.layers = nn.ModuleList(Layer(384, 12, 1536, 1e-12) for _ in range(12))
        with torch.no_grad():
            s.norm.weight.copy_(t("emb.ln.w")); s.norm.bias.copy_(t("emb.ln.b"))
            for i, l in enumerate(s.layers):
                for x, n in dict(q="q", k="k", v="v", o="ao", fi="fi", fo="fo").items():
                    getattr(l, x).weight.copy_(q4(f"l{i}.{n}.w")); getattr(l, x).bias.copy_(t(f"l{i}.{n}.b"))
                for x, n in dict(n1="aln", n2="oln").items():
                    getattr(l, x).weight.copy_(t(f"l{i}.{n}.w")); getattr(l, x).bias.copy_(t(f"l{i}.{n}.b"))

    def forward(s, ids, mask):
        x = s.norm(s.word[ids] + s.pos[: ids.shape[1]])
        bias = torch.where(mask, 0.0, -1e4)[:, None, None, :]
        for l in s.layers:
            x = l(x, bias)
        return pooled(x, mask)


class Head(nn.Module):
    """Both parts see the centred vector, so that any weighting of the two is one 384 x 384 map."""

    def __init__(s):
        super().__init__()
        s.m = nn.Parameter(torch.zeros(2, 384))
        s.w, s.o = nn.Linear(384, 768, bias=False), nn.Linear(384, 384, bias=False)
        s.register_buffer("scale", torch.ones(2))
        nn.init.eye_(s.o.weight)

    def forward(s, x, q):
        z = x - s.m[q]
        return F.normalize(s.w(z), dim=-1), F.normalize(s.o(z), dim=-1)

    def mixed(s, x, q, w):
        z = x - s.m[q]
        return F.normalize(torch.cat([w**0.5 * s.w(z) / s.scale[0], (1 - w) ** 0.5 * s.o(z) / s.scale[1]], 1), dim=-1)


def padded(ids, lengths, extra=0):
    """rows of ids, padded with 0, as a tensor on the device"""
    starts = np.concatenate([[0], np.cumsum(lengths.astype(np.int64))[:-1]])
    rows = np.zeros((len(lengths), int(lengths.max()) + extra), np.int32)
    spots = np.arange(rows.shape[1] - extra)[None] < lengths[:, None]
    rows[:, : rows.shape[1] - extra][spots] = ids.astype(np.int32)
    return torch.from_numpy(rows).to(D), torch.from_numpy(lengths.astype(np.int64)).to(D)


z = np.load(a.folder + "/texts.npz")
N, T = int(z["english"]), int(z["translated"])
rows, length = padded(z["ids"], z["lengths"])
of, question = torch.from_numpy(z["of"]).long().to(D), torch.from_numpy(z["question"]).to(D)
first, pad, last = (int(x) for x in z["marks"])
prefix = torch.from_numpy(z["prefixes"]).long().to(D)
if a.limit:
    N = min(N, a.limit)
say(N, "English", T, "translated", len(of), "items on", D)


def inputs(idx, q):
    """ids and mask of items idx, with the prefix of questions where q"""
    n, ahead = length[idx], 3 + q
    # few different lengths: every new shape costs time on a GPU
    L = -(-(int(n.max()) + 5) // 8) * 8
    at = torch.arange(L, device=D)[None]
    spot = at - ahead[:, None]
    ids = torch.where((spot >= 0) & (spot < n[:, None]), rows[idx[:, None], spot.clamp(0, rows.shape[1] - 1)].long(), pad)
    ids[:, 0] = first
    for i in range(3):
        ids[:, i + 1] = torch.where(i + 1 < ahead, prefix[q, i], ids[:, i + 1])
    ids[torch.arange(len(idx), device=D), n + ahead] = last
    return ids, at <= (n + ahead)[:, None]


def encode(S, idx, q, chunk=384):
    """vectors of items, in chunks of like length"""
    order = torch.argsort(length[idx])
    y = [S(*inputs(idx[c], q[c])) for c in order.split(chunk)]
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=D)
    return torch.cat(y)[back]


S = Student(a.folder).to(D)
H = Head().to(D)
# what the teacher says, and what the student said before
with torch.inference_mode(), half():
    t = np.load(a.folder + "/teacher-texts.npz")
    trows, tlength = padded(t["ids"], t["lengths"])
    teacher = Teacher(a.folder).to(D)
    V = torch.zeros(N, 768, device=D)
    for c in torch.argsort(tlength[:N]).split(2048 if D.type == "cuda" else 64):
        L = int(tlength[c].max())
        mask = torch.arange(L, device=D)[None] < tlength[c][:, None]
        V[c] = teacher(torch.where(mask, trows[c, :L].long(), 1), mask)
    del teacher, trows
    say("teacher done")
    every = torch.arange(N, device=D)
    texts = torch.arange(int(z["english"]) + T if not a.limit else N, device=D)
    OWN = torch.stack([torch.cat([encode(S, c, torch.full_like(c, k), 2048) for c in texts.split(65536)]) for k in (0, 1)])
    middle = OWN[:, :N].mean(1)
    say("own vectors done")
V = V.clone()
VC = F.normalize(V - V.mean(0), dim=-1)
with torch.no_grad(), half():
    near = torch.zeros(N, 12, dtype=torch.int32, device=D)
    VH = V.to(torch.bfloat16)
    for c in every.split(2048):
        s = VH[c] @ VH.T
        s[torch.arange(len(c), device=D), c] = -9
        near[c] = s.topk(min(12, N - 1)).indices.int() if N > 12 else 0
    del VH
say("neighbours done")

pairs, key = torch.from_numpy(z["pairs"]).long().to(D), torch.from_numpy(z["key"]).long().to(D)
none = int(z["none"])
usable = (of[pairs[:, 0]] < N) & (of[pairs[:, 1]] < N)
held = ((pairs[:, 2] % 9) == 4) & usable
heldout = pairs[held], key[held]
pairs, key = pairs[usable & ~held], key[usable & ~held]
aside = torch.zeros(len(of), dtype=torch.bool, device=D)
aside[heldout[0][:, :2].flatten()] = True
aside[pairs[:, :2].flatten()] = False
unused = torch.zeros(N, dtype=torch.bool, device=D)
unused[of[aside.nonzero()[:, 0]]] = True
free = (~unused).nonzero()[:, 0]
# translations and mistyped forms of an English text
forms = torch.full((N, 12), -1, dtype=torch.long)
count = np.zeros(N, np.int64)
for j, e in zip(range(int(z["english"]), len(of)), z["of"][int(z["english"]) :]):
    if e < N and count[e] < 12 and not (j >= int(z["english"]) + T and count[e] > 8):
        forms[e, count[e]] = j
        count[e] += 1
forms, count = forms.to(D), torch.from_numpy(count).to(D)
# topics and what is translated more often than chat and dictionary
weight = torch.ones(N, device=D)
topical = torch.from_numpy(z["source"][:N] == 0).to(D)
weight[topical] = 0.15 / max(1, int(topical.sum()))
many = (count > 1) & ~topical
weight[many] = 0.25 / max(1, int(many.sum()))
rest = ~topical & ~many
weight[rest] = 0.6 / max(1, int(rest.sum()))
weight = weight[free]
chance = torch.where(question, 0.75, 0.3)


def asked(idx):
    return (torch.rand(len(idx), device=D) < chance[idx]).long()


# the head begins with the best linear map to the teacher
with torch.no_grad(), half():
    c = free[torch.randperm(len(free), device=D)[:12000]]
    q = asked(c)
    y = encode(S, c, q).float()
with torch.no_grad():
    for k in (0, 1):
        H.m[k] = y[q == k].mean(0)
    x = y - H.m[q]
    H.w.weight.copy_(torch.linalg.solve(x.T @ x + 0.3 * torch.eye(384, device=D), x.T @ VC[c]).T)


def judge(tag):
    """Held topics: is a note that answers first among all their notes and 3 000 others?"""
    p, k = heldout
    if len(p) == 0:
        return
    with torch.no_grad(), half():
        torch.manual_seed(7)
        p, k = (v[torch.randperm(len(v), generator=torch.Generator().manual_seed(3)).to(D)][:1500] for v in (p, k))
        others = free[torch.randperm(len(free), device=D)[:3000]]
        notes = torch.cat([p[:, 1], others])
        zq, zn = torch.ones(len(p), dtype=torch.long, device=D), torch.zeros(len(notes), dtype=torch.long, device=D)
        Q, X = encode(S, p[:, 0], zq).float(), encode(S, notes, zn).float()
        with torch.autocast(D.type, enabled=False):
            v = X - H.m[zn]
            H.scale[0], H.scale[1] = H.w(v).norm(dim=1).mean(), H.o(v).norm(dim=1).mean()
            line = []
            for w in (0.0, 0.3, 0.5, 0.7, 1.0):
                best = (H.mixed(Q, zq, w) @ H.mixed(X, zn, w).T).argmax(1)
                inside = best < len(p)
                b = best.clamp(max=len(p) - 1)
                right = inside & (p[b, 2] == p[:, 2]) & ((k == none) | (k[b] == k))
                topic = inside & (p[b, 2] == p[:, 2])
                line.append(f"{w}: {right.float().mean():.3f} ({topic.float().mean():.3f})")
        say(tag, "held topics, right first (topic right):", "  ".join(line))


judge("before")
groups = [
    {"params": [p for l in layers for p in l.parameters()], "lr": a.rate * share, "weight_decay": 0.01}
    for layers, share in ((S.layers[6:], 1), (S.layers[:6], a.lower))
    if share
] + [
    {"params": list(H.parameters()), "lr": a.rate * 4, "weight_decay": 0.0},
]
for p in [*S.norm.parameters(), *(p for l in S.layers[:6] for p in l.parameters() if not a.lower)]:
    p.requires_grad_(False)
optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=D.type == "cuda")
base = [g["lr"] for g in groups]
step, start, sums = 0, time.time(), torch.zeros(5, device=D)
judged = start
while True:
    spent = time.time() - start
    f = step / a.steps if a.steps else spent / a.seconds
    if f >= 1:
        break
    for g, b in zip(optimiser.param_groups, base):
        g["lr"] = b * max(0.005, min(1, (step + 1) / 200) * (1 - f))
    seeds = free[torch.multinomial(weight, min(a.batch // a.group, len(free)))]
    idx = torch.cat([seeds[:, None], near[seeds[:, None], torch.rand(len(seeds), near.shape[1], device=D).argsort(1)[:, : a.group - 1]].long()], 1).flatten()
    # what is kept aside gives way to something else
    idx = torch.where(unused[idx], seeds.repeat_interleave(a.group), idx)
    form = forms[idx, (torch.rand(len(idx), device=D) * count[idx].clamp(min=1)).long()]
    idx = torch.where((count[idx] > 0) & (torch.rand(len(idx), device=D) < a.foreign), form, idx)
    n = len(idx)
    some = torch.randint(len(pairs), (min(a.pairs, len(pairs)),), device=D)
    p, k = pairs[some], key[some]
    everything = torch.cat([idx, p[:, 0], p[:, 1]])
    q = torch.cat([asked(idx), torch.ones(len(p), dtype=torch.long, device=D), torch.zeros(len(p), dtype=torch.long, device=D)])
    with half():
        x = encode(S, everything, q).float()
    y, o = H(x, q)
    e = of[everything]
    target, kept = VC[e], V[e]
    # a translation keeps now its own former vector, now comes to that of the English text; a mistyped text always does
    mine = torch.where((everything < OWN.shape[1]) & (torch.rand(len(e), device=D) < 0.6), everything, e)
    own = F.normalize(OWN[q, mine] - middle[q], dim=-1)
    l1 = (1 - (y * target).sum(1)).mean()
    lo = (1 - (o * own).sum(1)).mean()
    A, B = y @ y.T, kept @ kept.T
    same = e[:, None] == e[None]
    eye = torch.eye(len(e), dtype=torch.bool, device=D)
    l2 = ((A - B)[~eye] ** 2).mean()
    l3 = F.kl_div(F.log_softmax((A / a.tau).masked_fill(eye, -1e4), 1), F.softmax((B / a.tau).masked_fill(eye, -1e4), 1), reduction="batchmean")
    # question and note: others of the topic count as wrong only where the question names what differs
    mixed = torch.cat([y, o], 1) * 0.5**0.5
    s = mixed[n : n + len(p)] @ mixed[n + len(p) :].T / a.tau
    fits = (p[:, 2][:, None] == p[:, 2][None]) & ((k[:, None] == k[None]) | (k[:, None] == none) | (k[None] == none))
    s = s.masked_fill(fits & ~torch.eye(len(p), dtype=torch.bool, device=D), -1e4)
    right = torch.arange(len(p), device=D)
    l4 = (F.cross_entropy(s, right) + F.cross_entropy(s.T, right)) / 2
    loss = l1 + a.own * lo + 5 * l2 + 0.3 * l3 + a.nce * l4
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_([v for g in optimiser.param_groups for v in g["params"]], 1.0)
    optimiser.step()
    sums += torch.stack([l1, l2, l3, l4, lo]).detach()
    step += 1
    if step % 100 == 0 and (time.time() - judged > 25 or step == 100):
        say(f"step {step}, {(time.time() - start) / step * 1000:.0f} ms each; cos {sums[0] / 100:.3f} mse {sums[1] / 100:.4f} kl {sums[2] / 100:.3f} nce {sums[3] / 100:.3f} own {sums[4] / 100:.3f}")
        judge(f"step {step}")
        judged = time.time()
    if step % 100 == 0:
        sums.zero_()
judge(f"end, step {step}")
state = {k: v.detach().cpu() for k, v in S.state_dict().items()}
for i in range(3):
    np.savez(f"{a.out}/layers-{i}.npz", **{k: v.numpy().astype(np.float16) for k, v in state.items() if k.startswith("layers.") and int(k.split(".")[1]) // 4 == i})
np.savez(f"{a.out}/head.npz", **{k: v.detach().cpu().numpy().astype(np.float32) for k, v in H.state_dict().items()})
json.dump({"steps": step, **vars(a)}, open(f"{a.out}/run.json", "w"))
say("done", step, "steps; written")
