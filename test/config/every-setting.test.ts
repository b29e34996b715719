import { afterAll, describe, expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { configJsonSchema } from '../../src/config/schema.ts';
import { interfaceExample } from './interface-example.ts';
import { createGatewayProofs } from './settings/gateway-settings.ts';
import { createStage } from './settings/instar-here.ts';
import { createLearnProofs } from './settings/learn-settings.ts';
import { createLibraryProofs } from './settings/library-settings.ts';
import { createPriceProofs } from './settings/price-settings.ts';
import { createProviderProofs } from './settings/provider-settings.ts';
import { createScheduleProofs } from './settings/schedule-settings.ts';
import { checkProof, problemsOf, type SettingProofs, settingsOf } from './settings/setting-proof.ts';
import { createStoreProofs } from './settings/store-settings.ts';
import { TRACE_PROOFS } from './settings/trace-settings.ts';
import { createTrainProofs } from './settings/train-settings.ts';
import { createVerifierProofs } from './settings/verifier-settings.ts';

const SHOWN_IN = 'test/api/library-practice.test.ts';
const SESSIONS = 'test/learn/practice/practice-settings.test.ts';
const SNAPSHOTS = {
  shownIn: 'test/served/served-work-trees.test.ts',
  title:
    'keeps commit, diff and small untracked files of a git work tree when they are on, and nothing when they are off',
};
const SCHEDULED = {
  shownIn: SESSIONS,
  title: 'begins by itself never (off), when it costs nothing (free), or always (on)',
};
const AGENT = {
  shownIn: 'test/served/served-practice-programs.test.ts',
  title: 'are attempted by the agent of the config',
};
const PRACTICE: SettingProofs = {
  'practice.groupSize': { shownIn: SHOWN_IN, title: 'takes groupSize and temperature from the config' },
  'practice.temperature': { shownIn: SHOWN_IN, title: 'takes groupSize and temperature from the config' },
  ...Object.fromEntries(
    ['usd', 'tokens', 'calls', 'minutes'].map((name) => [
      `practice.budget.${name}`,
      { shownIn: SHOWN_IN, title: 'stops at practice.budget.%s of the config' },
    ]),
  ),
  'practice.scheduled=off': SCHEDULED,
  'practice.scheduled=free': SCHEDULED,
  'practice.scheduled=on': SCHEDULED,
  ...Object.fromEntries(
    ['model', 'claude-code', 'codex', 'opencode', 'pi', 'openclaw'].flatMap((name) =>
      ['practice.agent', 'practice.agent[]'].map((setting) => [`${setting}=${name}`, AGENT]),
    ),
  ),
  'practice.tasks[]': { shownIn: SESSIONS, title: 'finds the tasks of the files that the config names' },
  'practice.taskMinutes': { shownIn: SESSIONS, title: 'gives each attempt the minutes of the config' },
  ...Object.fromEntries(
    ['pairs', 'repeats', 'days'].map((name) => [
      `practice.trials.${name}`,
      { shownIn: SESSIONS, title: 'tests a lesson with the pairs, repeats and days of the config' },
    ]),
  ),
  'practice.snapshots=true': SNAPSHOTS,
  'practice.snapshots=false': SNAPSHOTS,
};
const ROUTER = (title: string) => ({ shownIn: 'test/served/router.test.ts', title });
const TIERS = ROUTER(
  'answers instar/auto with the strong model while nothing is measured, and lists the name (cheap, strong)',
);
const ROUTED = ROUTER(
  'leaves requests that name a model alone with for: auto, and routes them with for: all',
);
const ROUTER_PROOFS: SettingProofs = {
  'router.cheap': TIERS,
  'router.strong': TIERS,
  'router.for=auto': ROUTED,
  'router.for=all': ROUTED,
  'router.usdPerDay': ROUTER('chooses the cheap model more often the nearer the day is to usdPerDay'),
};
/** For editors, which read the file that it names. */
const FOR_EDITORS = '$schema';

const stage = createStage();
const proofs: SettingProofs = {
  ...createGatewayProofs(stage),
  ...createProviderProofs(stage),
  ...createLibraryProofs(stage),
  ...createLearnProofs(stage),
  ...createVerifierProofs(stage),
  ...createScheduleProofs(stage),
  ...createStoreProofs(stage),
  ...createPriceProofs(),
  ...PRACTICE,
  ...ROUTER_PROOFS,
  ...TRACE_PROOFS,
};
afterAll(() => stage.close());

describe('every setting', () => {
  it('is shown to act, or is announced as one that does not (a new key without a proof fails here)', () => {
    const shown = [...Object.keys(proofs), ...Object.keys(createTrainProofs(stage)), FOR_EDITORS];
    expect([...shown].sort()).toEqual([...settingsOf(configJsonSchema())].sort());
  });

  it.each(Object.entries(proofs))('%s', checkProof, 60_000);
});

describe('a setting that cannot act', () => {
  it.each([
    [
      { store: { url: 'mysql://me@db/instar' } },
      'store.url: must be "sqlite", or the URL of a PostgreSQL: postgres://USER:PASSWORD@HOST/DATABASE',
    ],
    [
      { learn: { verifiers: [{ domain: 'code', kind: 'command', command: 'make test' }] } },
      'learn.verifiers[0].kind: cannot be "command" yet: it checks the workspace of an attempt, and a recorded turn has none',
    ],
    [
      { learn: { verifiers: [{ domain: 'text', kind: 'comparative' }] } },
      'learn.verifiers[0].kind: cannot be "comparative" yet: it compares several attempts at one task',
    ],
    [
      { learn: { verifiers: [{ domain: 'x', kind: 'nubmer' }] } },
      'learn.verifiers[0].kind: must be one of exact, number, regex, schema, rubric, module',
    ],
    [
      { learn: { verifiers: [{ domain: 'x', kind: 'number', tolerence: 1 }] } },
      'tolerence: is not a setting',
    ],
    [
      { learn: { verifiers: [{ domain: 'x', kind: 'module', file: 'verify.mjs' }] } },
      'must be an absolute path',
    ],
    [
      { schedule: { calendar: { ics: 'a.ics', user: 'ada' } } },
      'user: has no effect here: it belongs to caldav',
    ],
    [{ schedule: { calendar: { ics: 'a.ics', keyEnv: 'K' } } }, 'keyEnv: has no effect here'],
    [
      { router: { cheap: 'ollama/a', strong: 'ollama/a' } },
      'router.cheap: is the same model as router.strong',
    ],
    [{ router: { cheap: 'mini', strong: 'ollama/a' } }, 'router.cheap: must be "provider/model"'],
    [
      { router: { cheap: 'ollama/a', strong: 'nobody/b' } },
      'router.strong: names a provider that is not configured ("nobody")',
    ],
    [
      {
        providers: { far: { wire: 'openai', baseUrl: 'https://far.example/v1' } },
        router: { cheap: 'ollama/a', strong: 'far/b' },
      },
      "router.strong: is of another provider than the other tier, and far is called with the callers' own credentials",
    ],
    [
      { schedule: { calendar: { caldav: 'https://dav.example/c', clientId: 'c' } } },
      'clientId: has no effect here: it belongs to google',
    ],
  ])('is refused with the reason: %j', (input, why) => {
    expect(problemsOf(input)).toContain(why);
  });

  it("does not make the contract's example invalid, and warns of nothing in it", () => {
    expect(checkConfig(interfaceExample, { env: {} }).warnings).toEqual([]);
    expect(checkConfig({}, { env: {} }).warnings).toEqual([]);
  });
});
