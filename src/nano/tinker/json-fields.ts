import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { ProtocolError } from './protocol-error.ts';

const wrong = (name: string, wanted: string): ProtocolError =>
  new ProtocolError(`${name} must be ${wanted}`, 422);

/** Reads a member of a client's body. Throws a ProtocolError (422) for another type. Null counts as absent. */
export function textAt(body: JsonObject, name: string): string {
  const value = optionalTextAt(body, name);
  if (value === undefined) throw wrong(name, 'a string');
  return value;
}

export function optionalTextAt(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw wrong(name, 'a string');
  return value;
}

export function optionalIntegerAt(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && !(typeof value === 'number' && Number.isSafeInteger(value)))
    throw wrong(name, 'an integer');
  return value;
}

export function integerAt(body: JsonObject, name: string): number {
  const value = optionalIntegerAt(body, name);
  if (value === undefined) throw wrong(name, 'an integer');
  return value;
}

export function numberAt(body: JsonObject, name: string, fallback: number): number {
  const value = body[name] ?? fallback;
  if (typeof value !== 'number') throw wrong(name, 'a number');
  return value;
}

export function flagAt(body: JsonObject, name: string, fallback: boolean): boolean {
  const value = body[name] ?? fallback;
  if (typeof value !== 'boolean') throw wrong(name, 'true or false');
  return value;
}

export function objectAt(body: JsonObject, name: string): JsonObject {
  const value = body[name];
  if (!isObject(value)) throw wrong(name, 'an object');
  return value;
}

export function optionalObjectAt(body: JsonObject, name: string): JsonObject | undefined {
  return (body[name] ?? undefined) === undefined ? undefined : objectAt(body, name);
}

export function listAt(body: JsonObject, name: string): readonly Json[] {
  const value = body[name];
  if (!Array.isArray(value)) throw wrong(name, 'a list');
  return value as readonly Json[];
}
