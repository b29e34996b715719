import { hash } from 'node:crypto';
import { isObject, type Json, parseJson } from '../../../src/core/json.ts';
import type { Keys } from './plan.ts';

/** One thing to do in a workspace, as data: it can be told as a command, and done to texts in memory. */
export type Step =
  | { readonly do: 'write'; readonly path: string; readonly text: string }
  | { readonly do: 'append'; readonly path: string; readonly line: string }
  | { readonly do: 'copy'; readonly from: string; readonly to: string }
  | { readonly do: 'set'; readonly path: string; readonly keys: Keys; readonly value: Json }
  | { readonly do: 'checksum'; readonly path: string; readonly into: string };

/** A line of the plain shell. */
export function commandOf(step: Step): string {
  switch (step.do) {
    case 'write':
      return `write ${quoted(step.path)} ${quoted(step.text)}`;
    case 'append':
      return `append ${quoted(step.path)} ${quoted(step.line)}`;
    case 'copy':
      return `cp ${quoted(step.from)} ${quoted(step.to)}`;
    case 'set':
      return `set ${quoted(step.path)} ${quoted(pathOf(step.keys))} ${quoted(settable(step.value))}`;
    case 'checksum':
      return `sha256sum ${quoted(step.path)} >> ${quoted(step.into)}`;
  }
}

/** `tickets[2].state` */
export const pathOf = (keys: Keys): string =>
  keys.reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`),
    '',
  );

/** Text that reads as something else in JSON has to say that it is text. */
const settable = (value: Json): string =>
  typeof value === 'string' && parseJson(value) === undefined ? value : JSON.stringify(value);

const PLAIN_WORD = /^[\w./,:+@%-]+$/;
const quoted = (word: string): string =>
  PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** What the texts of a workspace are after the steps. Throws for a step that could not be done. */
export function applySteps(
  texts: ReadonlyMap<string, string>,
  steps: readonly Step[],
): ReadonlyMap<string, string> {
  const now = new Map(texts);
  const read = (path: string): string => {
    const found = now.get(path);
    if (found === undefined) throw new Error(`${path} is not there`);
    return found;
  };
  for (const step of steps) {
    if (step.do === 'write') now.set(step.path, `${step.text}\n`);
    else if (step.do === 'append') now.set(step.path, `${now.get(step.path) ?? ''}${step.line}\n`);
    else if (step.do === 'copy') now.set(step.to, read(step.from));
    else if (step.do === 'checksum')
      now.set(step.into, `${now.get(step.into) ?? ''}${checksumLine(read(step.path), step.path)}\n`);
    else {
      const changed = put(parseJson(read(step.path)), step.keys, step.value);
      now.set(step.path, `${JSON.stringify(changed, null, 2)}\n`);
    }
  }
  return now;
}

export const sha256Of = (text: string): string => hash('sha256', text, 'hex');
export const checksumLine = (text: string, path: string): string => `${sha256Of(text)}  ${path}`;

/** The value with another one at a place; what is not there on the way is made. */
export function put(into: Json | undefined, keys: Keys, value: Json): Json {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  if (typeof key === 'number') {
    const items: Json[] = Array.isArray(into) ? [...into] : [];
    items[key] = put(items[key], rest, value);
    return items;
  }
  const members = isObject(into) ? into : {};
  return { ...members, [key]: put(members[key], rest, value) };
}
