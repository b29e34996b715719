import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallerKey } from '../../src/config/caller-keys.ts';
import { openHome } from '../../src/config/home.ts';
import { callerOfKey } from '../../src/config/valid-keys.ts';
import { sessionIdFor } from '../../src/core/caller.ts';
import { compact } from '../../src/core/json.ts';
import type { StageOutcome } from '../../src/pipeline/stage-outcome.ts';
import { createHttpReport, createMemoryReport, type ReportProblem } from '../../src/pipeline/stage-report.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { closedPort, type Provider, startProvider } from '../support/provider.ts';
import { ROUTES, requestBody, wholeReply } from '../support/samples.ts';
import { describeReport, type Kept } from './report-contract.ts';

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let key: string;
/** The record's id of a session that the pipeline names. */
let idOf: (session: string) => string;
const problems: ReportProblem[] = [];

beforeAll(async () => {
  provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  home = makeHome({ providers: { fake: { wire: 'openai', baseUrl: `${provider.url}/v1` } } });
  const made = createCallerKey(openHome(home.dir), { name: 'lab', mayRate: true, at: 0 });
  key = made.key;
  idOf = (session) => sessionIdFor(callerOfKey(made.entry), session);
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const overHttp = () =>
  createHttpReport({
    url: `http://127.0.0.1:${daemon.port}/`,
    key,
    onProblem: (problem) => problems.push(problem),
  });

describeReport('memory', () => {
  const memory = createMemoryReport();
  let turns = 0;
  return {
    report: memory.report,
    turnIn: async () => `turn-${++turns}`,
    kept: (session, turnIds) => ({
      statuses: memory
        .outcomes()
        .filter((one) => one.session === session)
        .map(({ status }) => status),
      verdicts: memory
        .verdicts()
        .filter(({ turn, session: of }) => of === session || turnIds.includes(turn ?? ''))
        .map(({ turn, session: of, source, score, note }) =>
          compact({
            of: turn ?? of ?? '',
            source: source === 'agent' ? ('agent' as const) : ('person' as const),
            score,
            note,
          }),
        ) as Kept['verdicts'],
    }),
  };
});

describeReport('a gateway over HTTP', () => ({
  report: overHttp(),
  turnIn: async (session) => {
    const headers = { 'x-instar-key': key, 'x-instar-session': session, 'x-instar-agent': 'lab' };
    const answer = await ask(daemon.port, {
      path: ROUTES['openai-chat'],
      body: requestBody('openai-chat', false, 'plan'),
      headers,
    });
    return String(answer.headers['x-instar-turn']);
  },
  // Reads the store directly: an acknowledged report must be on the disk.
  kept: (session, turns) => {
    const reader = openSqliteReader(`${home.dir}/instar.sqlite`);
    try {
      const events = reader
        .events(idOf(session))
        .flatMap(({ fact }) => (fact.type === 'event-reported' ? [fact] : []));
      expect(
        events.every(
          ({ kind, agent, runKind }) =>
            kind === 'pipeline_stage' && agent === 'lab' && runKind === 'pipeline',
        ),
      ).toBe(true);
      const subjects = [
        ...turns.map((turn) => ({ of: turn, query: { turn } })),
        { of: session, query: { session: idOf(session) } },
      ];
      const verdicts = subjects.flatMap(({ of, query }) =>
        reader.rewards(query).map(({ source, score, note }) => compact({ of, source, score, note })),
      );
      return {
        statuses: events.map(({ data }) => String(data.status)),
        verdicts: verdicts as Kept['verdicts'],
      };
    } finally {
      reader.close();
    }
  },
}));

const FAILED: StageOutcome = {
  pipeline: 'paper',
  run: 'r1',
  agent: 'lab',
  stage: 'plan',
  attempt: 1,
  status: 'failed',
  failures: [{ cause: 'work', reason: 'Name the seeds.', turn: 't1' }],
  refines: [],
  warnings: [],
  durationMs: 12.4,
  session: 'paper:r1:plan:1',
  turns: ['t1'],
};
const QUICK = { retry: { retries: 2, baseMs: 1, longestMs: 50 }, wait: async () => undefined };

describe('a report over HTTP', () => {
  it('has no problem with a running gateway', () => {
    expect(problems).toEqual([]);
  });

  it('reports an unreachable gateway as a problem (and does not throw into the stage)', async () => {
    const told: ReportProblem[] = [];
    const url = `http://127.0.0.1:${await closedPort()}`;
    await createHttpReport({ url, key: 'k', onProblem: (problem) => told.push(problem), ...QUICK })(FAILED);
    expect(told.map(({ path, failure }) => [path, failure.kind])).toEqual([
      ['/v1/events', 'unreachable'],
      ['/v1/feedback', 'unreachable'],
    ]);
  });

  it('does not retry a wrong key', async () => {
    const told: ReportProblem[] = [];
    let waits = 0;
    const url = `http://127.0.0.1:${daemon.port}`;
    await createHttpReport({
      url,
      key: 'wrong',
      onProblem: (problem) => told.push(problem),
      wait: async () => waits++,
    })(FAILED);
    expect(told.map(({ failure }) => failure.status)).toEqual([401, 401]);
    expect(waits).toBe(0);
  });

  it('retries with the same idempotency key while the gateway is busy or has not recorded the turn yet', async () => {
    const busy = await startProvider((_, response, nth) => {
      const status = nth === 1 ? 503 : nth === 3 ? 404 : 200;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(status === 200 ? '{"ok":true}' : '{"error":{"message":"not now"}}');
    });
    const told: ReportProblem[] = [];
    await createHttpReport({ url: busy.url, key: 'k', onProblem: (problem) => told.push(problem), ...QUICK })(
      FAILED,
    );
    await busy.close();
    expect(told).toEqual([]);
    expect(busy.seen.map(({ url }) => url)).toEqual([
      '/v1/events',
      '/v1/events',
      '/v1/feedback',
      '/v1/feedback',
    ]);
    expect(busy.seen.every(({ headers }) => headers.authorization === 'Bearer k')).toBe(true);
    const keys = busy.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).toBe(keys[3]);
    expect(keys[0]).not.toBe(keys[2]);
    expect(JSON.parse(busy.seen[0]?.body.toString() ?? '')).toMatchObject({
      kind: 'pipeline_stage',
      score: 90,
      pipeline: 'paper',
      run: 'r1',
      stage: 'plan',
      attempt: 1,
      status: 'failed',
      failures: [{ cause: 'work', reason: 'Name the seeds.' }],
    });
  });
});
