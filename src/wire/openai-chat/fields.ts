import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { WireError } from '../../core/wire.ts';

/** Reads one member of a caller's body; `path` says where it stands, such as `messages[2].content[0].type`. */
type Read<T> = (value: Json | undefined, path: string) => T;

export function refuse(path: string, problem: string): never {
  throw new WireError(`${path}: ${problem}`);
}

export const requireObject: Read<JsonObject> = (value, path) =>
  isObject(value) ? value : refuse(path, 'must be an object');

export const requireArray: Read<readonly Json[]> = (value, path) =>
  Array.isArray(value) ? value : refuse(path, 'must be an array');

export const requireString: Read<string> = (value, path) =>
  typeof value === 'string' ? value : refuse(path, 'must be a string');

export const requireText: Read<string> = (value, path) =>
  requireString(value, path) || refuse(path, 'must not be empty');

export const requireNumber: Read<number> = (value, path) =>
  typeof value === 'number' && Number.isFinite(value) ? value : refuse(path, 'must be a number');

export const requireBoolean: Read<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'must be true or false');

/** Clients write an option they leave open as null as often as they leave it out. */
export const isAbsent = (value: Json | undefined): value is null | undefined =>
  value === undefined || value === null;

export const optional = <T>(value: Json | undefined, path: string, read: Read<T>): T | undefined =>
  isAbsent(value) ? undefined : read(value, path);
