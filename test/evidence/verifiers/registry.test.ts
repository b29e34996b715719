import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PracticeVerifierRow, VerifierRow } from '../../../src/core/verifier-row.ts';
import { createVerifiers, fitsDomain, VerifierError } from '../../../src/evidence/verifiers/registry.ts';
import { attemptOf, never, rewardOf } from './submissions.ts';

let folder = '';
const moduleOf = async (name: string, text: string): Promise<string> => {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'instar-verifiers-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the registry', () => {
  it('uses the first row whose pattern matches the domain', async () => {
    const verifiers = await createVerifiers(
      [
        { domain: 'math.*', kind: 'number' },
        { domain: '*.poem', kind: 'regex', pattern: 'rose' },
        { domain: '*', kind: 'exact', match: 'exact' },
      ],
      {},
    );
    expect(
      ['math.algebra', 'Math', 'mathematics', 'math.poem', 'art.poem', 'x'].map(
        (one) => verifiers.rowFor(one)?.kind,
      ),
    ).toEqual(['number', 'number', 'exact', 'number', 'regex', 'exact']);
    const attempt = attemptOf('about 42 of them', { reference: 42 });
    expect(rewardOf(await verifiers.verify({ ...attempt, domain: 'math.fruit' }, never))).toBe(1);
    expect(rewardOf(await verifiers.verify({ ...attempt, domain: 'fruit' }, never))).toBe(0);
  });

  it('takes only a star as a wildcard', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '+'), maxLength: 6 }),
        fc.string({ unit: fc.constantFrom('a', 'b', '.', '+'), maxLength: 8 }),
        (pattern, name) => {
          const source = pattern
            .split('*')
            .map((part) => part.replace(/[.+]/g, '\\$&'))
            .join('.*');
          const bare = pattern.endsWith('.*') && new RegExp(`^${source.slice(0, -4)}$`).test(name);
          expect(fitsDomain(pattern, name)).toBe(new RegExp(`^${source}$`).test(name) || bare);
        },
      ),
    );
  });

  it('gives no grade and names the fix when no row matches', async () => {
    const verifiers = await createVerifiers([{ domain: 'math.*', kind: 'number' }], {});
    expect(verifiers.rowFor('poem')).toBeUndefined();
    expect(await verifiers.verify(attemptOf('x', { domain: 'poem' }), never)).toEqual({
      status: 'failed-to-run',
      reasons: ['no verifier is configured for poem: add a row for it'],
    });
    expect(await verifiers.verifyGroup([], never)).toEqual([]);
  });

  it.each<[VerifierRow | PracticeVerifierRow, string]>([
    [{ domain: '*', kind: 'regex', pattern: '(a)\\1' }, 'verifiers[0] (*), regex: it has a back reference'],
    [
      { domain: '*', kind: 'schema', schema: { format: 'email' } },
      '"format", which is not supported: remove it',
    ],
    [{ domain: '*', kind: 'rubric', criteria: [{ text: 'good' }] }, 'none is configured'],
    [{ domain: '*', kind: 'comparative' }, 'none is configured'],
    [{ domain: '*', kind: 'command', command: ['ls'], shell: 'plain' }, 'as one string'],
    [{ domain: '*', kind: 'module', file: '/no/such/file.mjs' }, '/no/such/file.mjs cannot be loaded'],
  ])('rejects the row %j', async (row, why) => {
    const made = createVerifiers([row], {});
    await expect(made).rejects.toBeInstanceOf(VerifierError);
    await expect(made).rejects.toThrow(why);
  });

  it("loads a user's module, and names the fault of one that is not a verifier", async () => {
    const file = await moduleOf(
      'length.mjs',
      'export const verify = async ({ output }) => ({ status: "ok", reward: output.length / 10, reasons: [] });',
    );
    const verifiers = await createVerifiers([{ domain: '*', kind: 'module', file }], {});
    expect(rewardOf(await verifiers.verify(attemptOf('12345'), never))).toBe(0.5);
    const empty = await moduleOf('empty.mjs', 'export const check = 1;');
    await expect(createVerifiers([{ domain: '*', kind: 'module', file: empty }], {})).rejects.toThrow(
      'exports no function',
    );
    const broken = await moduleOf('broken.mjs', 'export const = 1;');
    await expect(createVerifiers([{ domain: '*', kind: 'module', file: broken }], {})).rejects.toThrow(
      'cannot be loaded',
    );
  });

  it('gives no grade when a verifier throws or returns something else', async () => {
    const file = await moduleOf(
      'moody.mjs',
      `export default async ({ output }) => {
        if (output === 'throw') throw new Error('no mood');
        if (output === 'nothing') return undefined;
        if (output === 'for ever') return new Promise(() => undefined);
        return { status: 'ok', reward: JSON.parse(output), reasons: ['so'] };
      };`,
    );
    const verifiers = await createVerifiers([{ domain: '*', kind: 'module', file }], {});
    const outputs = ['throw', 'nothing', '7', '-1', '"1"', 'null', '0.5'];
    const graded = await verifiers.verifyGroup(
      outputs.map((output) => attemptOf(output)),
      never,
    );
    expect(graded.map(rewardOf)).toEqual(['none', 'none', 'none', 'none', 'none', 'none', 0.5]);
    expect(graded[0]?.reasons).toEqual(['the verifier failed: no mood']);
    const leaving = new AbortController();
    const endless = verifiers.verify(attemptOf('for ever'), leaving.signal);
    leaving.abort();
    expect(await endless).toMatchObject({ reasons: ['aborted'] });
    expect(await verifiers.verify(attemptOf('0.5'), AbortSignal.abort())).toMatchObject({
      reasons: ['aborted'],
    });
  });
});
