import { embedderContract } from "../contract/embedder.contract.ts";
import { createFakeEmbedder } from "../support/fake-embedder.ts";

embedderContract("createFakeEmbedder", async () => createFakeEmbedder());
