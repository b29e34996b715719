import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { WireError } from '../core/wire.ts';

/** Reads one member of a caller's body; `path` names it in errors, such as `messages[2].content[0].type`. */
type Read<T> = (value: Json | undefined, path: string) => T;

export function rejectField(path: string, problem: string): never {
  throw new WireError(`${path}: ${problem}`);
}

export const requireObject: Read<JsonObject> = (value, path) =>
  isObject(value) ? value : rejectField(path, 'must be an object');

export const requireArray: Read<readonly Json[]> = (value, path) =>
  Array.isArray(value) ? value : rejectField(path, 'must be an array');

export const requireString: Read<string> = (value, path) =>
  typeof value === 'string' ? value : rejectField(path, 'must be a string');

/** A string that is not empty. */
export const requireText: Read<string> = (value, path) =>
  requireString(value, path) || rejectField(path, 'must not be empty');

export const requireNumber: Read<number> = (value, path) =>
  typeof value === 'number' && Number.isFinite(value) ? value : rejectField(path, 'must be a number');

export const requireCount: Read<number> = (value, path) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? value
    : rejectField(path, 'must be a whole number, zero or more');

export const requireBoolean: Read<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : rejectField(path, 'must be true or false');

/** Clients write an unset option as null as often as they leave it out. */
export const isAbsent = (value: Json | undefined): value is null | undefined =>
  value === undefined || value === null;

export const optionalField = <T>(value: Json | undefined, path: string, read: Read<T>): T | undefined =>
  isAbsent(value) ? undefined : read(value, path);
