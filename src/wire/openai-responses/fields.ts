import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { WireError } from '../../core/wire.ts';

type Value = Json | undefined;

export function refuse(path: string, mend: string): never {
  throw new WireError(`${path}: ${mend}`);
}

export function stringAt(value: Value, path: string): string {
  return typeof value === 'string' ? value : refuse(path, 'must be a string');
}

export function objectAt(value: Value, path: string): JsonObject {
  return isObject(value) ? value : refuse(path, 'must be an object');
}

export function arrayAt(value: Value, path: string): readonly Json[] {
  return Array.isArray(value) ? value : refuse(path, 'must be an array');
}

export function numberAt(value: Value, path: string): number {
  return typeof value === 'number' ? value : refuse(path, 'must be a number');
}

export function booleanAt(value: Value, path: string): boolean {
  return typeof value === 'boolean' ? value : refuse(path, 'must be true or false');
}

/** `null` on this wire means the same as leaving the member out. */
export function optional<T>(
  value: Value,
  path: string,
  read: (value: Value, path: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, path);
}
