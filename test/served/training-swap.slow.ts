import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/core/clock.ts';
import { asArray, asObject, parseJson } from '../../src/core/json.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { readEngineRecord } from '../../train/start-engine.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import type { Answer } from '../support/client.ts';
import {
  ENGINE_KEY,
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  TASK,
  type TrainingEnvironment,
  teach,
} from './training-environment.ts';

const STREAMS = 200;
let environment: TrainingEnvironment;
beforeAll(async () => {
  environment = await openTrainingEnvironment({ override: { promotion: { canaryShare: 0.5 } } });
  await teach(environment);
});
afterAll(async () => {
  await environment.close();
  removeFolder(environment.dir);
});

const promote = () => environment.api.moveWeights('promote');
const sampledIn = (session?: string) => {
  const reader = openSqliteReader(path.join(environment.dir, 'instar.sqlite'));
  try {
    return reader.facts(0, 100_000).flatMap(({ fact }) => {
      if (fact.type !== 'turn-sampled' || (session !== undefined && fact.session !== session)) return [];
      return [{ ...fact, text: fact.tokens && reader.block(fact.tokens) }];
    });
  } finally {
    reader.close();
  }
};
const versionOf = (policy: unknown): number => Number(/^instar\/nano@(\d+)$/.exec(String(policy))?.[1]);

describe('weights that change while they serve', () => {
  it('are named with their version on the very first turn', async () => {
    const first = await environment.chat(TASK, { session: 'first' });
    expect(first.status).toBe(200);
    expect(first.headers['x-instar-policy']).toBe('instar/nano@0');
  });

  it('have their sampled tokens recorded with turn and generation: the engine agrees with every log-probability', async () => {
    await environment.chat(TASK, { session: 'kept' });
    await expect.poll(() => sampledIn('kept').length, { timeout: 15_000 }).toBe(1);
    const [fact] = sampledIn('kept');
    expect(fact).toMatchObject({ version: 0, generation: environment.daemon.generation(), temperature: 1 });
    const { prompt, tokens, logprobs } = asObject(parseJson(fact?.text ?? ''));
    const [ids, said, given] = [prompt, tokens, logprobs].map((list) => asArray(list).map(Number));
    if (ids === undefined || said === undefined || given === undefined) throw new Error('nothing was kept');
    expect(said.length).toBeGreaterThan(5);
    const url = readEngineRecord(path.join(environment.dir, 'engine'))?.url ?? '';
    const engine = await connectTinker({
      url,
      key: ENGINE_KEY,
      baseModel: 'instar-nano',
      profile: 'nano',
      selfTest: false,
      fetch,
      clock: systemClock,
      random: createRandom('agreement'),
    });
    const model = await engine.createModel({ rank: 4, seed: 1 });
    const all = [...ids, ...said];
    const signal = new AbortController().signal;
    const datum = {
      tokens: all.slice(0, -1),
      targets: all.slice(1),
      weights: all.slice(1).map((_, at) => (at >= ids.length - 1 ? 1 : 0)),
    };
    const { logprobs: forward } = await model.forward({ data: [datum], loss: 'cross_entropy' }, signal);
    await model.close();
    await engine.close();
    const ours = (forward[0] ?? []).slice(ids.length - 1);
    expect(ours).toHaveLength(given.length);
    ours.forEach((value, at) => {
      expect(Math.abs(value - (given[at] ?? Number.NaN)), `token ${at}`).toBeLessThan(1e-4);
    });
  });

  it('have their recorded tokens removed when the session is erased', async () => {
    expect(await environment.api.erase('kept')).toMatchObject({ erased: 1 });
    const left = sampledIn('kept');
    expect(left.filter(({ text }) => text !== undefined)).toEqual([]);
    expect(sampledIn('first').filter(({ text }) => text !== undefined)).toHaveLength(1);
  });

  it(`never fail one of ${STREAMS} streams, each by the one version that its head names`, async () => {
    for (const version of [1, 2]) {
      await runWindow(environment.training, { steps: 1 });
      expect((await environment.api.training()).versions).toMatchObject({
        onTrial: { version, stage: 'candidate' },
      });
      if (version === 1) for (const _ of ['canary', 'live']) await promote();
    }
    const moved: string[] = [];
    const moves = [
      async () => promote(),
      async () => promote(),
      async () => environment.api.moveWeights('rollback'),
    ];
    let answered = 0;
    let moving: Promise<unknown> = Promise.resolve();
    const next = async (session: string): Promise<Answer> => {
      const answer = await environment.chat(TASK, { session });
      if (++answered % 50 === 0) {
        const move = moves.shift();
        moving = moving.then(async () => {
          for (const { version, to } of (await move?.()) ?? []) moved.push(`${version} ${to}`);
        });
      }
      return answer;
    };
    // As many at any time, while the pointer moves: each is followed by another.
    const answers = await Promise.all(
      Array.from({ length: STREAMS }, async (_, at) => [await next(`one-${at}`), await next(`two-${at}`)]),
    ).then((all) => all.flat());
    await moving;
    answers.push(await next('last'));

    expect(moved).toEqual(['2 canary', '2 live', '2 rolled-back']);
    expect(answers.filter(({ status, whole }) => status !== 200 || !whole)).toEqual([]);
    for (const { text } of answers) expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    await expect.poll(() => sampledIn().length, { timeout: 15_000 }).toBeGreaterThanOrEqual(2 * STREAMS + 1);
    const bySession = new Map(sampledIn().map((fact) => [fact.session, fact]));
    const seen = new Map<number, number>();
    for (const { headers } of answers) {
      const fact = bySession.get(String(headers['x-instar-session']));
      expect(fact?.turn).toBe(headers['x-instar-turn']);
      const version = versionOf(headers['x-instar-policy']);
      expect(fact?.version).toBe(version);
      seen.set(version, (seen.get(version) ?? 0) + 1);
    }
    process.stdout.write(`streams by version: ${JSON.stringify([...seen])}\n`);
    expect(seen.size).toBeGreaterThan(1);
    expect(versionOf(answers.at(-1)?.headers['x-instar-policy'])).toBe(1);
  });
});
