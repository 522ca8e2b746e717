"""The mean of runs -> OUT/model.safetensors (layers) and OUT/projection.bin: means, both parts of the head as one map, and the map of
tokens with its mean.

usage: average.py OUT WEIGHT RUN [RUN ...]    WEIGHT: the teacher's part, 0 to 1;  RUN: a folder that teach.py wrote
"""
import glob, os, sys
import numpy as np
from safetensors.numpy import save_file

out, weight, runs = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
os.makedirs(out, exist_ok=True)
layers, head = {}, {}
for run in runs:
    one, its_head = {}, dict(np.load(run + "/head.npz"))
    for f in sorted(glob.glob(run + "/layers-?.npz")):
        one |= dict(np.load(f))
    for mean, values in ((layers, one), (head, its_head)):
        for k, v in values.items():
            mean[k] = mean.get(k, 0) + v.astype(np.float64) / len(runs)
save_file({k: v.astype(np.float32) for k, v in layers.items()}, out + "/model.safetensors")
both = [(w / s**2) * m.T @ m for w, s, m in zip((weight, 1 - weight), head["scale"], (head["w.weight"], head["o.weight"]))]
values, vectors = np.linalg.eigh(sum(both))
parts = [head["m"][1], head["m"][0], (vectors * np.sqrt(np.maximum(values, 0))).ravel(), head["tokens.mean"], head["tokens.map"].ravel()]
np.concatenate(parts).astype("<f4").tofile(out + "/projection.bin")
