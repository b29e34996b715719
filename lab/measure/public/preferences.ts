import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { asArray, asObject, asString, type Json, parseJson } from '../../../src/core/json.ts';
import { readStatements } from '../../../src/learn/memory/write/read-statements.ts';
import type { Measured } from './customers.ts';

const GOAL = 0.8;

/** How many of PrefEval's preferences would be kept when a person types them as a first message, without "remember" and without a model. */
export function measurePreferences(data: string): Measured {
  const folder = path.join(data, 'prefeval');
  if (!existsSync(folder))
    return { ok: false, why: `The set "prefeval-chat" is absent: there is no ${folder}.` };
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const preferences = files.flatMap((name) =>
    asArray(parseJson(readFileSync(path.join(folder, name), 'utf8')) as Json).flatMap(
      (row) => asString(asObject(row).preference) ?? [],
    ),
  );
  if (preferences.length === 0) return { ok: false, why: `${folder} has no preferences.` };
  const kept = preferences.filter((message) => readStatements(message, '').length > 0).length;
  return {
    ok: true,
    result: { set: 'prefeval-chat', preferences: preferences.length, kept },
    text: `${kept} of ${preferences.length} preferences are kept, typed in the chat without a word such as "remember" (goal ${100 * GOAL} %)`,
    isMet: kept >= GOAL * preferences.length,
  };
}
