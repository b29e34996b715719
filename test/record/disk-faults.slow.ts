import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { ROUTES, requestBody, wholeReply } from '../support/samples.ts';

/** `DISK_FAULTS=all npx vitest run test/record/disk-faults` tries every write; otherwise a few of them. */
const ALL = process.env.DISK_FAULTS === 'all';
const hasStrace = spawnSync('strace', ['-V']).status === 0;
const USUAL = ['pwrite64', 'ENOSPC'];
/** With `npm run test:durability`. */
const MORE = [
  ['pwrite64', 'EIO'],
  ['fsync', 'EIO'],
];
/** Far more writes than the scenario makes; the loop ends at the first that is not reached. A few: one at the start, one later. */
const MOST = ALL ? 400 : 300;

let provider: Provider;
beforeAll(async () => {
  provider = await startProvider((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
});
afterAll(() => provider.close());

interface Seen {
  readonly served: number;
  readonly feedback: readonly string[];
  readonly kept: readonly string[];
  readonly lost: readonly string[];
  readonly injected: boolean;
  /** The daemon did not start, and said what to do. */
  readonly refused?: true;
}

/** Ten turns and three feedbacks while one system call of the store fails; then a check of the store. */
async function live(call: string, error: string, when: number): Promise<Seen> {
  const home = makeHome({ providers: { fake: { wire: 'openai', baseUrl: `${provider.url}/v1` } } });
  const log = `${home.dir}/../strace.log`;
  const inject = `inject=${call}:error=${error}:when=${when}`;
  const wrap = ['strace', '-f', '-qq', '--seccomp-bpf', '-o', log, '-e', `trace=${call}`, '-e', inject];
  const daemon = await startDaemon(home.dir, wrap).catch((refusal: Error) => refusal);
  if (daemon instanceof Error) {
    // It said what to do, or it serves from a folder that it made for this run.
    expect(daemon.message).toMatch(/free some disk space|"keyPlace":"[^"]*instar-scratch-/);
    // The remains of a failed start do not hinder the next one.
    const second = await startDaemon(home.dir);
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
    home.remove();
    return { served: 10, feedback: [], kept: [], lost: [], injected: true, refused: true };
  }
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  let served = 0;
  const feedback: string[] = [];
  for (let n = 0; n < 10; n++) {
    const body = requestBody('openai-chat', false, `question ${randomUUID()}`);
    const answer = await ask(daemon.port, {
      path: ROUTES['openai-chat'],
      body,
      headers: { 'x-instar-key': daemon.key, 'x-instar-session': 's' },
    });
    if (answer.status === 200) served++;
    if (n % 3 !== 2) continue;
    const turn = answer.headers['x-instar-turn'];
    // While the disk fails, a reply names no turn: nobody can rate it.
    if (turn === undefined) continue;
    const key = randomUUID();
    const given = { turn: String(turn), score: 1, note: key };
    const give = () => ask(daemon.port, { path: '/v1/feedback', body: JSON.stringify(given), headers });
    let { status } = await give();
    // 404 until the turn is recorded, which may take a while on a slow machine.
    for (const until = performance.now() + 20_000; status === 404 && performance.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      ({ status } = await give());
    }
    if (status === 200) feedback.push(key);
    else expect([404, 503]).toContain(status);
  }
  spawnSync('pkill', ['-TERM', '-P', String(daemon.child.pid)]);
  await daemon.exited;
  const injected = spawnSync('grep', ['-c', 'INJECTED', log]).stdout.toString().trim() !== '0';
  const reader = openSqliteReader(`${home.dir}/instar.sqlite`);
  const turns = reader.turns('s').map(({ status }) => status ?? 'open');
  const notes = new Set(
    reader.facts(0, 1000).flatMap(({ fact }) => (fact.type === 'reward-given' ? [fact.note] : [])),
  );
  expect(reader.check()).toEqual([]);
  reader.close();
  home.remove();
  return { served, feedback, kept: turns, lost: feedback.filter((key) => !notes.has(key)), injected };
}

describe.skipIf(!hasStrace)('a disk that fails at the nth write (needs strace)', () => {
  it.each(ALL ? [...MORE, USUAL] : [USUAL])(
    'serves all turns, loses nothing acknowledged and continues to record after %s fails with %s',
    async (call = '', error = '') => {
      let points = 0;
      let acknowledged = 0;
      for (let when = ALL ? 1 : 7; when < MOST; when += ALL ? 1 : call === 'fsync' ? 14 : 150) {
        const seen = await live(call, error, when);
        if (!seen.injected) break;
        points++;
        acknowledged += seen.feedback.length;
        expect({ when, served: seen.served, lost: seen.lost }).toEqual({ when, served: 10, lost: [] });
        if (!seen.refused) expect(seen.kept).toEqual(Array.from({ length: 10 }, () => 'complete'));
      }
      expect(points).toBeGreaterThan(0);
      expect(acknowledged).toBeGreaterThan(0);
      process.stderr.write(`${call} ${error}: ${points} points, ${acknowledged} acknowledged\n`);
    },
    7_200_000,
  );
});
