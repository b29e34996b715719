import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { createExchange } from '../../../src/models/exchange.ts';
import { createHttpModel } from '../../../src/models/http-model.ts';
import { createInProcessAttempts } from '../../../src/models/in-process-client.ts';
import { wires } from '../../../src/wire/wires.ts';
import { startProvider } from '../../support/provider.ts';
import { attemptsWith, orderOf, scriptOf } from './orders.ts';

const outside = mkdtempSync(path.join(tmpdir(), 'outside-'));
/** A place of its own: other tests make folders at the same time. */
const usual = process.env.TMPDIR;
const own = mkdtempSync(path.join(tmpdir(), 'cancel-'));
process.env.TMPDIR = own;
afterAll(() => {
  if (usual === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usual;
  for (const folder of [outside, own]) rmSync(folder, { recursive: true, force: true });
});

/** Processes of this machine whose command line has the mark. */
const alive = (mark: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    });
const folders = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => /^instar-(?:workspace|client)-/.test(name));

/** Ignores polite signals, leaves its session, has children of its own, and tries to write where it must not. */
const stubborn = (mark: string): string =>
  `trap '' TERM INT HUP; echo begun > begun; echo x > ${outside}/written; echo x > /usr/written
   setsid sh -c "trap '' TERM; sleep ${mark} & sleep ${mark}" & sh -c "sleep ${mark}" & sleep ${mark}`;

describe('an attempt that is stopped', () => {
  it('leaves no process and no folder, though its commands ignore signals and have left their session', async () => {
    const mark = '98761.5';
    const before = folders();
    const { make, folders: made } = attemptsWith(scriptOf({ commands: [stubborn(mark)] }));
    const leaving = new AbortController();
    const attempt = make(orderOf({ workspace: { kind: 'files', files: { 'a.txt': 'a' } } }), leaving.signal);
    await expect.poll(() => alive(mark).length).toBeGreaterThanOrEqual(3);
    leaving.abort();
    expect((await attempt).outcome).toMatchObject({
      is: 'infrastructure',
      why: expect.stringMatching(/stopped/),
    });
    expect(alive(mark)).toEqual([]);
    await made.close();
    expect(folders()).toEqual(before);
    expect(existsSync(path.join(outside, 'written')) || existsSync('/usr/written')).toBe(false);
  });

  it.concurrent('ends when its time is over; what it left is graded (not dropped), with the reason', async () => {
    const mark = '98762.5';
    const { make, folders: made } = attemptsWith(scriptOf({ commands: [stubborn(mark)] }));
    const attempt = await make(
      orderOf(
        { workspace: { kind: 'files', files: {} }, check: { kind: 'command', command: 'test -e begun' } },
        { timeoutMs: 2500 },
      ),
      new AbortController().signal,
    );
    expect(attempt.outcome).toMatchObject({ is: 'graded', reward: 1 });
    expect(JSON.stringify(attempt.outcome)).toContain('time ran out');
    expect(alive(mark)).toEqual([]);
    await made.close();
  });

  it.concurrent('is an infrastructure error when the time went by in a call to its model, and the connection is closed', async () => {
    const provider = await startProvider(() => undefined);
    const pool = createExchange({
      timeouts: { connectMs: 5_000, headersMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
    });
    const open = createInProcessAttempts({
      name: 'p/m',
      model: 'm',
      chat: createHttpModel({
        exchange: pool.exchange,
        wire: wires['openai-chat'],
        upstream: { origin: provider.url, basePath: '/v1', wire: 'openai-chat' },
        access: { kind: 'open' },
        clock: systemClock,
      }),
    });
    const agents = new Map([['own', { kind: 'model' as const, open }]]);
    const { make } = attemptsWith(scriptOf(''), { agents });
    const order = orderOf({ check: { kind: 'number', expected: 42 } }, { timeoutMs: 1500 });
    const attempt = await make(order, new AbortController().signal);
    expect(attempt.outcome).toMatchObject({ is: 'infrastructure' });
    expect(JSON.stringify(attempt.outcome)).toContain('had not answered');
    await provider.seen[0]?.abandoned;
    await provider.close();
    await pool.close();
  });
});

describe.concurrent('a model', () => {
  it('that is opened too late is closed, and its attempt ends with its time (not with the model)', async () => {
    let closed = 0;
    let finishOpening = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      finishOpening = resolve;
    });
    const open = async () => {
      await opened;
      return { name: 'late', model: 'm', speak: scriptOf('42'), close: async () => void closed++ };
    };
    const { make } = attemptsWith(scriptOf(''), { agents: new Map([['own', { kind: 'model', open }]]) });
    const { outcome, by } = await make(orderOf({}, { timeoutMs: 1000 }), new AbortController().signal);
    expect(outcome).toMatchObject({ is: 'infrastructure', why: expect.stringContaining('not ready') });
    expect([by, closed]).toEqual(['own', 0]);
    finishOpening();
    await expect.poll(() => closed).toBe(1);
  });

  it('that does not stop is not waited for', async () => {
    const { make } = attemptsWith(() => new Promise<never>(() => undefined), { settleMs: 100 });
    const { outcome } = await make(orderOf({}, { timeoutMs: 1000 }), new AbortController().signal);
    expect(outcome).toMatchObject({ is: 'infrastructure', why: expect.stringContaining('had not answered') });
  });
});

describe('a grade', () => {
  it('is refused when the verifier fails, takes too long, or gives a number that is no grade', async () => {
    const outcomeOf = async (verify: Parameters<typeof attemptsWith>[1]) => {
      const { make } = attemptsWith(scriptOf('42'), verify);
      return (await make(orderOf({ check: { kind: 'number', expected: 42 } }), new AbortController().signal))
        .outcome;
    };
    const broken = { verify: async () => ({ status: 'failed-to-run' as const, reasons: ['no disk'] }) };
    expect(await outcomeOf(broken)).toMatchObject({
      is: 'infrastructure',
      why: expect.stringMatching(/no disk/),
    });
    const slow = { verify: () => new Promise<never>(() => undefined), verifyMs: 1000 };
    expect(await outcomeOf(slow)).toMatchObject({
      is: 'infrastructure',
      why: expect.stringMatching(/longer than 1 s/),
    });
    const wrong = { verify: async () => ({ status: 'ok' as const, reward: Number.NaN, reasons: [] }) };
    expect(await outcomeOf(wrong)).toMatchObject({ is: 'infrastructure' });
  });

  it('has the scores of steps when there is one for each step (not when they are fewer)', async () => {
    const scores = async (give: (steps: number) => readonly number[]) => {
      const { make } = attemptsWith(scriptOf('42'), {
        verify: async (_, { steps = [] }) => ({
          status: 'ok',
          reward: 0.5,
          reasons: [],
          stepScores: give(steps.length),
        }),
      });
      return (await make(orderOf({ check: { kind: 'number', expected: 42 } }), new AbortController().signal))
        .outcome;
    };
    expect(await scores((steps) => Array(steps).fill(0.5))).toMatchObject({ stepScores: [0.5, 0.5] });
    expect(await scores(() => [1])).not.toHaveProperty('stepScores');
  });

  it('sees the check that the attempt could not see', async () => {
    const checks = mkdtempSync(path.join(tmpdir(), 'checks-'));
    const { make, folders: made } = attemptsWith(
      scriptOf({ commands: [`ls ${checks} > seen 2>&1; echo 42 > answer\ndone`] }),
    );
    chmodSync(checks, 0o755);
    writeFileSync(path.join(checks, 'check.sh'), 'test "$(cat answer)" = 42 && grep -q "No such" seen\n');
    const order = orderOf({
      workspace: { kind: 'files', files: {} },
      check: { kind: 'command', command: 'sh "$CHECKS/check.sh"', checks },
    });
    const attempt = await make(order, new AbortController().signal);
    expect(attempt.outcome).toMatchObject({ is: 'graded', reward: 1 });
    await made.close();
    rmSync(checks, { recursive: true });
  });
});
