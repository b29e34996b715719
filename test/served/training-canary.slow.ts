import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInCanary } from '../../train/promotion.ts';
import { ask } from '../support/client.ts';
import {
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  TASK,
  type TrainingEnvironment,
  teach,
} from './training-environment.ts';

const SHARE = 0.5;
const SESSIONS = 12;
let environment: TrainingEnvironment;
beforeAll(async () => {
  const promotion = { canaryShare: SHARE, canarySessions: SESSIONS, canaryMargin: 0.6 };
  environment = await openTrainingEnvironment({ override: { promotion } });
  await teach(environment);
});
afterAll(async () => {
  await environment.close();
  removeFolder(environment.dir);
});

const versions = async () => (await environment.api.training()).versions;

/** The weights of one more step, as a canary. */
async function nextCanary(): Promise<number> {
  const news = await runWindow(environment.training, { steps: 1 });
  expect(news.map(({ type }) => type)).toContain('step-trained');
  const [moved] = await environment.api.moveWeights('promote');
  expect(moved).toMatchObject({ to: 'canary' });
  return Number(moved?.version);
}

/** A session of one turn, what the agent's chat says of it (always the contrary) and what a person says; answers with the version that served. */
async function session(name: string, score: number): Promise<number> {
  const { status, headers } = await environment.chat(TASK, { session: name });
  expect(status).toBe(200);
  // An agent could type it: it moves no weights.
  const word = await environment.chat(score > 0 ? 'instar: bad' : 'instar: good', { session: name });
  expect(word.headers['x-instar-answer'], word.text).toBe('saved');
  const said = await ask(environment.port, {
    path: '/v1/feedback',
    headers: { authorization: `Bearer ${environment.ownerKey}` },
    body: JSON.stringify({ turn: headers['x-instar-turn'], score }),
  });
  expect(said.status, said.text).toBe(200);
  return Number(String(headers['x-instar-policy']).split('@')[1]);
}

/** Sessions one after another until it is no canary any more; `scoreOf` is told whether it served. */
async function judge(version: number, scoreOf: (isCanary: boolean) => number) {
  const served = { canary: 0, rest: 0 };
  for (let number = 0; number < 80; number++) {
    const { onTrial } = Object(await versions());
    if (onTrial === undefined) break;
    const name = `${version}/${number}`;
    const isCanary = isInCanary(name, version, SHARE);
    expect((await session(name, scoreOf(isCanary))) === version).toBe(isCanary);
    served[isCanary ? 'canary' : 'rest']++;
    // What was said is weighed behind the reply.
    await expect
      .poll(
        async () => {
          const trial = Object(Object(await versions()).onTrial);
          return trial.version === undefined || trial.sessions === number + 1;
        },
        { timeout: 15_000 },
      )
      .toBe(true);
  }
  return served;
}

describe('a canary', () => {
  it('goes live when enough of its sessions were not worse than the others', async () => {
    const version = await nextCanary();
    const served = await judge(version, () => 1);
    expect(served.canary).toBeGreaterThanOrEqual(SESSIONS);
    expect(served.rest).toBeGreaterThan(3);
    expect(await versions()).toMatchObject({ live: version, previous: 0 });
  });

  it('is rolled back when its sessions are worse, and the live version keeps serving', async () => {
    const { live } = Object(await versions());
    const version = await nextCanary();
    expect(version).toBeGreaterThan(live);
    const served = await judge(version, (isCanary) => (isCanary ? -1 : 1));
    expect(served.canary).toBeGreaterThan(1);
    expect(served.canary).toBeLessThan(SESSIONS);
    expect(await versions()).toEqual({ live, previous: 0 });
    expect((await environment.chat(TASK)).headers['x-instar-policy']).toBe(`instar/nano@${live}`);
  });
});
