import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, asString, type JsonObject } from '../../src/core/json.ts';
import { runCli } from '../cli/run-cli.ts';
import { ask, askOwner } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const SKILL = {
  name: 'state-the-unit',
  description: 'Write the unit behind every amount of money in a report.',
  content: '# State the unit\n1. Find every amount.\n2. Put the unit behind it.',
  triggers: ['amounts in a report'],
  quotes: [],
};
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
/** The learning questions that the server got. */
const asked: { readonly system: string; readonly hasSchema: boolean; readonly credential: unknown }[] = [];

/** A model server on loopback that needs no key. As a judge it says yes to everything, as small models do. */
beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const body = asObject(JSON.parse(request.body.toString()));
    const system = asString(asObject(asArray(body.messages)[0]).content) ?? '';
    const isJudge = system.startsWith('You check single steps');
    const isEvolver = system.startsWith('You write skills');
    if (isJudge || isEvolver) {
      const { type } = asObject(body.response_format);
      asked.push({ system, hasSchema: type === 'json_schema', credential: request.headers.authorization });
    }
    const content = isJudge
      ? JSON.stringify({ reason: 'It did what was asked.', score: 1 })
      : isEvolver
        ? JSON.stringify({ skills: [SKILL] })
        : 'I wrote the report.';
    const head = { id: 'x', created: 1, model: 'm' };
    const choice = body.stream
      ? { index: 0, delta: { content }, finish_reason: 'stop' }
      : { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' });
    response.end(
      body.stream
        ? `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [choice] })}\n\ndata: [DONE]\n\n`
        : JSON.stringify({ ...head, object: 'chat.completion', choices: [choice] }),
    );
  });
  home = makeHome({
    providers: { box: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'box/small', evolver: 'box/small', judge: 'box/small' },
    learn: { failures: 1 },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
  askOwner(daemon, method, path, body);
const say = async (session: string, messages: readonly object[]): Promise<string> => {
  const headers = { 'x-instar-key': daemon.key, 'x-instar-session': session, 'x-instar-agent': 'ada' };
  const body = JSON.stringify({ model: 'box/small', messages });
  const { headers: head } = await ask(daemon.port, { path: '/v1/chat/completions', body, headers });
  return String(head['x-instar-turn']);
};
const judgeOf = async () => asObject(asObject((await owner('GET', '/api/status')).learning).judge);

describe('Instar with nothing but a keyless server on this machine', () => {
  it('lets its model write lessons, under a schema and without a credential', async () => {
    const turn = await say('amounts', [{ role: 'user', content: 'Write the amounts into report.md' }]);
    await vi.waitFor(
      async () => expect((await owner('GET', `/api/turns/${turn}/why`)).turn).toBe(turn),
      SOON,
    );
    await owner('POST', '/v1/feedback', { turn, score: -1, note: 'Put the unit behind every amount.' });
    await vi.waitFor(async () => {
      const found = asArray(await owner('GET', '/api/lessons?kind=skill')).map(asObject);
      const { evidence } = await owner('GET', `/api/lessons/${String(found[0]?.id)}`);
      expect(asObject(evidence)).toMatchObject({ learner: 'evolver', model: 'box/small' });
    }, SOON);
    expect(asked.find(({ system }) => system.startsWith('You write skills'))).toMatchObject({
      hasSchema: true,
      credential: undefined,
    });
  });

  it('tests its model as a judge, switches off one that says yes to everything, and says so', async () => {
    const talk = [{ role: 'user', content: 'Write the amounts of July into july.md' }];
    const turn = await say('july', talk);
    const answer = { role: 'assistant', content: 'I wrote the report.' };
    const next = { role: 'user', content: 'What is the weather like in Bern?' };
    await say('july', [...talk, answer, next]);
    await vi.waitFor(async () => expect((await judgeOf()).testedModel).toBe('box/small'), SOON);
    expect(await judgeOf()).toMatchObject({ isTrusted: false, weight: 0 });
    const short = (await runCli(['--home', home.dir, 'status'], {})).stdout;
    expect(short).toMatch(/^writer +box\/small$/m);
    expect(short).toMatch(/unclear turns? waits? for another judge: box\/small is switched off/);
    const { stdout } = await runCli(['--home', home.dir, 'status', '--why'], {});
    const said = stdout.replace(/\s+/g, ' ');
    expect(said).toContain('Lessons are written by box/small on this machine');
    expect(said).toContain('No model judges unclear turns: box/small is switched off.');
    expect(said).toContain('judge: box/small; it was right on 8 of 16 planted steps');
    expect(said).toContain('it called every failure a success): it is switched off');
    expect(said).toMatch(/unclear turns? waits? for another judge: box\/small is switched off/);
    const turns = asArray((await owner('GET', '/api/sessions/july')).turns).map(asObject);
    expect(turns.find(({ id }) => id === turn)?.rewards).toEqual([]);
  });
});
