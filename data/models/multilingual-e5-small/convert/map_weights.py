"""The graph as ONNX Runtime optimises it, its weights in a file of their own that is mapped into memory instead of read.
usage: map_weights.py IN.onnx FOLDER [OTHER.onnx]

Writes FOLDER/model_quantized.onnx and FOLDER/model_quantized.onnx_data, the word embedding table first; the same numbers in the same order, so
the vectors are the same bit for bit.  With OTHER also FOLDER/OTHER.onnx: a graph with layers of its own and the same table.
onnxruntime must not be newer than the one that reads the files (package.json).
"""
import os
import sys
import tempfile
import onnx
import onnxruntime as ort
from onnx.external_data_helper import set_external_data

PAGE = 4096
SMALL = 20_000  # bytes that stay in the graph
TABLE = "word_embeddings."
DATA = "model_quantized.onnx_data"


def optimised(path):
    with tempfile.TemporaryDirectory() as folder:
        o = ort.SessionOptions()
        o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        o.optimized_model_filepath = folder + "/optimised.onnx"
        o.log_severity_level = 3
        ort.InferenceSession(path, o)
        return onnx.load(o.optimized_model_filepath)


def tables_first(graph):
    return sorted(graph.initializer, key=lambda i: not i.name.startswith(TABLE))


def refer(tensor, offset, length):
    set_external_data(tensor, DATA, offset, length)
    tensor.ClearField("raw_data")


source, folder, *others = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
model, places = optimised(source), {}
with open(f"{folder}/{DATA}", "wb") as data:
    for tensor in tables_first(model.graph):
        raw = bytes(tensor.raw_data)
        if len(raw) < SMALL:
            continue
        data.write(b"\0" * (-data.tell() % PAGE))
        places[raw] = data.tell()
        refer(tensor, data.tell(), len(raw))
        data.write(raw)
onnx.save(model, folder + "/model_quantized.onnx")
for path in others:
    model = optimised(path)
    for tensor in model.graph.initializer:
        raw = bytes(tensor.raw_data)
        if raw in places:
            refer(tensor, places[raw], len(raw))
    onnx.save(model, f"{folder}/{os.path.basename(path)}")
