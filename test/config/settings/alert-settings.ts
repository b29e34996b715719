import { ALERT_EVENTS } from '../../../src/core/alert.ts';
import type { SettingProofs } from './setting-proof.ts';

const SERVED = (title: string) => ({ shownIn: 'test/served/served-alerts.slow.ts', title });
const TOLD = SERVED(
  'tell once, signed, of 80 % of a budget and of a decision, without words of people; a restart tells nothing again',
);
const HELD = SERVED(
  'are held in quiet hours and sent together after them, without those that are not among its events',
);

/** Alerts need a receiver and a daemon. */
export const ALERT_PROOFS: SettingProofs = {
  'log.alerts.url': TOLD,
  'log.alerts.secretEnv': TOLD,
  'log.alerts.quiet': HELD,
  'log.alerts.content=true': HELD,
  'log.alerts.content=false': HELD,
  ...Object.fromEntries(ALERT_EVENTS.map((event) => [`log.alerts.events[]=${event}`, HELD])),
};
