import type { JsonObject } from '../../core/json.ts';
import type { Records } from '../../core/records.ts';
import { suggestWindows } from '../../schedule/suggest/suggest-windows.ts';
import { systemZone } from '../../schedule/windows/system-zone.ts';
import { recordedActivity } from './recorded-activity.ts';

/** Quiet hours that the record suggests, as `schedule.sleep` takes them, with the evidence. Sets nothing. */
export async function suggestFromRecord(records: Records, now: number): Promise<JsonObject> {
  const activity = await recordedActivity(records, now);
  const suggestion = suggestWindows({ activity, zone: systemZone(), now });
  const { days, weeks } = suggestion;
  const seen = { turns: activity.length, days, weeks };
  if (suggestion.kind === 'nothing') return { ...seen, why: suggestion.why, evidence: [] };
  const { text, windows, zone } = suggestion;
  return {
    ...seen,
    zone,
    sleep: text,
    setting: { schedule: { sleep: text } },
    evidence: windows.map(
      ({ text: hours, evidence }) =>
        `${hours}: ${evidence.quiet} of ${evidence.hours} hours seen were quiet (${percent(evidence.low)} to ${percent(evidence.high)} of them, as far as so many can tell)`,
    ),
  };
}

const percent = (share: number): string => `${Math.floor(100 * share)} %`;
