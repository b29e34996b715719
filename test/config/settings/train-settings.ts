import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { checkConfig } from '../../../src/config/check-config.ts';
import { homeAt } from '../../../src/config/home.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { asArray, asObject, parseJson } from '../../../src/core/json.ts';
import { createLog } from '../../../src/redact/create-log.ts';
import { openPolicyEngine } from '../../../train/policy-engine.ts';
import {
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  teach,
} from '../../served/training-environment.ts';
import { chatBody, type InstarHere, replyWith, type Stage } from './instar-here.ts';
import { once, type SettingProofs } from './setting-proof.ts';

export function createTrainProofs(stage: Stage): SettingProofs {
  /** One window of the embedded engine, with a value for each setting that is not its default. */
  const window = once(async () => {
    const train = { engine: 'nano', amount: 'light' };
    const environment = await openTrainingEnvironment({ train });
    try {
      const news = await runWindow(environment.training, {});
      const steps = news.filter(({ type }) => type === 'step-trained' || type === 'step-idle');
      expect(steps, 'train.amount: light').toHaveLength(5);
      const journal = readFileSync(path.join(environment.dir, 'train', 'nano', 'run-1.jsonl'), 'utf8');
      const groups = journal
        .trim()
        .split('\n')
        .map((line) => asObject(asObject(parseJson(line)).entry))
        .filter(({ type, batch }) => type === 'group-collected' && batch === 'run-1/0');
      // The first round of a batch has two groups here; others follow until two differ.
      expect(groups.length, 'train.amount').toBeGreaterThanOrEqual(2);
      for (const { group } of groups) expect(asArray(asObject(group).rollouts)).toHaveLength(8);
      const { headers } = await environment.chat('hello', { session: 'served' });
      expect(String(headers['x-instar-policy']), 'train.engine').toMatch(/^instar\/nano@/);
    } finally {
      await environment.close();
      removeFolder(environment.dir);
    }
  });
  /** A window that learns something, with another rate. */
  const tuned = once(async () => {
    const environment = await openTrainingEnvironment({ train: { steps: 1, learningRate: 0.002 } });
    try {
      await teach(environment);
      const reports = (await runWindow(environment.training, {})).flatMap((news) =>
        news.type === 'step-trained' ? [news.report] : [],
      );
      expect(reports.length).toBeGreaterThan(0);
      for (const { learningRate } of reports) expect(learningRate, 'train.learningRate').toBe(0.002);
    } finally {
      await environment.close();
      removeFolder(environment.dir);
    }
  });
  /** The few tasks do not suffice to measure weights. */
  const effect = once(async () => {
    const train = { engine: 'nano', steps: 1, effect: 0.45 };
    const environment = await openTrainingEnvironment({ train, override: { promotion: { power: 0.8 } } });
    try {
      await teach(environment);
      const news = await runWindow(environment.training, {});
      expect(news, 'train.effect').toEqual([
        { type: 'not-trained', why: expect.stringContaining('to show an improvement of 45 points') },
      ]);
    } finally {
      await environment.close();
      removeFolder(environment.dir);
    }
  });
  const server = () =>
    stage.provider('train', (request, response) => {
      if (request.url.endsWith('/chat/completions'))
        return replyWith(response, 'served', chatBody(request).stream === true);
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":"not today","category":"user"}');
    });
  const say = (here: InstarHere, model: string) => here.chat('hello', { model, session: model });
  const remote = once(async () => {
    const { url, seen } = await server();
    const tokenizer = path.join(stage.folder(), 'no-such-tokenizer');
    const train = {
      engine: { tinker: `${url}/tinker`, keyEnv: 'ENGINE_KEY', baseModel: 'acme/small-1', tokenizer },
    };
    const env = { ENGINE_KEY: 'tml-000000000000' };
    const here = await stage.open('train-remote', { train }, { env });
    const { engine: name } = await here.owner('GET', '/api/train');
    expect(name, 'train.engine.baseModel').toBe('small-1');
    const { text } = await say(here, 'instar/small-1');
    expect(text, 'train.engine.tokenizer').toContain(tokenizer);
    const engine = openPolicyEngine({
      settings: checkConfig({ train }, { env: {} }).config.train,
      home: homeAt(here.dir),
      env,
      clock: systemClock,
      log: createLog({ format: 'json', level: 'silent' }),
    });
    await expect(engine?.connect()).rejects.toThrow('not today');
    const request = seen.find(({ url: at }) => at.startsWith('/tinker/'));
    expect(request?.url, 'train.engine.tinker').toMatch(/^\/tinker\/api\/v1\//);
    expect(JSON.stringify(request?.headers), 'train.engine.keyEnv').toContain('tml-000000000000');
  });
  /** What the training thread and the policy connect with. */
  const profiles = once(async () => {
    const { url } = await server();
    for (const profile of ['generic', 'tinker', 'skyrl', 'tuft'] as const) {
      const train = {
        engine: { tinker: url, baseModel: 'acme/small-1', profile, tokenizer: stage.folder() },
      };
      const engine = openPolicyEngine({
        settings: checkConfig({ train }, { env: {} }).config.train,
        home: homeAt(stage.folder()),
        env: {},
        clock: systemClock,
        log: createLog({ format: 'json', level: 'silent' }),
      });
      const placed = await engine?.place();
      expect(placed?.engine.profile, 'train.engine.profile').toBe(profile);
    }
  });
  const adapters = once(async () => {
    const { url, seen } = await server();
    const serve = { vllm: `${url}/vllm/v1`, keyEnv: 'VLLM_KEY', model: 'base-at-vllm' };
    const here = await stage.open(
      'train-served',
      { train: { engine: 'nano', serve } },
      { env: { VLLM_KEY: 'vllm-000000000000', PATH: process.env.PATH } },
    );
    const { status, text } = await say(here, 'instar/nano');
    expect([status, text]).toEqual([200, expect.stringContaining('served')]);
    const request = seen.findLast(
      ({ url: at }) => at.startsWith('/vllm') && at.endsWith('/chat/completions'),
    );
    expect(request?.url, 'train.serve.vllm').toBe('/vllm/v1/chat/completions');
    expect(request && chatBody(request).model, 'train.serve.model').toBe('base-at-vllm');
    expect(request?.headers.authorization, 'train.serve.keyEnv').toBe('Bearer vllm-000000000000');
  });

  return {
    'train.engine=nano': { acts: window },
    'train.engine=off': {
      acts: async () => {
        const here = await stage.open('train-off', { train: { engine: 'off' } });
        expect(String((await say(here, 'instar/nano')).headers['x-instar-policy'])).not.toContain('nano');
        expect(JSON.stringify(await here.owner('POST', '/api/train/run', {}))).toContain('Training is off');
      },
    },
    'train.engine.tinker': { acts: remote },
    'train.engine.keyEnv': { acts: remote },
    'train.engine.baseModel': { acts: remote },
    'train.engine.tokenizer': { acts: remote },
    ...Object.fromEntries(
      ['generic', 'tinker', 'skyrl', 'tuft'].map((one) => [
        `train.engine.profile=${one}`,
        { acts: profiles },
      ]),
    ),
    'train.serve.vllm': { acts: adapters },
    'train.serve.keyEnv': { acts: adapters },
    'train.serve.model': { acts: adapters },
    'train.effect': { acts: effect },
    'train.amount=light': { acts: window },
    'train.amount=night': {
      shownIn: 'test/train/window-size.test.ts',
      title: 'asks for more attempts of a server than of the embedded policy, and the more the longer',
    },
    'train.amount=long': {
      shownIn: 'test/train/window-size.test.ts',
      title: 'asks for more attempts of a server than of the embedded policy, and the more the longer',
    },
    'train.learningRate': { acts: tuned },
    'train.live=true': {
      shownIn: 'test/served/training-sources.slow.ts',
      title: 'are trained on once, if a person rewarded them under the current lessons',
    },
    'train.live=false': {
      shownIn: 'test/served/training-sources.slow.ts',
      title: 'are attempted again, graded by the configured verifier, and trained on',
    },
  };
}
