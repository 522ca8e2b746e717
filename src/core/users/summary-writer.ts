import type { Fact } from "../facts/fact.ts";
import type { Highlights } from "./choose-highlights.ts";

/** Writes a summary in words of its own: a language model that the operator chose. */
export interface SummaryWriter {
  /**
   * The text; undefined where there is none, whatever went wrong: too late, unreachable, an answer that cannot be used.
   * Never rejects.
   */
  write(material: Highlights & { readonly facts: readonly Fact[] }): Promise<string | undefined>;
}
