import type { Json, JsonObject } from '../../../core/json.ts';

/** Why a value does not match, with its path; undefined when it does. */
export type SchemaCheck = (value: Json, at: string) => string | undefined;

export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** A keyword of a schema, to be compiled to a check. */
export interface Keyword {
  readonly rule: Json;
  /** The schema with the keyword. */
  readonly schema: JsonObject;
  readonly where: string;
  readonly inner: (sub: Json | undefined, name: string) => SchemaCheck;
}

export const firstFault = (checks: readonly SchemaCheck[], value: Json, at: string): string | undefined => {
  for (const check of checks) {
    const fault = check(value, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
};
