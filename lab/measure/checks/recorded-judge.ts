import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { asString, isObject, parseJson } from '../../../src/core/json.ts';
import { type Ask, NO_COST, type Question } from '../../../src/core/learn.ts';
import { findJson } from '../../../src/learn/find-json.ts';

/** A judge whose rulings were recorded. What it is asked is kept, so that a model can be asked the same. */
export interface RecordedJudge {
  readonly ask: Ask;
  /** JSONL {id, system, user}. Ids and order say nothing about the rules and answers. */
  questions(): string;
}

const NO_RULING = { ok: false, why: 'no ruling was recorded', isRetryable: false, cost: NO_COST } as const;

/** `file`: JSONL {id, reply}; without it no question has an answer. */
export function openRecordedJudge(file: string | undefined): RecordedJudge {
  const lines = file === undefined ? [] : readFileSync(file, 'utf8').split('\n');
  const replies = new Map(
    lines
      .map(parseJson)
      .filter(isObject)
      .map(({ id, reply }) => [asString(id) ?? '', asString(reply) ?? '']),
  );
  const asked = new Map<string, Pick<Question<unknown>, 'system' | 'user'>>();
  return {
    ask: async (question) => {
      const { system, user } = question;
      const id = createHash('sha256').update(user).digest('hex').slice(0, 12);
      asked.set(id, { system, user });
      const json = findJson(replies.get(id) ?? '');
      const read = json.ok ? question.read(json.value) : json;
      return read.ok
        ? { ok: true, value: read.value, cost: NO_COST, model: 'recorded', prompt: user }
        : NO_RULING;
    },
    questions: () =>
      [...asked]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, { system, user }]) => `${JSON.stringify({ id, system, user })}\n`)
        .join(''),
  };
}
