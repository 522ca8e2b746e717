"""Teaches the encoder: all layers of multilingual-e5-small, its head and its map of tokens.

usage: teach.py FOLDER OUT SECONDS [options]    FOLDER: the files of pack.py
SECONDS 0 without --steps writes the cache alone.
It runs on a GPU if there is one. What a run learns:
- One part of the head learns the teacher's vectors (all-mpnet-base-v2: what English sentences
  mean), the other keeps the model's own former vectors. A translation and a mistyped text have the
  targets of the English text.
- Each question finds its note among those of the batch and their look-alikes, by vectors and by
  tokens: the weighted mean, over the question's tokens, of the best match in the note, as the
  ranking takes it.
- Tokens also learn the teacher's order of near texts, to find a text by its translation, and to keep
  their former angles.
"""
import argparse, copy, glob, math, os, time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from encoder import SIZE, Exam, Head, Layer, Student, Texts, attention_bias, both, drift, form_loss, held_back, log, matched
from encoder import others, padded, pair_losses, pooled, rows_of, save

OPTIONS = dict(
    batch=(1024, "texts per step"), group=(4, "near texts that come together"), pairs=(192, "pairs of question and note per step"),
    templates=(0.25, "share of pairs from templates"), foreign=(0.35, "share of texts replaced by a translation or mistyped form"),
    rate=(3e-4, "learning rate"), lower=(0.3, "share of the rate for the lower six layers"), drop=(0.0, "dropout"),
    own=(1.0, "weight: own former vectors"), nce=(0.2, "weight: note of a question, by vectors"),
    tokens=(0.5, "weight: note of a question, by tokens"), joint=(0.0, "weight: note of a question, by both"),
    level=(0.0, "weight: one line between right and wrong matches"), order=(0.3, "weight: the teacher's order, by tokens"),
    alike=(0.3, "weight: text of a translation, by tokens"), old=(3.0, "weight: former angles of tokens"),
    tau=(0.05, "temperature of cosines"), sharp=(0.03, "temperature of matches by tokens"),
    hold=(9, "hold back every n-th block of five topics"), limit=(0, "read only the first n English texts"),
    steps=(0, "end after n steps, not after SECONDS"), seed=(1, "of what is drawn"),
)
parser = argparse.ArgumentParser()
parser.add_argument("folder", help="files of pack.py")
parser.add_argument("out", help="folder of the run")
parser.add_argument("seconds", type=float)
parser.add_argument("--cache", default="", help="file with the targets, written if it does not exist")
for name, (value, text) in OPTIONS.items():
    parser.add_argument("--" + name, type=type(value), default=value, help=f"{text} ({value})")
options = parser.parse_args()
os.makedirs(options.out, exist_ok=True)
torch.manual_seed(options.seed)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.backends.cuda.matmul.allow_tf32 = True


def half():
    return torch.autocast(device.type, torch.bfloat16)


class Teacher(nn.Module):
    """all-mpnet-base-v2"""

    def __init__(self, folder):
        super().__init__()
        packed = {}
        for file in sorted(glob.glob(folder + "/teacher-[01].npz")):
            part = np.load(file)
            packed |= {name: torch.from_numpy(part[name]) for name in part.files}
        whole = {k: v.float() * packed[k + ":scale"] if k + ":scale" in packed else v.float() for k, v in packed.items() if ":" not in k}
        self.word = nn.Parameter(whole["embeddings.word_embeddings.weight"])
        self.pos = nn.Parameter(whole["embeddings.position_embeddings.weight"])
        self.distance = nn.Parameter(whole["encoder.relative_attention_bias.weight"])
        self.norm = nn.LayerNorm(768, eps=1e-5)
        self.layers = nn.ModuleList(Layer(768, 12, 3072, 1e-5) for _ in range(12))

        def put(module, name):
            module.load_state_dict({key: whole[f"{name}.{key}"] for key in module.state_dict()})

        put(self.norm, "embeddings.LayerNorm")
        names = dict(q="attention.attn.q", k="attention.attn.k", v="attention.attn.v", o="attention.attn.o", n1="attention.LayerNorm",
                     fi="intermediate.dense", fo="output.dense", n2="output.LayerNorm")
        for i, layer in enumerate(self.layers):
            for part, name in names.items():
                put(getattr(layer, part), f"encoder.layer.{i}.{name}")

    def forward(self, ids, mask):
        at = torch.arange(ids.shape[1], device=ids.device)
        distance = at[:, None] - at[None]
        far = distance.abs()
        # distances from 8 share buckets, on a logarithmic scale up to 128
        large = (8 + (torch.log(far.clamp(min=1).float() / 8) / math.log(16) * 8).long()).clamp(max=15)
        bias = self.distance[(distance < 0).long() * 16 + torch.where(far < 8, far, large)].permute(2, 0, 1)[None]
        x = self.norm(self.word[ids] + self.pos[at + 2])
        bias = bias + attention_bias(mask)
        for layer in self.layers:
            x = layer(x, bias)
        return pooled(x, mask)


def teacher_vectors():
    packed = np.load(options.folder + "/teacher-texts.npz")
    ids, lengths = padded(packed["ids"], packed["lengths"], device)
    teacher = Teacher(options.folder).to(device)
    vectors = torch.zeros(english, 768, device=device)
    for some in torch.argsort(lengths[:english]).split(2048 if device.type == "cuda" else 64):
        longest = int(lengths[some].max())
        mask = torch.arange(longest, device=device)[None] < lengths[some][:, None]
        vectors[some] = teacher(torch.where(mask, ids[some, :longest].long(), 1), mask)
    return vectors


def nearest(vectors):
    """For each English text the twelve nearest others."""
    near = torch.zeros(english, 12, dtype=torch.int32, device=device)
    rounded = vectors.to(torch.bfloat16)
    for some in torch.arange(english, device=device).split(2048):
        cosines = rounded[some] @ rounded.T
        cosines[torch.arange(len(some), device=device), some] = -9
        near[some] = cosines.topk(min(12, english - 1)).indices.int() if english > 12 else 0
    return near


def random_below(limit, count):
    return torch.randint(limit, (count,), device=device)


def random_kinds(items):
    """Kinds (0 note, 1 question) by chance: mostly question where the text has a question mark."""
    return (torch.rand(len(items), device=device) < torch.where(texts.is_question[items], 0.75, 0.3)).long()


def random_forms(items):
    """For each English text, which must have one, a translation or mistyped form."""
    return forms[items, (torch.rand(len(items), device=device) * form_count[items].clamp(min=1)).long()]


texts = Texts(options.folder, device)
english = min(texts.english, options.limit) if options.limit else texts.english
log(english, "English", texts.translated, "translated", len(texts), "items on", device)
student = Student(options.folder, options.drop).to(device)
head = Head().to(device)

# Targets: the teacher's vectors, and the student's former vectors of texts as note and as question.
if options.cache and os.path.exists(options.cache):
    teacher_target, own_target, own_mean, near = (part.to(device) for part in torch.load(options.cache))
else:
    with torch.inference_mode(), half():
        teacher_target = teacher_vectors()
        log("teacher done")
        items = torch.arange(english if options.limit else texts.english + texts.translated, device=device)
        own_target = torch.stack([
            torch.cat([texts.encode(student, some, torch.full_like(some, kind), 2048) for some in items.split(65536)]) for kind in (0, 1)])
        own_mean = own_target[:, :english].mean(1)
        log("own vectors done")
    # a tensor made in inference mode cannot take part in training
    teacher_target = teacher_target.clone()
    with torch.no_grad(), half():
        near = nearest(teacher_target)
    if options.cache:
        own_target = own_target.to(torch.bfloat16)
        torch.save((teacher_target, own_target, own_mean, near), options.cache)
    log("neighbours done")
teacher_centred = F.normalize(teacher_target - teacher_target.mean(0), dim=-1)
if options.seconds == 0 and options.steps == 0:
    raise SystemExit

# Pairs and look-alikes of topics that are learned, and of those held back.
usable = (texts.of[texts.pairs[:, 0]] < english) & (texts.of[texts.pairs[:, 1]] < english)
held = held_back(texts.pairs[:, 2], options.hold) & usable
held_pairs, pairs, keys = texts.pairs[held], texts.pairs[usable & ~held], texts.keys[usable & ~held]
held = held_back(texts.lookalikes[:, 1], options.hold)
held_lookalikes, lookalikes = texts.lookalikes[held], texts.lookalikes[~held]
asked_pairs = (pairs[:, 2] >= texts.asked_from).nonzero()[:, 0]
template_pairs = (pairs[:, 2] < texts.asked_from).nonzero()[:, 0]
# at most three look-alikes per topic; -1 where it has fewer
topic_count = int(max(texts.pairs[:, 2].max(), texts.lookalikes[:, 1].max())) + 1
lookalikes_of = torch.full((topic_count, 3), -1, dtype=torch.long)
for item, topic in lookalikes.tolist():
    spare = (lookalikes_of[topic] < 0).nonzero()
    if len(spare):
        lookalikes_of[topic, int(spare[0])] = item
lookalikes_of = lookalikes_of.to(device)

# English texts that no held topic has, unless a learned one has them too.
of_held = torch.zeros(len(texts), dtype=torch.bool, device=device)
of_held[held_pairs[:, :2].flatten()] = True
of_held[pairs[:, :2].flatten()] = False
of_held[held_lookalikes[:, 0]] = True
meant = texts.of[of_held.nonzero()[:, 0]]
unused = torch.zeros(english, dtype=torch.bool, device=device)
unused[meant[(meant >= 0) & (meant < english)]] = True
free = (~unused).nonzero()[:, 0]

# Translations and mistyped forms of each English text: at most twelve; mistyped ones up to nine.
forms = torch.full((english, 12), -1, dtype=torch.long)
form_count = np.zeros(english, np.int64)
for item, meaning in enumerate(texts.of[texts.english :].tolist(), texts.english):
    if 0 <= meaning < english and form_count[meaning] < 12 and not (item >= texts.english + texts.translated and form_count[meaning] > 8):
        forms[meaning, form_count[meaning]] = item
        form_count[meaning] += 1
forms, form_count = forms.to(device), torch.from_numpy(form_count).to(device)
with_forms = ((form_count > 0) & ~unused).nonzero()[:, 0]

# Texts of topics and those in several languages are drawn more often than chat and dictionary.
weight = torch.ones(english, device=device)
topical = texts.source[:english] == 0
several = (form_count > 1) & ~topical
for share, kind in ((0.15, topical), (0.25, several), (0.6, ~topical & ~several)):
    weight[kind] = share / max(1, int(kind.sum()))
weight = weight[free]

# The head begins with the best linear map to the teacher.
with torch.no_grad(), half():
    items = free[torch.randperm(len(free), device=device)[:12000]]
    kinds = random_kinds(items)
    vectors = texts.encode(student, items, kinds).float()
with torch.no_grad():
    for kind in (0, 1):
        head.m[kind] = vectors[kinds == kind].mean(0)
    x = vectors - head.m[kinds]
    head.w.weight.copy_(torch.linalg.solve(x.T @ x + 0.3 * torch.eye(SIZE, device=device), x.T @ teacher_centred[items]).T)

held_asked = held_pairs[held_pairs[:, 2] >= texts.asked_from]
exam = None
if len(held_asked):
    other_texts = free[torch.randperm(len(free), generator=torch.Generator().manual_seed(4)).to(device)[:2000]]
    exam = Exam(held_asked, held_lookalikes, other_texts, 900)


def judge(tag):
    """Logs the share of held questions whose first note is right, and sets the head's scale.

    By tokens, then for each weight of the teacher's part by vectors and by both.
    """
    if exam is None:
        return
    student.eval()
    with torch.no_grad(), half():
        questions, notes, matches = exam.encoded(texts, student)
    with torch.no_grad():
        questions, notes = questions.float(), notes.float()
        x = notes - head.m[exam.note_kinds]
        head.scale[0], head.scale[1] = head.w(x).norm(dim=1).mean(), head.o(x).norm(dim=1).mean()
        shares = [f"tokens {exam.right(matches)} (mean {matches.mean():.2f})"]
        for part in (0.0, 0.4, 0.7, 1.0):
            cosines = head.mixed(questions, exam.question_kinds, part) @ head.mixed(notes, exam.note_kinds, part).T
            shares.append(f"{part}: {exam.right(cosines)} {exam.right(both(matches, cosines))}")
    log(tag, "held:", "  ".join(shares))
    student.train()


judge("before")
line = nn.Parameter(torch.tensor(0.45, device=device))
groups = [
    {"params": [p for layer in layers for p in layer.parameters()], "lr": options.rate * share, "weight_decay": 0.01}
    for layers, share in ((student.layers[6:], 1), (student.layers[:6], options.lower))
    if share
] + [
    {"params": list(head.parameters()), "lr": options.rate * 4, "weight_decay": 0.0},
    {"params": [student.mean, student.map], "lr": options.rate, "weight_decay": 0.0},
    {"params": [line], "lr": 1e-2, "weight_decay": 0.0},
]
student.norm.requires_grad_(False)
if not options.lower:
    student.layers[:6].requires_grad_(False)
optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=device.type == "cuda")
rates = [group["lr"] for group in groups]
before = copy.deepcopy(student).eval()


def draw_texts():
    """Groups of near texts, some of them as a translation or mistyped form."""
    seeds = free[torch.multinomial(weight, min(options.batch // options.group, len(free)))]
    some = torch.rand(len(seeds), near.shape[1], device=device).argsort(1)[:, : options.group - 1]
    items = torch.cat([seeds[:, None], near[seeds[:, None], some].long()], 1).flatten()
    items = torch.where(unused[items], seeds.repeat_interleave(options.group), items)
    other_forms = random_forms(items)
    return torch.where((form_count[items] > 0) & (torch.rand(len(items), device=device) < options.foreign), other_forms, items)


def draw_pairs():
    """Pairs, their keys, and for each a look-alike: of its topic if it has one."""
    templates = int(options.pairs * options.templates)
    some = torch.cat([
        source[random_below(len(source), count)] for source, count in ((asked_pairs, options.pairs - templates), (template_pairs, templates))])
    chosen = lookalikes_of[pairs[some][:, 2], random_below(3, len(some))]
    chosen = torch.where(chosen < 0, lookalikes[random_below(len(lookalikes), len(some)), 0], chosen)
    return pairs[some], keys[some], chosen


def draw_forms():
    """English texts and a translation or mistyped form of each."""
    items = with_forms[random_below(len(with_forms), options.pairs // 2)]
    return items, random_forms(items)


def step_losses():
    """Draws a batch -> for each loss its weight and value."""
    items = draw_texts()
    drawn_pairs, drawn_keys, drawn_lookalikes = draw_pairs()
    meanings, meaning_forms = draw_forms()
    # where the parts of the batch begin: texts, meanings, forms, questions, notes with look-alikes
    at_meanings = len(items)
    at_forms = at_meanings + len(meanings)
    at_questions = at_forms + len(meanings)
    at_notes = at_questions + len(drawn_pairs)
    everything = torch.cat([items, meanings, meaning_forms, drawn_pairs[:, 0], drawn_pairs[:, 1], drawn_lookalikes])
    kinds = torch.cat([
        random_kinds(items), torch.zeros_like(meanings), torch.ones_like(meanings),
        torch.ones_like(drawn_pairs[:, 0]), torch.zeros_like(drawn_pairs[:, 0]), torch.zeros_like(drawn_lookalikes)])
    with half():
        vectors, tokens = texts.encode(student, everything, kinds, tokens=True)
        vectors = vectors.float()
        ordered = min(at_meanings, options.batch // 4)
        order_matches = matched(rows_of(tokens, 0, ordered), rows_of(tokens, 0, ordered), texts.multiple)
        form_matches = matched(rows_of(tokens, at_forms, at_questions), rows_of(tokens, at_meanings, at_forms), texts.multiple)
        pair_matches = matched(rows_of(tokens, at_questions, at_notes), rows_of(tokens, at_notes, len(everything)), texts.multiple)
        few = torch.cat([torch.arange(0, at_meanings, 16, device=device), torch.arange(at_questions, len(everything), 12, device=device)])
        with torch.no_grad():
            _, (old_tokens, old_weights) = texts.encode(before, everything[few], kinds[few], tokens=True)
        weighted = (old_weights > 0).nonzero()
        weighted = weighted[torch.randperm(len(weighted), device=device)[:1024]]
        new_tokens = tokens[0][few][weighted[:, 0], weighted[:, 1]].float()
        old_tokens = old_tokens[weighted[:, 0], weighted[:, 1]].float()
    by_teacher, by_own = head(vectors, kinds)
    meaning = texts.of[everything]
    has_meaning = meaning >= 0
    # A translation has as target its own former vector or, less often, that of the English text;
    # a mistyped text always has that of the English text.
    as_itself = (everything < own_target.shape[1]) & ((torch.rand(len(meaning), device=device) < 0.6) | ~has_meaning)
    own = F.normalize(own_target[kinds, torch.where(as_itself, everything, meaning.clamp(min=0))].float() - own_mean[kinds], dim=-1)
    teacher_loss = (1 - (by_teacher * teacher_centred[meaning.clamp(min=0)]).sum(1))[has_meaning].mean()
    own_loss = (1 - (by_own * own).sum(1)).mean()
    targets = teacher_target[meaning.clamp(min=0)][:at_meanings]
    cosines, goals = by_teacher[:at_meanings] @ by_teacher[:at_meanings].T, targets @ targets.T
    apart = others(cosines)
    square_loss = ((cosines - goals)[apart] ** 2).mean()

    def order_loss(scores, goals):
        """The divergence of the order of the other texts, for each text, from the teacher's."""
        itself = ~others(scores)
        goal = F.softmax((goals / options.tau).masked_fill(itself, -1e4), 1)
        return F.kl_div(F.log_softmax(scores.masked_fill(itself, -1e4), 1), goal, reduction="batchmean")

    vector_order = order_loss(cosines / options.tau, goals)
    mixed = torch.cat([by_teacher, by_own], 1) * 0.5**0.5
    by_vectors, by_tokens, by_both, by_line = pair_losses(
        mixed[at_questions:at_notes] @ mixed[at_notes:].T, pair_matches, drawn_pairs[:, 2], drawn_keys, texts.none, line, options.tau, options.sharp)
    token_order = order_loss(order_matches / options.sharp, goals[:ordered, :ordered])
    return {
        "teacher": (1, teacher_loss), "own": (options.own, own_loss), "squares": (5, square_loss), "order": (0.3, vector_order),
        "pairs by vectors": (options.nce, by_vectors), "by tokens": (options.tokens, by_tokens),
        "order by tokens": (options.order, token_order), "forms": (options.alike, form_loss(form_matches, meanings, options.sharp)),
        "drift": (options.old, drift(new_tokens, old_tokens)), "pairs by both": (options.joint, by_both), "by line": (options.level, by_line)}


step, start, sums = 0, time.time(), 0
judged = start
while True:
    done = step / options.steps if options.steps else (time.time() - start) / options.seconds
    if done >= 1:
        break
    for group, rate in zip(optimiser.param_groups, rates):
        group["lr"] = rate * max(0.005, min(1, (step + 1) / 200) * (1 - done))
    losses = step_losses()
    optimiser.zero_grad(set_to_none=True)
    sum(share * loss for share, loss in losses.values()).backward()
    torch.nn.utils.clip_grad_norm_([p for group in optimiser.param_groups for p in group["params"]], 1.0)
    optimiser.step()
    sums += torch.stack([loss for _, loss in losses.values()]).detach()
    step += 1
    if step % 100 == 0:
        if time.time() - judged > 25 or step == 100:
            means = ", ".join(f"{name} {mean:.4f}" for name, mean in zip(losses, (sums / 100).tolist()))
            log(f"step {step}, {(time.time() - start) / step * 1000:.0f} ms each; {means}; line at {line.item():.2f}")
            judge(f"step {step}")
            judged = time.time()
        sums = 0
judge(f"end, step {step}")
save(student, head, options.out, {"steps": step, **vars(options)})
log("done", step, "steps; written")
