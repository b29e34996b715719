import type { PresenceSource } from '../../core/presence.ts';
import type { SleepRule } from './parse-sleep.ts';
import { createSleepWindows, type SleepWindows } from './sleep-windows.ts';
import { systemZone } from './system-zone.ts';
import { clockText, openZone } from './zone.ts';

export interface SleepSetting {
  readonly rules: readonly SleepRule[];
  /** Asked each time, for machines that travel; the system's zone unless told. */
  readonly zone?: () => string;
}

const NAME = 'sleep';

/** Away within the hours a person gave; outside of them it says nothing, for to be awake is not to be there. */
export function createSleepSource({ rules, zone = systemZone }: SleepSetting): PresenceSource {
  const unknown = (why: string) => ({ source: NAME, state: 'unknown', why }) as const;
  let opened: SleepWindows | undefined;

  const windowsNow = (): SleepWindows | undefined => {
    const name = zone();
    if (opened?.zone.name === name) return opened;
    const found = openZone(name);
    opened = found === undefined ? undefined : createSleepWindows(rules, found);
    return opened;
  };

  return {
    name: NAME,
    sees: 'The hours you said you sleep; not whether you do.',
    async read(now) {
      if (rules.length === 0) return unknown('no sleep hours are set');
      try {
        const windows = windowsNow();
        if (windows === undefined) return unknown('the time zone is not known here');
        const until = windows.nextChange(now);
        const text = until === undefined ? undefined : clockText(windows.zone, until);
        if (windows.isInside(now)) {
          const why = text === undefined ? 'sleep hours without an end' : `sleep hours until ${text}`;
          return { source: NAME, state: 'away', why, ...(until === undefined ? {} : { until }) };
        }
        if (until === undefined) return unknown('no sleep hours within four weeks');
        return { ...unknown(`sleep hours begin at ${text}`), until };
      } catch {
        return unknown('the clock shows a time that no date can hold');
      }
    },
  };
}
