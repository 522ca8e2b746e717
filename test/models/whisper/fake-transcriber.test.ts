import { transcriberContract } from "../../contract/transcriber.contract.ts";
import { createFakeTranscriber } from "../../support/fake-transcriber.ts";
import { join, silence, tone } from "../../support/pcm.ts";

transcriberContract("createFakeTranscriber", createFakeTranscriber, () =>
  join(silence(0.3), tone(1), silence(0.5), tone(1)),
);
