import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { WireError } from '../../core/wire.ts';

type Value = Json | undefined;

export function refuse(path: string, mend: string): never {
  throw new WireError(`${path}: ${mend}`);
}

export const needObject = (value: Value, path: string): JsonObject =>
  isObject(value) ? value : refuse(path, 'must be an object');

export const needArray = (value: Value, path: string): readonly Json[] =>
  Array.isArray(value) ? value : refuse(path, 'must be an array');

export const needString = (value: Value, path: string): string =>
  typeof value === 'string' ? value : refuse(path, 'must be a string');

export const needBoolean = (value: Value, path: string): boolean =>
  typeof value === 'boolean' ? value : refuse(path, 'must be true or false');

export const needNumber = (value: Value, path: string): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : refuse(path, 'must be a number');

export const needCount = (value: Value, path: string): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? value
    : refuse(path, 'must be a whole number, zero or more');

/** Clients write both a missing member and null for "not set". */
export const maybe = <T>(
  value: Value,
  path: string,
  need: (value: Value, path: string) => T,
): T | undefined => (value === undefined || value === null ? undefined : need(value, path));
