import { isObject, type Json } from '../../src/core/json.ts';

/** One step into a JSON value: a member, and with `each` everything in the list that it holds. */
interface PathStep {
  readonly name: string;
  readonly each: boolean;
}

export type FieldPath = readonly PathStep[];

/** Reads `a.b` and `list[].x`; undefined for what is no path. */
export function parseFieldPath(text: string): FieldPath | undefined {
  const steps = text.split('.').map((part): PathStep | undefined => {
    const name = part.endsWith('[]') ? part.slice(0, -2) : part;
    return name === '' || /[[\]]/.test(name) ? undefined : { name, each: name !== part };
  });
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

/**
 * Every value at a path, each under the place where it was looked for. A value that is missing is undefined, and so is
 * whatever a list that is missing or empty should have held: a report without entries is no report.
 */
export function valuesAt(
  root: Json,
  path: FieldPath,
): readonly { readonly at: string; readonly value: Json | undefined }[] {
  let found: readonly { readonly at: string; readonly value: Json | undefined }[] = [{ at: '', value: root }];
  for (const { name, each } of path) {
    found = found.flatMap(({ at, value }) => {
      const place = at === '' ? name : `${at}.${name}`;
      const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      if (!each) return [{ at: place, value: member }];
      if (!Array.isArray(member) || member.length === 0) return [{ at: `${place}[]`, value: undefined }];
      return member.map((one: Json, index) => ({ at: `${place}[${index}]`, value: one }));
    });
  }
  return found;
}
