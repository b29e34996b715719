import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { runCli } from '../cli/run-cli.ts';
import { ask, askOwner } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 25_000, interval: 50 };
const KEYS = { TEACHER_KEY: 'k-teacher-000000' };
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
/** What the learning model was asked. */
const asked: string[] = [];

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const body = JSON.parse(request.body.toString());
    if (body.model === 'teacher') asked.push(request.body.toString());
    const content = body.model === 'teacher' ? '[]' : 'I wrote the report.';
    const head = { id: 'x', created: 1, model: 'm' };
    const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] };
    const part = { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] };
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' });
    response.end(
      body.stream
        ? `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...part, usage })}\n\ndata: [DONE]\n\n`
        : JSON.stringify({ ...head, object: 'chat.completion', ...whole, usage }),
    );
  });
  const entry = { wire: 'openai-chat', baseUrl: `${provider.url}/v1` };
  home = makeHome({
    providers: {
      own: { ...entry, keyEnv: 'TEACHER_KEY', price: { teacher: { input: 10, output: 20 } } },
      elsewhere: { ...entry, keyEnv: 'TEACHER_KEY', price: { input: 1, output: 2 } },
    },
    // Nobody names a model for learning: the default writes lessons.
    models: { default: 'own/teacher' },
    learn: { failures: 3, budget: { usdPerDay: 0.5 } },
  });
  daemon = await startDaemon(home.dir, [], KEYS);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
  askOwner(daemon, method, path, body);
const learning = async () => asObject((await owner('GET', '/api/status')).learning);
/** The cycles that ended, once a cycle of the distiller has learned from all of these turns. */
const cyclesWith = (turns: readonly string[]) =>
  vi.waitFor(() => {
    const reader = openSqliteReader(`${home.dir}/instar.sqlite`);
    try {
      const cycles = reader
        .factsOf('cycle-end', 0, 100)
        .flatMap(({ fact }) => (fact.type === 'cycle-end' ? [fact] : []));
      const learned = cycles.flatMap((cycle) => (cycle.learner === 'distiller' ? cycle.turns : []));
      expect(learned).toEqual(expect.arrayContaining([...turns]));
      return cycles;
    } finally {
      reader.close();
    }
  }, SOON);

/** Three turns that a person marks as wrong, each with a word of its own. */
async function fail(agent: string, model: string, word: string): Promise<readonly string[]> {
  const turns: string[] = [];
  for (let nth = 0; nth < 3; nth++) {
    const messages = [{ role: 'user', content: `Write the ${word} amounts of week ${nth} into report.md` }];
    const headers = {
      'x-instar-key': daemon.key,
      'x-instar-session': `${agent}-${nth}`,
      'x-instar-agent': agent,
    };
    const body = JSON.stringify({ model, messages });
    const { headers: head } = await ask(daemon.port, { path: '/v1/chat/completions', body, headers });
    const turn = String(head['x-instar-turn']);
    await vi.waitFor(
      async () => expect((await owner('GET', `/api/turns/${turn}/why`)).turn).toBe(turn),
      SOON,
    );
    await owner('POST', '/v1/feedback', { turn, score: -1, note: `The ${word} amounts lack their unit.` });
    turns.push(turn);
  }
  return turns;
}

describe('a daemon whose config names no model for learning', () => {
  it('shows no session to the default model that another provider served', async () => {
    const cycles = await cyclesWith(await fail('eve', 'elsewhere/m', 'walnut'));
    expect(asked).toEqual([]);
    expect(cycles.filter(({ cost }) => cost.calls > 0)).toEqual([]);
  });

  it('shows it the sessions of its own provider', async () => {
    await fail('ann', 'own/m', 'hazelnut');
    await vi.waitFor(() => expect(asked.join()).toContain('hazelnut'), SOON);
    await vi.waitFor(
      async () => expect(asObject((await learning()).appraised)).toMatchObject({ failures: 6 }),
      SOON,
    );
    expect(asked.join()).not.toContain('walnut amounts of week');
  });

  it('says who writes lessons, at most what a day, and what was spent of it', async () => {
    const status = await learning();
    expect(status.writer).toBe(
      'Lessons are written by own/teacher, at most $0.50 a day (models.evolver: "off" ends that). Sessions that another provider served are learned from without a model. No model judges unclear turns (models.judge names one).',
    );
    // 1,000 tokens at $10 and 500 at $20 per million.
    await vi.waitFor(async () => {
      const spent = asObject(asObject((await learning()).cost).learning);
      expect(spent).toMatchObject({ callsToday: asked.length, tokensToday: asked.length * 1500 });
      expect(Number(spent.usdToday)).toBeCloseTo(asked.length * 0.02, 8);
    }, SOON);
    const { stdout } = await runCli(['--home', home.dir, 'status', '--why'], KEYS);
    expect(stdout).toContain('at most $0.50 a day');
  });

  it('counts serving at the same prices, in the status and in the metrics', async () => {
    const serving = asObject(asObject((await learning()).cost).serving);
    // Three turns at $1 and $2 per million; those of own/m are on this machine and cost nothing.
    expect(serving).toMatchObject({ tokens: 9000, unpricedTokens: 0 });
    expect(Number(serving.usd)).toBeCloseTo(3 * 0.002, 8);
    expect(asArray(serving.models).map((one) => asObject(one).model)).toEqual(['elsewhere/m', 'own/m']);
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    const { text } = await ask(daemon.port, { method: 'GET', path: '/metrics', headers });
    expect(text).toMatch(/instar_serving_usd_total\{model="elsewhere\/m"\} 0\.006/);
    expect(text).toContain('instar_serving_tokens_total{model="own/m",price="known"} 4500');
  });

  it('still knows after a kill what it has spent today', async () => {
    const before = asObject(asObject((await learning()).cost).learning);
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    daemon = await startDaemon(home.dir, [], KEYS);
    await vi.waitFor(async () => expect(asObject((await learning()).cost).learning).toBeDefined(), SOON);
    const after = asObject(asObject((await learning()).cost).learning);
    expect(Number(after.usdToday)).toBeGreaterThanOrEqual(Number(before.usdToday));
    expect(Number(before.usdToday)).toBeGreaterThan(0);
  });
});
