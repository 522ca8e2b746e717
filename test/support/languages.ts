/** Gives the core the languages that ship, as the daemon and the command line do. */
import { useLanguages } from "../../src/core/text/languages.ts";
import { readLanguages } from "../../src/files/read-languages.ts";

useLanguages(readLanguages);
