/*! TypeBox: MIT License, Copyright (c) 2017-2026 Haydn Paterson; see its package for the text. */
// The parts of it that the program runs, which the build writes into this one file: reading its 700 takes 200 ms of every start.
export { Type } from "typebox";
export { Compile, type Validator } from "typebox/compile";
export { Settings } from "typebox/system";
export { Value } from "typebox/value";
