import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { asArray, asObject } from '../../../src/core/json.ts';
import { chatBody, type InstarHere, replyWith, type Stage } from './instar-here.ts';
import type { SettingProof, SettingProofs } from './setting-proof.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 20 };

/** The verifiers of one daemon, each for a domain of its own. */
const rowsFor = (file: string): readonly object[] => [
  { domain: 'exact', kind: 'exact', expected: 'Oslo' },
  { domain: 'exact-list', kind: 'exact', expected: ['Oslo', 'Christiania'] },
  {
    domain: 'exact-tasks',
    kind: 'exact',
    answers: [
      { task: 'capital of  Norway', expected: 'Oslo' },
      { task: 'capital of Peru', expected: ['Lima', 'Lima, Peru'] },
    ],
  },
  { domain: 'exact-answer', kind: 'exact', expected: 'Oslo', from: 'answer' },
  { domain: 'exact-whole', kind: 'exact', expected: 'Oslo', from: 'whole' },
  { domain: 'exact-field', kind: 'exact', expected: 'Oslo', field: '/places/0/city' },
  { domain: 'exact-pattern', kind: 'exact', expected: 'Oslo', pattern: 'city=(\\w+)' },
  { domain: 'exact-loose', kind: 'exact', expected: '91', match: 'answer' },
  { domain: 'exact-strict', kind: 'exact', expected: '91', match: 'exact' },
  { domain: 'exact-case', kind: 'exact', expected: 'Oslo', isCaseSensitive: true },
  { domain: 'exact-nocase', kind: 'exact', expected: 'Oslo', isCaseSensitive: false },
  { domain: 'number', kind: 'number', expected: 42 },
  { domain: 'number-list', kind: 'number', expected: [42, '1,000'] },
  {
    domain: 'number-tasks',
    kind: 'number',
    answers: [
      { task: 'six times seven', expected: 42 },
      { task: 'two times two', expected: [4, 'four is 4'] },
    ],
  },
  { domain: 'number-answer', kind: 'number', expected: 42, from: 'answer' },
  { domain: 'number-whole', kind: 'number', expected: 42, from: 'whole' },
  { domain: 'number-field', kind: 'number', expected: 42, field: '/total' },
  { domain: 'number-pattern', kind: 'number', expected: 42, pattern: 'total ([0-9.]+)' },
  { domain: 'number-near', kind: 'number', expected: 100, tolerance: 0.1 },
  { domain: 'number-about', kind: 'number', expected: 100, absoluteTolerance: 5 },
  { domain: 'regex', kind: 'regex', pattern: 'EUR' },
  { domain: 'regex-flags', kind: 'regex', pattern: 'EUR', flags: 'i' },
  { domain: 'regex-contains', kind: 'regex', pattern: '[0-9]+ EUR', match: 'contains' },
  { domain: 'regex-whole', kind: 'regex', pattern: '[0-9]+ EUR', match: 'whole' },
  { domain: 'schema', kind: 'schema', schema: { type: 'object', required: ['total'] } },
  { domain: 'schema-any', kind: 'schema', schema: true },
  { domain: 'schema-none', kind: 'schema', schema: false },
  { domain: 'rubric', kind: 'rubric', criteria: [{ text: 'FIRST' }, { text: 'SECOND' }] },
  { domain: 'rubric-other', kind: 'rubric', criteria: [{ text: 'SECOND' }] },
  { domain: 'rubric-weighed', kind: 'rubric', criteria: [{ text: 'FIRST', weight: 3 }, { text: 'SECOND' }] },
  { domain: 'module', kind: 'module', file },
  { domain: 'family.*', kind: 'regex', pattern: 'EUR' },
];

/** Recorded turns, like those of every client, and the rewards that the configured verifiers give to them. */
export function createVerifierProofs(stage: Stage): SettingProofs {
  const open = async (): Promise<InstarHere> => {
    const provider = await stage.provider('verifiers', (request, response) => {
      const { model, messages, stream } = chatBody(request);
      const asked = String(messages.at(-1)?.content);
      // The judge likes a criterion named FIRST and no other.
      const points = [...request.body.toString().matchAll(/FIRST|SECOND/g)].map(([name]) => ({
        score: name === 'FIRST' ? 1 : 0,
        reason: 'so',
      }));
      replyWith(
        response,
        model === 'referee' ? JSON.stringify({ points }) : (asked.split('SAY: ')[1] ?? ''),
        stream === true,
      );
    });
    const file = path.join(stage.folder(), 'verify.mjs');
    writeFileSync(
      file,
      `export const verify = async ({ task, output }) => ({ status: 'ok', reward: output.length > 10 ? 1 : 0, reasons: [task.length + ''] });`,
    );
    const entry = { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' };
    return stage.open(
      'verifiers',
      {
        providers: { p: entry },
        models: { judge: 'p/referee', evolver: 'off' },
        learn: { failures: 100, verifiers: rowsFor(file) },
      },
      { env: { P_KEY: 'k-000000000000' } },
    );
  };
  let sessions = 0;
  /** The verifier's score of a reply; undefined when it gave none. */
  const score = async (domain: string, reply: string, task = 'Please'): Promise<number | undefined> => {
    const here = await open();
    const session = `verified-${++sessions}`;
    await here.chat(`${task}. SAY: ${reply}`, { session, headers: { 'x-instar-domain': domain } });
    await vi.waitFor(async () => {
      const { turns } = await here.owner('GET', `/api/sessions/${session}`);
      expect(asObject(asArray(turns)[0]).status).toBe('complete');
    }, SOON);
    await here.daemon.settle();
    const { turns } = await here.owner('GET', `/api/sessions/${session}`);
    const rewards = asArray(asObject(asArray(turns)[0]).rewards).map(asObject);
    const given = rewards.find(({ source }) => source === 'verifier');
    return given === undefined ? undefined : Number(given.score);
  };
  /** A reply that is right and one that is not, as the row of this domain sees it. */
  const grades = (domain: string, right: string, wrong: string, task?: string): SettingProof => ({
    acts: async () =>
      expect([await score(domain, right, task), await score(domain, wrong, task)]).toEqual([1, -1]),
  });
  /** The domain itself, and `*` in it; a domain without a row gets no reward. */
  const domains = (domain: string, right: string): SettingProof => ({
    acts: async () =>
      expect([await score(domain, right), await score('elsewhere', right)]).toEqual([1, undefined]),
  });
  const NORWAY = 'Name the capital of Norway';
  const PERU = 'Name the capital of Peru';
  const exact = (member: string): string => `learn.verifiers[](exact).${member}`;
  const number = (member: string): string => `learn.verifiers[](number).${member}`;

  return {
    [exact('domain')]: domains('exact', 'oslo'),
    [exact('kind=exact')]: grades('exact', 'oslo', 'Oslo it is'),
    [exact('expected')]: grades('exact', 'Oslo', 'Bergen'),
    [exact('expected[]')]: grades('exact-list', 'Christiania', 'Bergen'),
    [exact('answers[].task')]: {
      acts: async () =>
        expect([
          await score('exact-tasks', 'Oslo', NORWAY),
          await score('exact-tasks', 'Oslo', PERU),
          await score('exact-tasks', 'Oslo', 'Name the capital of Chile'),
        ]).toEqual([1, -1, undefined]),
    },
    [exact('answers[].expected')]: grades('exact-tasks', 'Oslo', 'Bergen', NORWAY),
    [exact('answers[].expected[]')]: grades('exact-tasks', 'Lima, Peru', 'Cusco', PERU),
    [exact('from=answer')]: grades('exact-answer', 'I think. The answer is: Oslo', 'The answer is: Bergen'),
    [exact('from=whole')]: grades('exact-whole', 'Oslo', 'The answer is: Oslo'),
    [exact('field')]: grades('exact-field', '{"places":[{"city":"Oslo"}]}', '{"city":"Oslo"}'),
    [exact('pattern')]: grades('exact-pattern', 'city=Bergen, no: city=Oslo', 'city=Oslo, no: city=Bergen'),
    [exact('match=answer')]: grades('exact-loose', 'There are 91 days', 'There are 92 days'),
    [exact('match=exact')]: grades('exact-strict', '91', 'There are 91 days'),
    [exact('isCaseSensitive=true')]: grades('exact-case', 'Oslo', 'oslo'),
    [exact('isCaseSensitive=false')]: grades('exact-nocase', 'OSLO', 'Bergen'),
    [number('domain')]: domains('number', '42'),
    [number('kind=number')]: grades('number', 'about 42 kg', 'about 43 kg'),
    [number('expected')]: grades('number', '42', '41'),
    [number('expected[]')]: grades('number-list', '1000', '999'),
    [number('answers[].task')]: {
      acts: async () =>
        expect([
          await score('number-tasks', '42', 'What is six times seven'),
          await score('number-tasks', '42', 'What is two times two'),
          await score('number-tasks', '42', 'What is three times three'),
        ]).toEqual([1, -1, undefined]),
    },
    [number('answers[].expected')]: grades('number-tasks', '42', '43', 'What is six times seven'),
    [number('answers[].expected[]')]: grades('number-tasks', '4', '5', 'What is two times two'),
    [number('from=answer')]: grades('number-answer', 'The answer is 42, not 7', 'The answer is 7, not 42'),
    [number('from=whole')]: grades('number-whole', 'The answer is 7, no, 42', 'The answer is 42, no, 7'),
    [number('field')]: grades('number-field', '{"total":42,"tax":7}', '{"total":7,"tax":42}'),
    [number('pattern')]: grades('number-pattern', 'total 42 and 7', 'total 7 and 42'),
    [number('tolerance')]: grades('number-near', '109', '111'),
    [number('absoluteTolerance')]: grades('number-about', '104', '106'),
    'learn.verifiers[](regex).domain': {
      acts: async () =>
        expect([
          await score('regex', '5 EUR'),
          await score('family.one', '5 EUR'),
          await score('elsewhere', '5 EUR'),
        ]).toEqual([1, 1, undefined]),
    },
    'learn.verifiers[](regex).kind=regex': grades('regex', '5 EUR', '5 USD'),
    'learn.verifiers[](regex).pattern': grades('regex', 'in EUR', 'in USD'),
    'learn.verifiers[](regex).flags': grades('regex-flags', '5 eur', '5 usd'),
    'learn.verifiers[](regex).match=contains': grades('regex-contains', 'it is 5 EUR', 'it is five EUR'),
    'learn.verifiers[](regex).match=whole': grades('regex-whole', '5 EUR', 'it is 5 EUR'),
    'learn.verifiers[](schema).domain': domains('schema', '{"total":1}'),
    'learn.verifiers[](schema).kind=schema': grades('schema', '{"total":1}', 'the total is 1'),
    'learn.verifiers[](schema).schema=true': grades('schema-any', '{"sum":1}', 'no JSON at all'),
    'learn.verifiers[](schema).schema=false': {
      acts: async () => expect(await score('schema-none', '{"total":1}')).toBe(-1),
    },
    'learn.verifiers[](schema).schema.*': grades('schema', '{"total":1}', '{"sum":1}'),
    'learn.verifiers[](rubric).domain': {
      acts: async () =>
        expect([await score('rubric', 'x'), await score('elsewhere', 'x')]).toEqual([0, undefined]),
    },
    'learn.verifiers[](rubric).kind=rubric': { acts: async () => expect(await score('rubric', 'y')).toBe(0) },
    'learn.verifiers[](rubric).criteria[].text': {
      acts: async () =>
        expect([await score('rubric', 'z'), await score('rubric-other', 'z')]).toEqual([0, -1]),
    },
    'learn.verifiers[](rubric).criteria[].weight': {
      acts: async () => expect(await score('rubric-weighed', 'x')).toBeCloseTo(0.5, 6),
    },
    'learn.verifiers[](module).domain': domains('module', 'a long reply'),
    'learn.verifiers[](module).kind=module': grades('module', 'a long reply', 'short'),
    'learn.verifiers[](module).file': grades('module', 'another long reply', 'short'),
  };
}
