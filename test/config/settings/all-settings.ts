import { ALERT_PROOFS } from './alert-settings.ts';
import { createGatewayProofs } from './gateway-settings.ts';
import type { Stage } from './instar-here.ts';
import { createLearnProofs } from './learn-settings.ts';
import { createLibraryProofs } from './library-settings.ts';
import { createPriceProofs } from './price-settings.ts';
import { createProviderProofs } from './provider-settings.ts';
import { createScheduleProofs } from './schedule-settings.ts';
import type { SettingProofs } from './setting-proof.ts';
import { createStoreProofs } from './store-settings.ts';
import { TRACE_PROOFS } from './trace-settings.ts';
import { createVerifierProofs } from './verifier-settings.ts';

const SHOWN_IN = 'test/api/library-practice.slow.ts';
const SESSIONS = 'test/learn/practice/practice-settings.test.ts';
const SCHEDULED = {
  shownIn: SESSIONS,
  title: 'begins by itself never (off), when it costs nothing (free), or always (on)',
};
const AGENT = {
  shownIn: 'test/served/served-practice-programs.slow.ts',
  title: 'are attempted by the agent of the config, %s, through the gateway',
};
const PRACTICE: SettingProofs = {
  'practice.groupSize': { shownIn: SHOWN_IN, title: 'takes groupSize and temperature from the config' },
  'practice.temperature': { shownIn: SHOWN_IN, title: 'takes groupSize and temperature from the config' },
  ...Object.fromEntries(
    ['usd', 'tokens'].map((name) => [
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
};
const ROUTER = (title: string) => ({ shownIn: 'test/served/router.slow.ts', title });
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
/** What shows that each setting acts, but those of training. */
export const createProofs = (stage: Stage): SettingProofs => ({
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
  ...ALERT_PROOFS,
});
