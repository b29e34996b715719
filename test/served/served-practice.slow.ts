import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { readCuratedTasks } from '../../src/learn/practice/sources/curated-tasks.ts';
import { splitOf } from '../../src/learn/practice/sources/split.ts';
import { wires } from '../../src/wire/wires.ts';
import { goodReply, stageOf } from '../learn/practice/scripted-practice.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

const wire = wires['openai-chat'];
const RULE = 'Put the currency sign before every amount';
/** Few words in common: near duplicates are one task. */
const REPORTS: Readonly<Record<string, string>> = {
  daily: 'bread and cakes sold in the bakery',
  weekly: 'diesel for the ambulances of the city',
  monthly: 'rent of flats near the harbour',
  yearly: 'salaries of school teachers',
  hourly: 'electricity that the data centre used',
  spring: 'seeds, bulbs and garden tools',
  summer: 'ice cream stands at the beach',
  autumn: 'apples picked by volunteers',
  winter: 'heating oil for the hospital',
  north: 'train tickets across the border',
  south: 'olive oil exports by ship',
  east: 'mobile phone repairs',
  west: 'veterinary bills of a horse farm',
  june: 'wedding flowers and catering',
  july: 'museum entrance fees',
  august: 'camping equipment for scouts',
};
const LINES = Object.entries(REPORTS)
  .map(([name, about]) =>
    JSON.stringify({
      prompt: `Write the ${name} report: ${about}`,
      domain: 'reports',
      check: { kind: 'regex', pattern: 'carries its currency sign' },
    }),
  )
  .join('\n');

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let attempts = 0;
const shown: string[] = [];

const textReply = (text: string): string =>
  JSON.stringify({
    id: 'r',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
    usage: { prompt_tokens: 100, completion_tokens: 20 },
  });

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const chat = wire.decodeRequest(asObject(parseJson(request.body.toString())));
    const system = chat.system.map(({ text }) => text).join('\n');
    const isAttempt = !/^You |JSON/.test(system);
    const words = request.body.toString();
    const root = /Write the (\S+) report/.exec(words)?.[1] ?? 'daily';
    if (isAttempt) {
      attempts++;
      shown.push(system);
    }
    // With the lesson it is right; without, every second time.
    const isRight = system.includes(RULE) || attempts % 2 === 0;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      textReply(
        isAttempt
          ? isRight
            ? `Every amount carries its currency sign, checked line by line for ${root}.`
            : `The amounts of ${root} are listed without a currency sign.`
          : goodReply(stageOf(chat), chat),
      ),
    );
  });
  home = makeHome({
    providers: { lab: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'lab/m', evolver: 'lab/m' },
    practice: { trials: { pairs: 40 } },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const practice = async (what: string, body: JsonObject = {}): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  const answer = await ask(daemon.port, {
    path: `/api/practice/${what}`,
    headers,
    body: JSON.stringify(body),
  });
  return asObject(parseJson(answer.text));
};

describe('practice behind the real daemon', () => {
  it('begins with nothing: no task, no session, and says where tasks come from', async () => {
    expect(await practice('run')).toMatchObject({
      started: false,
      why: expect.stringContaining('practice tasks --add'),
    });
    expect(await practice('status')).toMatchObject({ tasks: { count: 0 } });
    expect(JSON.stringify(await practice('report'))).toContain('no session of practice yet');
  });

  it('attempts the tasks that a person gave, learns what separates good from bad, and keeps it out of the user’s sessions', async () => {
    expect(await practice('add', { text: LINES, file: 'reports.jsonl' })).toMatchObject({
      added: Object.keys(REPORTS).length,
      faults: [],
    });
    const { tasks } = await readCuratedTasks(LINES, 'reports.jsonl');
    const learn = tasks.filter(({ root }) => splitOf(root) === 'learn').length;
    expect(learn).toBeGreaterThan(3);
    const plan = await practice('plan', { kind: 'exploratory' });
    expect(plan).toMatchObject({ tasks: learn, groupSize: 3 });
    // Measuring lessons costs more than learning them: the plan must say so.
    const calls = Object.fromEntries(
      asArray(plan.stages).map((stage) => [asObject(stage).stage, asObject(stage).calls]),
    );
    expect(calls).toMatchObject({ attempt: 3 * learn, trial: expect.any(Number), again: 0 });
    expect(plan.whyNot).toBeUndefined();
    expect(attempts).toBe(0);

    expect(await practice('run', { kind: 'exploratory' })).toEqual({ started: true });
    await vi.waitFor(
      async () => {
        const status = await practice('status');
        expect([status.running, status.problem]).toEqual([undefined, undefined]);
      },
      { timeout: 60_000, interval: 200 },
    );
    const report = await practice('report');
    expect(report).toMatchObject({ end: 'done', kind: 'exploratory' });
    const [from] = asArray((await practice('status')).origins).map(asObject);
    expect(from).toMatchObject({ origin: 'curated', learned: expect.any(Number), pay: 1 });
    expect(Number(from?.tokens)).toBeGreaterThan(0);
    expect(asArray(report.perTask)).toHaveLength(learn);
    const lessons = asArray(report.lessons).map(asObject);
    expect(lessons.length).toBeGreaterThan(0);
    expect(JSON.stringify(report.counts)).toContain('"infrastructure":0');
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    const sessions = await ask(daemon.port, { method: 'GET', path: '/api/sessions', headers });
    expect(parseJson(sessions.text)).toEqual([]);
  }, 90_000);

  it('is refused by name when it is asked for wrongly, and by a caller’s key', async () => {
    expect(JSON.stringify(await practice('run', { kind: 'endless' }))).toContain('kind must be one of');
    expect(JSON.stringify(await practice('work'))).toContain('do must not be work');
    const headers = { authorization: `Bearer ${daemon.key}` };
    const answer = await ask(daemon.port, { path: '/api/practice/run', headers, body: '{}' });
    expect(answer.status).toBe(403);
  });
});
