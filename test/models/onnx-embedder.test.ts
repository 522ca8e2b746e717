import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { embedderContract } from "../contract/embedder.contract.ts";

embedderContract("openEmbedder", () => openEmbedder({ workers: 1 }));
