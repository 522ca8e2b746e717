/** Violations of a schema as messages per field. */
import type { TLocalizedValidationError } from "typebox/error";
import { PATTERN_MEANINGS } from "./text-rules.ts";

export interface FieldFault {
  /** JSON pointer. */
  readonly path: string;
  /** Follows the path in a sentence: "is missing", "must be a string". */
  readonly message: string;
}

/** An object can have a million unknown keys; more are not reported. */
const MAX_FAULTS = 20;

/** The first faults. @param path of the value that was checked. */
export function fieldFaults(errors: readonly TLocalizedValidationError[], path = ""): FieldFault[] {
  return errors.flatMap((error) => faultsOf(error, path)).slice(0, MAX_FAULTS);
}

function faultsOf(error: TLocalizedValidationError, path: string): FieldFault[] {
  const at = path + error.instancePath;
  switch (error.keyword) {
    case "required":
      return error.params.requiredProperties.map((name) => ({
        path: `${at}/${pointerStep(name)}`,
        message: "is missing",
      }));
    case "additionalProperties":
      return error.params.additionalProperties.slice(0, MAX_FAULTS).map((name) => ({
        path: `${at}/${pointerStep(name)}`,
        message: "is not known here",
      }));
    case "boolean":
      // The same field is named by the additionalProperties error that comes with it.
      return [];
    default:
      return [{ path: at, message: message(error) }];
  }
}

function message(error: TLocalizedValidationError): string {
  switch (error.keyword) {
    case "type": {
      const names = [error.params.type].flat().filter((name) => name !== "null");
      return `must be ${names.map((name) => (/^[aio]/.test(name) ? `an ${name}` : `a ${name}`)).join(" or ")}`;
    }
    case "enum":
      return `must be one of ${error.params.allowedValues
        .filter((value) => value !== null)
        .map(String)
        .join(", ")}`;
    case "minLength":
    case "minItems":
      return error.params.limit === 1 ? "must not be empty" : error.message;
    case "pattern":
      return PATTERN_MEANINGS.get(String(error.params.pattern)) ?? error.message;
    default:
      return error.message;
  }
}

/** A name as a step of a JSON pointer (RFC 6901). */
export function pointerStep(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The name that a step stands for. */
export function stepName(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}
