import { afterAll, describe, expect, it } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { createStage, type InstarHere } from '../config/settings/instar-here.ts';
import { pageBlocks } from '../docs/pages.ts';
import type { Provider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

/** Each type of candidate, from its events to a request that goes otherwise because of it, and back. */
/** With it one other event is not enough, and two are: 0.85 · 62 + 5 = 57.7, + 10 = 62.7. */
const SCORE = 62;
const AGENT = 'builder';
const stage = createStage();
afterAll(stage.close);

let failures = 0;
const provider = (): Promise<Provider> =>
  stage.provider('p', (_, response) => {
    const isDown = failures > 0;
    failures = Math.max(0, failures - 1);
    response.writeHead(isDown ? 503 : 200, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(isDown ? '{"error":{"message":"busy"}}' : wholeReply('openai-chat'));
  });
const open = async (): Promise<InstarHere> => {
  const p = { wire: 'openai', baseUrl: `${(await provider()).url}/v1`, keyEnv: 'P_KEY' };
  return stage.open(
    'here',
    { providers: { p }, gateway: { flows: true } },
    { env: { P_KEY: 'k-000000000000' } },
  );
};

/** One request of the agent: what the provider got, and what the client got. */
async function request(here: InstarHere, session: string, messages?: readonly object[]) {
  const { seen } = await provider();
  const before = seen.length;
  const answer = await here.chat(`Work on ${session}`, {
    model: 'p/m',
    session,
    headers: { 'x-instar-agent': AGENT },
    ...(messages === undefined ? {} : { messages }),
  });
  const sent = seen.slice(before).map(({ body }) => body.toString());
  return { answer, sent, last: sent.at(-1) ?? '' };
}

/** The owner's pipeline reports the same of three sessions. */
async function report(here: InstarHere, event: JsonObject): Promise<JsonObject> {
  for (const nth of [1, 2, 3])
    await here.owner('POST', '/v1/events', {
      agent: AGENT,
      session: `${String(event.kind)}-${nth}`,
      score: SCORE,
      ...event,
    });
  await here.daemon.settle();
  const { events, candidates } = await here.owner('GET', '/api/adapt');
  expect(asArray(events).filter((one) => asObject(one).kind === event.kind).length).toBeGreaterThan(2);
  const found = asArray(candidates)
    .map(asObject)
    .find(({ sourceLabel, status }) => sourceLabel === event.kind && status === 'trial');
  expect(found, `a candidate of ${String(event.kind)} on trial`).toMatchObject({ matches: 2 });
  return found ?? {};
}
const takeBack = (here: InstarHere, { lesson }: JsonObject): Promise<JsonObject> =>
  here.owner('POST', '/api/lessons', {
    changes: [{ op: 'retire', id: String(lesson), reason: 'a test' }],
    reason: 'a test',
  });

const call = (id: string, name: string, given: object, result: string): readonly object[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(given) } }],
  },
  { role: 'tool', tool_call_id: id, content: result },
];

describe('events of three sessions change a request, and taking them back changes it again', () => {
  it('prompt_fragment: guidance joins the block of that agent', async () => {
    const here = await open();
    const GUIDANCE = 'Name the harbour before its ships.';
    expect((await request(here, 'fragment-before')).last).not.toContain(GUIDANCE);
    const candidate = await report(here, { kind: 'teaching_refresh', guidance: [GUIDANCE] });
    expect(candidate).toMatchObject({ score: 62.7, draftScore: SCORE, mean: SCORE });
    expect((await request(here, 'fragment-in-force')).last).toContain(GUIDANCE);
    await takeBack(here, candidate);
    expect((await request(here, 'fragment-after')).last).not.toContain(GUIDANCE);
  });

  it('fix_template: a repair is shown when its error comes up again', async () => {
    const here = await open();
    const REPAIR = 'pip install --requirement tools/loader.txt';
    const failed = [
      { role: 'user', content: 'Load the settings.' },
      ...call(
        'c1',
        'shell',
        { command: 'run' },
        'Traceback (most recent call last):\n  File "/srv/load.py", line 57, in <module>\n    import yaml\nModuleNotFoundError: No module named \'yaml\'\nExit code 1',
      ),
    ];
    expect((await request(here, 'fix-before', failed)).last).not.toContain(REPAIR);
    const candidate = await report(here, {
      kind: 'successful_heal',
      error: 'ModuleNotFoundError @ load.py:42',
      repair: [REPAIR],
    });
    expect((await request(here, 'fix-in-force', failed)).last).toContain(REPAIR);
    expect((await request(here, 'fix-without-error')).last).not.toContain(REPAIR);
    await takeBack(here, candidate);
    expect((await request(here, 'fix-after', failed)).last).not.toContain(REPAIR);
  });

  it('validator_policy_tweak: a failing provider is tried less often', async () => {
    const here = await open();
    const tries = async (session: string): Promise<number> => {
      failures = 5;
      const { sent } = await request(here, session);
      failures = 0;
      return sent.length;
    };
    expect(await tries('limit-before')).toBe(3);
    const candidate = await report(here, { kind: 'repeated_retry', retries: 0 });
    // One further try stays, whatever the events ask for.
    expect(await tries('limit-in-force')).toBe(2);
    await takeBack(here, candidate);
    expect(await tries('limit-after')).toBe(3);
  });

  it('routing_hint: the router of a new kind of work takes the other model', async () => {
    const chosen: string[] = [];
    const two = await stage.provider('two', ({ body }, response) => {
      chosen.push(String(asObject(JSON.parse(body.toString())).model));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(wholeReply('openai-chat'));
    });
    const here = await stage.open(
      'routed',
      {
        providers: {
          two: { wire: 'openai', baseUrl: `${two.url}/v1`, keyEnv: 'P_KEY' },
        },
        router: { cheap: 'two/small', strong: 'two/large' },
      },
      { env: { P_KEY: 'k-000000000000' } },
    );
    const share = async (name: string): Promise<number> => {
      chosen.length = 0;
      for (let nth = 0; nth < 40; nth++)
        await here.chat(`Write report ${nth} of ${name}`, {
          ...{ model: 'instar/auto', session: `${name}-${nth}`, headers: { 'x-instar-agent': AGENT } },
        });
      return chosen.filter((model) => model === 'large').length;
    };
    const before = await share('route-before');
    const candidate = await report(here, { kind: 'budget_incident' });
    const inForce = await share('route-in-force');
    await takeBack(here, candidate);
    const after = await share('route-after');
    // A share of sessions tries the other model.
    expect(Math.min(before, after)).toBeGreaterThan(25);
    expect(inForce).toBeLessThan(15);
  });

  it('flow_offload: the event of docs/adaptation.md lets the gateway answer the next call itself', async () => {
    const here = await open();
    const { agent: _, ...documented } = asObject(
      JSON.parse(pageBlocks().find(({ mark }) => mark === 'json: flow event')?.code ?? ''),
    );
    const tools = ['open_order', 'check_stock', 'print_label'];
    const inFlow = [
      { role: 'user', content: 'Ship order A-7.' },
      ...call('c1', 'open_order', { id: 'A-7' }, 'ok'),
      ...call('c2', 'check_stock', { id: 'A-7' }, 'ok'),
    ];
    const next = async (session: string) => {
      const { seen } = await provider();
      const before = seen.length;
      const answer = await here.chat('', {
        model: 'p/m',
        session,
        headers: { 'x-instar-agent': AGENT },
        messages: inFlow,
        tools: tools.map((name) => ({
          type: 'function',
          function: { name, parameters: { type: 'object', properties: {} } },
        })),
      });
      return { models: seen.length - before, text: answer.text, flow: answer.headers['x-instar-flow'] };
    };
    expect(await next('flow-before')).toMatchObject({ models: 1, flow: undefined });
    const candidate = await report(here, documented);
    const { models, text, flow } = await next('flow-in-force');
    expect([models, flow]).toEqual([0, expect.stringContaining('3/3')]);
    expect(text).toContain('print_label');
    expect(text).toContain('A-7');
    await takeBack(here, candidate);
    expect(await next('flow-after')).toMatchObject({ models: 1, flow: undefined });
  });
});
