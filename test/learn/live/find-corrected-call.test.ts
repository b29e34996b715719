import { describe, expect, it } from 'vitest';
import type { ToolAttempt } from '../../../src/learn/live/live-material.ts';
import { add, text } from '../../lessons/library/samples.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { libraryWith } from '../evolver/samples.ts';
import { learn, scope, session, tries } from './samples.ts';

const bash = (command: string): string => JSON.stringify({ command });

const pair = (wrong: string, right: string, tool = 'bash'): readonly ToolAttempt[] => [
  { turn: 't1', tool, input: wrong, isOk: false },
  { turn: 't2', tool, input: right, isOk: true },
];

const contentOf = async (found: readonly ToolAttempt[]): Promise<string | undefined> =>
  (await learn(session({ tries: found }))).proposals.map((one) => proposedText(one).content)[0];

describe('learning from a session without a model', () => {
  it('notes which call failed, with which error, and which one worked', async () => {
    const { proposals, stuck } = await learn(session());
    expect(stuck).toEqual([]);
    expect(proposals).toHaveLength(1);
    expect(proposals[0]?.change).toMatchObject({
      op: 'add',
      kind: 'experience',
      state: 'proposed',
      text: {
        name: 'when-npm-test-fails',
        description: 'When you are about to try `npm test`, or it fails with `npm ERR! missing script`.',
        content:
          '`npm test` failed with `npm ERR! missing script`; `cd web && npm test` worked.\n\nWhat changed: `cd web &&` was added.',
        scope,
        evidence: { turns: ['t1', 't2'], learner: 'live' },
        note: { source: 'experience' },
      },
    });
    expect(proposals[0]?.quotes).toEqual([
      { turn: 't1', text: '{"command":"npm test"}' },
      { turn: 't2', text: '{"command":"cd web && npm test"}' },
    ]);
  });

  it.each([
    [bash('python x.py'), bash('python3 x.py'), '`python3` in place of `python`'],
    [bash('pytest'), bash('python -m pytest'), '`python -m` was added'],
    [bash('npm test'), bash('pnpm test'), '`pnpm` in place of `npm`'],
    [bash('npm test'), bash('npm run test:unit'), '`run test:unit` in place of `test`'],
    [bash('git push'), bash('git push -u origin main'), '`-u origin main` was added'],
    [bash('docker build --squash -t app .'), bash('docker build -t app .'), '`--squash` was left out'],
    [bash('NODE_ENV=test npm run e2e'), bash('CI=1 npm run e2e'), '`CI=1` in place of `NODE_ENV=test`'],
    ['{"cmd":["make","all"]}', '{"cmd":["make","build","all"]}', '`build` was added'],
    ['make deploy', 'make deploy ENV=dev', '`ENV=dev` was added'],
    [
      '{"table":"orders","format":"xlsx"}',
      '{"table":"orders","format":"csv"}',
      '`format`: `"csv"` in place of `"xlsx"`',
    ],
    ['{"table":"orders"}', '{"table":"orders","limit":10}', '`limit`: `10` was added'],
  ])('sees what changed between %s and %s', async (wrong, right, changed) => {
    expect(await contentOf(pair(wrong, right))).toMatch(`worked.\n\nWhat changed: ${changed}.`);
  });

  it.each([
    ['two verbs of one program', bash('git push'), bash('git status')],
    ['two verbs with the same operands', bash('git push origin main'), bash('git pull origin main')],
    ['two programs', bash('npm test'), bash('ls -la')],
    ['looking elsewhere', bash('cat src/a.ts'), bash('cat src/b.ts')],
    ['the same call', bash('npm test'), bash('npm  test')],
    [
      'other work with the same tool',
      '{"table":"orders","format":"csv"}',
      '{"table":"users","format":"pdf"}',
    ],
    ['scripts of several lines', bash('set -e\nnpm test'), bash('set -e\nnpm test --ci')],
    [
      'calls that are too long to tell',
      bash(`npm test ${'x'.repeat(200)}`),
      bash(`npm test ${'x'.repeat(201)}`),
    ],
    ['nothing at all', '', ' '],
  ])('learns nothing from %s', async (_what, wrong, right) => {
    expect(await contentOf(pair(wrong, right))).toBeUndefined();
  });

  it('learns nothing from a read-only tool', async () => {
    const found = pair('{"path":"a","limit":1}', '{"path":"a","limit":2}', 'readFile');
    expect(await contentOf(found)).toBeUndefined();
  });

  it('learns nothing when the same call succeeded later', async () => {
    expect(await contentOf([...tries, { ...tries[0], isOk: true } as ToolAttempt])).toBeUndefined();
  });

  it('learns nothing when the successful call came earlier, or in a turn that failed as well', async () => {
    expect(await contentOf(tries.toReversed())).toBeUndefined();
    const [wrong, right] = tries as [ToolAttempt, ToolAttempt];
    expect(
      await contentOf([
        { ...wrong, turn: 't9' },
        { ...right, turn: 't1' },
      ]),
    ).toBeUndefined();
  });

  it('takes the most similar pair', async () => {
    const [wrong] = tries as [ToolAttempt];
    const far = { ...wrong, turn: 't2', input: bash('npm --prefix web run test --silent'), isOk: true };
    const near = { ...wrong, turn: 't2', input: bash('npm test --ci'), isOk: true };
    expect(await contentOf([wrong, far, near])).toContain('`npm test --ci` worked');
  });

  it('takes an attempt that an agent reported itself, within one turn', async () => {
    const report = (input: string, isOk: boolean): ToolAttempt => ({
      turn: 't1',
      tool: 'attempt',
      input,
      isOk,
    });
    const found = [report('upload as one file', false), report('upload as one zip file', true)];
    expect(await contentOf(found)).toContain('`upload as one zip file` worked');
  });

  it('does not repeat a lesson that the library has or that a person rejected', async () => {
    const content = await contentOf(tries);
    const known = text({ name: 'known', content: content ?? '' });
    for (const move of [[], [{ op: 'move', id: 'a', to: 'rejected' } as const]]) {
      const library = await libraryWith(add('a', { state: 'proposed', text: known }), ...move);
      const { proposals, journal } = await learn(session(), { library });
      expect(proposals).toEqual([]);
      expect(journal).toEqual(['already known or rejected: when-npm-test-fails']);
    }
  });

  it('learns nothing without recorded calls', async () => {
    const { tries: _none, ...material } = session();
    expect(await learn(material)).toEqual({ proposals: [], stuck: [], journal: [] });
  });
});
