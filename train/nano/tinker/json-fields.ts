import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';

/** An invalid message of a client. `status` is the HTTP status of the reply. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

const wrong = (name: string, wanted: string): ProtocolError =>
  new ProtocolError(`${name} must be ${wanted}`, 422);

/** Reads a member of a client's body. Throws a ProtocolError (422) for another type. Null counts as absent. */
export function textField(body: JsonObject, name: string): string {
  const value = optionalTextField(body, name);
  if (value === undefined) throw wrong(name, 'a string');
  return value;
}

export function optionalTextField(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw wrong(name, 'a string');
  return value;
}

export function optionalIntegerField(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && !(typeof value === 'number' && Number.isSafeInteger(value)))
    throw wrong(name, 'an integer');
  return value;
}

export function integerField(body: JsonObject, name: string): number {
  const value = optionalIntegerField(body, name);
  if (value === undefined) throw wrong(name, 'an integer');
  return value;
}

export function numberField(body: JsonObject, name: string, fallback: number): number {
  const value = body[name] ?? fallback;
  if (typeof value !== 'number') throw wrong(name, 'a number');
  return value;
}

export function flagField(body: JsonObject, name: string, fallback: boolean): boolean {
  const value = body[name] ?? fallback;
  if (typeof value !== 'boolean') throw wrong(name, 'true or false');
  return value;
}

export function objectField(body: JsonObject, name: string): JsonObject {
  const value = body[name];
  if (!isObject(value)) throw wrong(name, 'an object');
  return value;
}

export function optionalObjectField(body: JsonObject, name: string): JsonObject | undefined {
  return (body[name] ?? undefined) === undefined ? undefined : objectField(body, name);
}

export function listField(body: JsonObject, name: string): readonly Json[] {
  const value = body[name];
  if (!Array.isArray(value)) throw wrong(name, 'a list');
  return value as readonly Json[];
}
