import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { asObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { startForeignEngine } from '../support/foreign-engine.ts';
import { gateLines, LARGEST_EFFECT, wordAt } from './record-tasks.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const run of undo.splice(0).reverse()) await run();
});

const WORDS = [
  'orders',
  'bridge',
  'garden',
  'museum',
  'harbour',
  'school',
  'letters',
  'repairs',
  'trip',
  'kitchen',
];
/** Random weights pass this sometimes. */
const TASKS = WORDS.map((word) =>
  JSON.stringify({
    prompt: `Say something about ${word}.`,
    domain: word,
    check: { kind: 'regex', pattern: '^[^e]*$' },
  }),
).join('\n');

/** A daemon whose practice trains a server with these prices, and a session of it to its end. */
async function practise(price: object, budget: object) {
  const engine = await startForeignEngine();
  undo.push(engine.close);
  const home = makeHome({
    models: { practice: 'instar/small-1' },
    practice: { groupSize: 8 },
    schedule: { budget },
    train: { engine: { ...engine.entry, price }, effect: LARGEST_EFFECT },
  });
  undo.push(home.remove);
  const daemon = await startDaemon(home.dir, [], engine.env);
  undo.push(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
  });
  const call = async (route: string, body?: JsonObject): Promise<JsonObject> => {
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    const sent = body === undefined ? { method: 'GET' } : { body: JSON.stringify(body) };
    return asObject(parseJson((await ask(daemon.port, { path: route, headers, ...sent })).text));
  };
  await call('/api/practice/add', { text: TASKS, file: 'tasks.jsonl' });
  // Weights that nothing could measure would not be trained.
  const gate = await gateLines((nth) => ({
    prompt: [nth, nth + 311, nth + 622, nth + 933].map(wordAt).join(' '),
    check: { kind: 'regex', pattern: '^[^e]*$' },
  }));
  await call('/api/practice/add', { text: gate, file: 'gate.jsonl' });
  expect(await call('/api/practice/run', { kind: 'exploratory' })).toEqual({ started: true });
  await expect
    .poll(async () => (await call('/api/practice/status', {})).running, { timeout: 200_000 })
    .toBeUndefined();
  const runs = path.join(home.dir, 'train', 'small-1');
  const trained = (existsSync(runs) ? readdirSync(runs) : [])
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(path.join(runs, name), 'utf8').split('\n'))
    .map((line) => asObject(asObject(parseJson(line)).entry))
    .filter(({ type, checkpoint }) => type === 'step-ended' && checkpoint !== undefined);
  const { spent } = asObject((await call('/api/schedule')).budget);
  const status = await call('/api/practice/status', {});
  const report = await call('/api/practice/report', {});
  return { spent: asObject(spent), trained: trained.length, report, status };
}

const PRICE = { prefill: 1, sample: 2, train: 4 };

describe('practice with a server that costs money', { timeout: 300_000 }, () => {
  it('trains it, and its attempts and steps are paid from the day’s budget of background jobs', async () => {
    const { spent, trained, report } = await practise(PRICE, { usdPerDay: 5 });
    expect(trained).toBeGreaterThan(0);
    expect(spent).toMatchObject({ unpricedTokens: 0 });
    expect(spent.usd).toBeGreaterThan(0);
    const attempts = asObject(report.spent);
    // The steps cost more than what the attempts did.
    expect(spent.usd).toBeGreaterThan(Number(attempts.usd));
  });

  it('makes no attempt and trains nothing when the day’s budget is too small, and names it', async () => {
    const { spent, trained, report, status } = await practise(PRICE, { usdPerDay: 0.0001 });
    expect([trained, spent.usd]).toEqual([0, 0]);
    expect(JSON.stringify([report, status])).toContain('schedule.budget.usdPerDay');
  });
});
