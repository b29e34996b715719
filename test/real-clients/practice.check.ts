import { delimiter, dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAttemptFolders } from '../../src/agent/attempts/attempt-folders.ts';
import { createAttempts } from '../../src/agent/attempts/attempts.ts';
import { createHeadlessAgent, HEADLESS_HOME, HEADLESS_URL } from '../../src/agent/attempts/headless-agent.ts';
import { findHeadlessProgram, HEADLESS_PROGRAMS } from '../../src/agent/attempts/headless-programs.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { headlessSettings } from '../../src/connect/headless-settings.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createTaskVerifier, readAttemptSteps } from '../../src/evidence/verifiers/verify-task.ts';
import { orderOf } from '../agent/attempts/orders.ts';
import { createStage, type InstarHere } from '../config/settings/instar-here.ts';
import type { Provider } from '../support/provider.ts';
import { install, PROGRAMS } from './programs.ts';
import { PROOF, startToolProvider } from './provider.ts';

const BLOCK = '## Active Skills\n\nA lesson for this attempt alone: wear the green hat.';
const stage = createStage();
const folders = createAttemptFolders();
let provider: Provider;
let instar: InstarHere;
let config: object;
beforeAll(async () => {
  provider = await startToolProvider();
  config = {
    providers: { fake: { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1`, keyEnv: 'FAKE_KEY' } },
    models: { default: 'fake/fake-model' },
  };
  instar = await stage.open('practice', config, { env: { FAKE_KEY: 'provider-key-0123456789' } });
});
afterAll(async () => {
  await folders.close();
  await stage.close();
  await provider.close();
});

it('every client that connects and is tested here can practise', () => {
  expect([...HEADLESS_PROGRAMS].sort()).toEqual(PROGRAMS.map(({ client }) => client).sort());
});

describe.each(PROGRAMS.map((program) => [program.client, program] as const))('%s', (client, program) => {
  it('attempts a task in confinement, is shown the block of its attempt', async () => {
    const { bin, nodeDir } = install(program);
    const search = [nodeDir, dirname(bin), process.env.PATH].filter(Boolean).join(delimiter);
    const found = await findHeadlessProgram(client, search);
    expect(found, `${client} is not installed`).toBeDefined();
    const checked = checkConfig(config, { env: {} });
    const settings = headlessSettings(client, {
      url: HEADLESS_URL,
      homeDir: HEADLESS_HOME,
      config: checked.config,
      model: program.model ?? 'default',
    });
    if (found === undefined || settings === undefined) throw new Error('no settings');
    const agent = createHeadlessAgent({
      program: found,
      open: async (order) => instar.daemon.openAttempt(order),
      settings,
      clock: systemClock,
    });
    const make = createAttempts({
      agents: new Map([[client, agent]]),
      folders,
      verify: createTaskVerifier({}),
      readSteps: readAttemptSteps,
      clock: systemClock,
    });
    const before = provider.seen.length;
    const order = orderOf(
      {
        prompt: 'Run the command you were told about and tell me what it said.',
        workspace: { kind: 'files', files: { 'README.md': 'A shop.\n' } },
        check: { kind: 'regex', pattern: PROOF },
      },
      {
        id: `run/${client}/0`,
        timeoutMs: 240_000,
        shown: { text: BLOCK, lessons: ['l_hat'], generation: 5 },
      },
    );
    const attempt = await make(order, new AbortController().signal);
    expect(attempt.outcome, JSON.stringify(attempt)).toMatchObject({ is: 'graded', reward: 1 });
    expect(attempt.by).toBe(client);
    expect(attempt.steps.some((step) => step.kind === 'call' && step.result?.includes(PROOF))).toBe(true);
    expect(attempt.used.calls).toBeGreaterThanOrEqual(2);
    expect(attempt.used.tokens).toBeGreaterThan(900);

    const asked = provider.seen.slice(before).map(({ body }) => body.toString());
    const withTools = asked.filter((body) => body.includes('"tools"'));
    expect(withTools.length).toBeGreaterThanOrEqual(2);
    const shown = asked.filter((body) => body.includes('wear the green hat'));
    expect(shown.length).toBeGreaterThanOrEqual(2);
    process.stderr.write(
      `${client}: ${asked.length} requests, ${shown.length} with the block, ${attempt.steps.length} steps, ${attempt.used.ms} ms\n`,
    );
  });
});
