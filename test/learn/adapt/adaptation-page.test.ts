import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EVENT_KINDS } from '../../../src/core/adapt.ts';
import { candidateTypeOf } from '../../../src/learn/adapt/digest.ts';
import { learningRecordOf } from '../../../src/learn/adapt/learning-records.ts';

const page = readFileSync('docs/adaptation.md', 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| `'));

it.each(EVENT_KINDS)('docs/adaptation.md has the score of %s, and what it feeds', (kind) => {
  const row = rows.find((line) => line.includes(`\`${kind}\``)) ?? '';
  const fact = { type: 'event-reported', kind, data: {} } as const;
  const { score } = learningRecordOf({ seq: 1, at: 0, fact }) ?? {};
  const [, , scored = '', feeds = ''] = row.split('|').map((cell) => cell.trim());
  const type = candidateTypeOf(kind);
  expect([scored, feeds]).toEqual([String(score), type === undefined ? 'nothing' : `\`${type}\``]);
});
