export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const asArray = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
export const asString = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Parses untrusted text: a value, or undefined when it is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Plain data as JSON: the compiler does not accept an interface where an index signature is expected. */
export const toJson = (data: object): JsonObject => data as JsonObject;

const MEMBER = { enumerable: true, configurable: true, writable: true };

/** A copy without the members that are undefined, so that optional fields stay absent on the wire. */
export function compact<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const members = value as Readonly<Record<string, unknown>>;
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (member === undefined) continue;
    // Parsed JSON can have a member of this name; assigned, it would be the copy's prototype.
    if (name === '__proto__') Object.defineProperty(kept, name, { ...MEMBER, value: member });
    else kept[name] = member;
  }
  return kept as { [K in keyof T]: Exclude<T[K], undefined> };
}
