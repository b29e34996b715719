import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { createStage, type InstarHere } from '../config/settings/instar-here.ts';
import { ask } from '../support/client.ts';
import { wholeReply } from '../support/samples.ts';

const SOON = { timeout: 20_000, interval: 50 };
const stage = createStage();
afterAll(stage.close);

/** A daemon behind which every session is answered, and where overlays are held out from nobody. */
const open = async (name: string, library: object = {}): Promise<InstarHere> => {
  const provider = await stage.provider('p', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  const p = { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' };
  return stage.open(
    name,
    { providers: { p }, library: { ...library } },
    { env: { P_KEY: 'k-000000000000' } },
  );
};

/** With it one other event is not enough, and two are: whoever reads between them proposes nothing yet. */
const SCORE = 62;
const AGENT = 'builder';
const turn = (here: InstarHere, session: string) =>
  here.chat(`Work on ${session}`, { model: 'p/m', session, headers: { 'x-instar-agent': AGENT } });

/** An event of a session, with the caller's key: an agent's word. */
const report = async (here: InstarHere, body: object, key = here.key): Promise<JsonObject> =>
  JSON.parse(
    (
      await ask(here.port, {
        path: '/v1/events',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ agent: AGENT, ...body }),
      })
    ).text,
  );

const candidates = async (here: InstarHere): Promise<readonly JsonObject[]> =>
  asArray((await here.owner('GET', '/api/adapt')).candidates).map(asObject);
const overlays = async (here: InstarHere, query = ''): Promise<readonly JsonObject[]> =>
  asArray((await here.owner('GET', `/api/overlays${query}`)) as unknown).map(asObject);

/** Three sessions that happened, each with one event. */
async function provoke(here: InstarHere, kind: string, more: object = {}, name = kind): Promise<void> {
  for (const nth of [1, 2, 3]) {
    await turn(here, `${name}-${nth}`);
    await report(here, { kind, session: `${name}-${nth}`, score: SCORE, ...more });
  }
  await here.daemon.settle();
}

describe('events of three sessions', () => {
  it('become a limit that tightens by itself, is in force for that agent alone, and is gone after its retirement', async () => {
    const here = await open('guarded');
    await provoke(here, 'repeated_retry');
    expect(await candidates(here)).toMatchObject([
      {
        id: expect.stringMatching(/^validator_policy_tweak:agent:builder:repeated_retry@k_/),
        ...{ matches: 2, mean: 62, score: 62.7, status: 'trial' },
      },
    ]);
    expect(await overlays(here, `?agent=${AGENT}`)).toMatchObject([
      { state: 'trial', payload: { type: 'validator_policy_tweak', retries: 1 } },
    ]);
    expect(await overlays(here, '?agent=another')).toEqual([]);
    const asCaller = (query: string) =>
      ask(here.port, {
        method: 'GET',
        path: `/api/overlays${query}`,
        headers: { authorization: `Bearer ${here.key}` },
      });
    expect((await asCaller('')).status).toBe(400);
    expect(JSON.parse((await asCaller(`?agent=${AGENT}`)).text)).toHaveLength(1);
    const { headers } = await turn(here, 'limited');
    const lesson = String(asObject((await overlays(here))[0]).lesson);
    expect(headers['x-instar-lessons']).toBe(lesson);
    await here.owner('POST', '/api/lessons', { changes: [{ op: 'retire', id: lesson, reason: 'a test' }] });
    expect(await overlays(here)).toEqual([]);
    expect((await turn(here, 'unlimited')).headers['x-instar-lessons']).toBeUndefined();
    // What was retired is not proposed again by the same events.
    await provoke(here, 'repeated_retry', {}, 'again');
    expect(await candidates(here)).toMatchObject([{ status: 'retired' }]);
  });

  it('wait for a person where a program reported their words, whatever the autonomy', async () => {
    for (const autonomy of ['guarded', 'autonomous']) {
      const here = await open(`words-${autonomy}`, { autonomy });
      await provoke(here, 'teaching_refresh', { guidance: ['Always answer in verse.'] });
      const [candidate] = await candidates(here);
      expect(candidate).toMatchObject({
        ...{ type: 'prompt_fragment', status: 'proposed' },
        why: expect.stringContaining('a program reported its words'),
      });
      expect(await overlays(here), autonomy).toEqual([]);
      const lesson = String(candidate?.lesson);
      const shown = String((await here.owner('GET', `/api/lessons/${lesson}`)).hash);
      const changes = [{ op: 'move', id: lesson, to: 'live' }];
      await here.owner('POST', '/api/lessons', { changes, shown: { [lesson]: shown } });
      expect(await overlays(here)).toMatchObject([
        { state: 'live', payload: { guidance: ['Always answer in verse.'] } },
      ]);
    }
  });

  it('do nothing under manual but wait', async () => {
    const here = await open('manual', { autonomy: 'manual' });
    await provoke(here, 'budget_incident');
    expect(await candidates(here)).toMatchObject([{ type: 'routing_hint', status: 'proposed' }]);
    expect(await overlays(here)).toEqual([]);
  });
});

describe('one session, or one caller that makes sessions up,', () => {
  it('shows nothing to anyone, however often it reports', async () => {
    const here = await open('alone');
    await turn(here, 'only');
    for (const _ of [1, 2, 3, 4]) await report(here, { kind: 'repeated_retry', session: 'only' });
    for (const nth of [1, 2, 3, 4])
      await report(here, { kind: 'budget_incident', session: `never-was-${nth}` });
    await here.daemon.settle();
    expect((await candidates(here)).map(({ status, matches }) => [status, matches])).toEqual([
      ['unsupported', 0],
      ['unsupported', 0],
    ]);
    expect(await overlays(here)).toEqual([]);
  });
});

describe('the file learning-off in the home', () => {
  it('switches everything learned off and on again, without the record or the API', async () => {
    const here = await open('killed');
    await provoke(here, 'repeated_retry');
    expect(await overlays(here)).toHaveLength(1);
    await here.addLesson({
      name: 'always-here',
      description: 'When you work on anything.',
      content: 'Say so.',
    });
    const target = path.join(here.dir, 'learning-off');
    writeFileSync(target, '');
    await vi.waitFor(async () => expect(await overlays(here)).toEqual([]), SOON);
    expect((await turn(here, 'while-off')).headers['x-instar-lessons']).toBeUndefined();
    await provoke(here, 'budget_incident');
    expect((await candidates(here)).find(({ type }) => type === 'routing_hint')).toMatchObject({
      status: 'corroborated',
    });
    rmSync(target);
    await vi.waitFor(async () => expect(await overlays(here)).not.toEqual([]), SOON);
    await turn(here, 'on-again');
    await vi.waitFor(
      async () =>
        expect((await candidates(here)).find(({ type }) => type === 'routing_hint')).toMatchObject({
          status: 'trial',
        }),
      SOON,
    );
  });
});
