import { parseArgs } from 'node:util';
import { createRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { LossKind } from '../../../src/core/training.ts';
import { connectTinker } from '../../../train/tinker/connect-tinker.ts';
import type { ProfileName } from '../../../train/tinker/profiles.ts';
import { createCheckReport } from './check-report.ts';
import { createLossyFetch, driveProtocol } from './drive-protocol.ts';
import { driveTrainer } from './drive-trainer.ts';

/**
 * Drives our client against a running third-party server: call by call, or with `--journal` through our trainer. Exits with
 * status 1 if anything that is expected to work did not.
 */
const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8000' },
    key: { type: 'string' },
    model: { type: 'string', default: '' },
    profile: { type: 'string', default: 'generic' },
    losses: { type: 'string', default: 'cross_entropy,importance_sampling,ppo,cispo' },
    steps: { type: 'string', default: '5' },
    rank: { type: 'string', default: '8' },
    rate: { type: 'string' },
    many: { type: 'string', default: '2500' },
    /** The server only imitates a model: the self-test must detect it and is then skipped. */
    pretends: { type: 'boolean', default: false },
    journal: { type: 'string' },
    groups: { type: 'string', default: '4' },
    size: { type: 'string', default: '64' },
    rise: { type: 'string', default: '0.2' },
    'pause-after': { type: 'string' },
    'kill-after': { type: 'string' },
  },
});

const number = (value: string | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);
const losses = values.losses.split(',') as LossKind[];
const report = createCheckReport((line) => process.stdout.write(line));
const way = createLossyFetch();
const connect = (selfTest: boolean, key = values.key) =>
  connectTinker({
    url: values.url,
    ...(key === undefined ? {} : { key }),
    baseModel: values.model,
    profile: values.profile as ProfileName,
    losses,
    ...(selfTest ? {} : { selfTest: false as const }),
    fetch: way.fetch,
    clock: systemClock,
    random: createRandom(`drive/${Date.now()}`),
    log: (line) => report.say('log', line),
  });

const started = performance.now();
if (values.pretends) await report.refused('self-test', () => connect(true), /not the same model/);
if (values.key !== undefined && values.journal === undefined)
  await report.refused('wrong key', () => connect(false, 'tml-wrong'), /user/);
const engine = await connect(!values.pretends);
const { wire, reduction, contextLength } = engine.profile;
report.say('connected', `${engine.profile.name}, ${wire}, ${reduction}, context ${contextLength}`);
if (engine.selfTest !== undefined) report.say('self-test', engine.selfTest);
const shared = {
  steps: Number(values.steps),
  rank: Number(values.rank),
  rate: number(values.rate) ?? engine.profile.learningRate,
};
if (values.journal === undefined)
  await driveProtocol(
    engine,
    { ...shared, losses, many: Number(values.many), learns: !values.pretends, way },
    report,
  );
else
  await driveTrainer(
    engine,
    {
      ...shared,
      journal: values.journal,
      groups: Number(values.groups),
      size: Number(values.size),
      rise: Number(values.rise),
      pauseAfter: number(values['pause-after']),
      killAfter: number(values['kill-after']),
    },
    report,
  );
await engine.close();
const seconds = ((performance.now() - started) / 1000).toFixed(1);
process.stdout.write(
  `${report.failures === 0 ? 'all as expected' : `${report.failures} not as expected`}, ${seconds} s\n`,
);
process.exitCode = report.failures === 0 ? 0 : 1;
