import { readFileSync, rmSync } from 'node:fs';
import { replaceFile, replaceFileSync } from '../base/atomic-file.ts';
import { asNumber, asObject, parseJson } from '../core/json.ts';

/** How far the record of a home has grown, kept beside the store: without it a deleted or emptied store looks like a new one. */
export interface StoreMark {
  /** The time of the first fact: no two stores share it. 0 while there is none. */
  readonly firstAt: number;
  /** Facts are never deleted, erased ones neither, so that this number only grows. */
  readonly facts: number;
  readonly turns: number;
  /** When it was written. */
  readonly at: number;
}

export const storeMarkFile = (storeFile: string): string => `${storeFile}-mark`;

/** Undefined when there is none, as in a home of an earlier version, or when it is unreadable. */
export function readStoreMark(storeFile: string): StoreMark | undefined {
  let text: string;
  try {
    text = readFileSync(storeMarkFile(storeFile), 'utf8');
  } catch {
    return undefined;
  }
  const value = asObject(parseJson(text));
  const [firstAt, facts, turns, at] = [value.firstAt, value.facts, value.turns, value.at].map(asNumber);
  if (firstAt === undefined || facts === undefined || turns === undefined || at === undefined)
    return undefined;
  return { firstAt, facts, turns, at };
}

export const writeStoreMark = (storeFile: string, mark: StoreMark): Promise<boolean> =>
  replaceFile(storeMarkFile(storeFile), `${JSON.stringify(mark)}\n`);

/** When a store was replaced on purpose. */
export const setStoreMark = (storeFile: string, mark: StoreMark): boolean =>
  replaceFileSync(storeMarkFile(storeFile), `${JSON.stringify(mark)}\n`);

/** Before a store is replaced on purpose. */
export const removeStoreMark = (storeFile: string): void => rmSync(storeMarkFile(storeFile), { force: true });

/** What is missing of the record that the mark describes; undefined when nothing is. */
export function findLostRecord(
  mark: StoreMark | undefined,
  now: Pick<StoreMark, 'firstAt' | 'facts' | 'turns'>,
): string | undefined {
  if (mark === undefined || mark.facts === 0) return undefined;
  const before = `${mark.turns} ${mark.turns === 1 ? 'turn' : 'turns'} (${new Date(mark.at).toISOString()})`;
  if (now.firstAt !== mark.firstAt)
    return `this is not the record that was here before: it has ${now.turns} turns, the one before had ${before}`;
  if (now.facts < mark.facts)
    return `the newest part of the record is missing: it has ${now.turns} turns, and had ${before}`;
  return undefined;
}
