import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TrainingError } from '../../src/core/training.ts';
import { NANO_QUESTIONS } from '../../train/nano/shipped-policy.ts';
import { gradeReply, type QuestionCheck, readRegressionSuite } from '../../train/regression-suite.ts';
import { FEWEST_QUESTIONS } from '../../train/trial-evidence.ts';

const GENERAL = path.join(import.meta.dirname, '../../models/regression/questions.jsonl');

function fileOf(lines: readonly string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-regression-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'questions.jsonl');
  writeFileSync(file, lines.join('\n'));
  return file;
}
const line = (at: number, check: unknown = { kind: 'exact', answer: 'yes' }): string =>
  JSON.stringify({ id: `q${at}`, prompt: `Question ${at}?`, check });
const lines = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => line(at));
const said = (text: string, ...calls: readonly (readonly [string, unknown])[]) => ({
  text,
  calls: calls.map(([name, given], at) => ({
    ...({ type: 'tool-call', id: `c${at}`, name } as const),
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  })),
});

describe('a regression suite', () => {
  it.each([
    ['for language models', GENERAL, 400, ['choice', 'exact', 'number', 'regex', 'tool']],
    ['of the embedded policy', NANO_QUESTIONS, 120, ['choice', 'tool']],
  ])('%s ships, is whole, and has enough questions', async (_, file, fewest, kinds) => {
    const questions = await readRegressionSuite(file);
    expect(questions.length).toBeGreaterThanOrEqual(fewest);
    expect([...new Set(questions.map(({ check }) => check.kind))].toSorted()).toEqual(kinds);
    for (const { check, tools } of questions)
      if (check.kind === 'tool') expect(tools.map(({ name }) => name)).toContain(check.name);
  });

  it('of the user is read, and blank lines do not matter', async () => {
    expect(await readRegressionSuite(fileOf([...lines(FEWEST_QUESTIONS), '', '']))).toHaveLength(
      FEWEST_QUESTIONS,
    );
  });

  it.each([
    ['no JSON', [...lines(40), '{"id":'], 'line 41: id and prompt must be texts'],
    ['an unknown check', [line(0, { kind: 'feeling' })], 'line 1: check must be exact, number'],
    [
      'a broken pattern',
      [line(0, { kind: 'regex', pattern: '(' })],
      'line 1: check.pattern is no regular expression',
    ],
    ['one id twice', [...lines(40), line(3)], 'two questions have the same id'],
    ['too few questions', lines(12), `it has 12 questions, and fewer than ${FEWEST_QUESTIONS} show nothing`],
  ])('with %s is refused, and the message names the file', async (_, content, why) => {
    const file = fileOf(content);
    const read = readRegressionSuite(file);
    await expect(read).rejects.toThrow(TrainingError);
    await expect(read).rejects.toThrow(why);
    await expect(read).rejects.toThrow(file);
  });

  it('that is not there is refused by its name', async () => {
    await expect(readRegressionSuite('/no/such/file.jsonl')).rejects.toThrow(
      'The regression suite /no/such/file.jsonl cannot be used: there is no such file',
    );
  });
});

describe('a reply', () => {
  const number: QuestionCheck = { kind: 'number', answer: 1391, tolerance: 0.5 };
  const choice: QuestionCheck = { kind: 'choice', letters: 'CA' };
  const call: QuestionCheck = { kind: 'tool', name: 'set_timer', arguments: { minutes: 12, name: 'tea' } };
  const right: readonly (readonly [QuestionCheck, ReturnType<typeof said>])[] = [
    [{ kind: 'exact', answer: 'Paris' }, said(' "paris". ')],
    [{ kind: 'exact', answer: 'Paris' }, said('Let me think.\nParis')],
    [number, said('That is 17 times 23 plus 1000, so 1,391.')],
    [number, said('1391.4')],
    [{ kind: 'regex', pattern: '^## notes$' }, said('## Notes')],
    [choice, said('Both hold: \\boxed{A, C}')],
    [choice, said('\\bbox{C,A}')],
    [choice, said('The answers are A and C.')],
    [choice, said('A, C')],
    [call, said('', ['set_timer', { name: 'Tea', minutes: 12, sound: true }])],
  ];
  const wrong: readonly (readonly [QuestionCheck, ReturnType<typeof said>])[] = [
    [{ kind: 'exact', answer: 'Paris' }, said('Paris is nice')],
    [number, said('1391 or 2000')],
    [number, said('I do not know')],
    [{ kind: 'regex', pattern: '^## notes$' }, said('# Notes')],
    [choice, said('\\boxed{A}')],
    [choice, said('\\boxed{A,B,C}')],
    [choice, said('A car and a cat')],
    [choice, said('')],
    [call, said('set_timer(12)')],
    [call, said('', ['set_timer', { minutes: 21, name: 'tea' }])],
    [call, said('', ['set_timer', '{"minutes": 12,'])],
    [call, said('', ['other', { minutes: 12, name: 'tea' }])],
  ];
  it.each(right)('passes %j with %j', (check, reply) => expect(gradeReply(check, reply)).toBe(1));
  it.each(wrong)('fails %j with %j', (check, reply) => expect(gradeReply(check, reply)).toBe(0));
});
