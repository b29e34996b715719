import { type EffectTime, effectTimeOf } from '../config/reload-rules.ts';
import { parseSettingPath } from '../config/setting-path.ts';
import { describeRestart } from '../config/settings-state.ts';
import { asArray, asString, type JsonObject } from '../core/json.ts';
import { dim, type Printer } from './print.ts';

/** Says what the running Instar uses now, and what changes at its next start. */
export function showReload(printer: Printer, report: JsonObject): void {
  const [applied, restart, warnings] = [report.applied, report.restart, report.warnings].map((list) =>
    asArray(list).flatMap((one) => asString(one) ?? []),
  );
  if (report.running !== true) {
    printer.note(dim('  effect  '), 'at the next start: Instar is not running');
    return;
  }
  for (const [when, paths] of byEffect(applied ?? []))
    printer.note(dim('  effect  '), when === 'now' ? 'in force now' : `in force ${when}`, dim(` (${paths})`));
  if (restart !== undefined && restart.length > 0)
    printer.note({ text: '  restart ', style: 'yellow' }, describeRestart(restart));
  if (report.unchanged === true) printer.note(dim('  effect  '), 'nothing changed: it is in force already');
  for (const warning of warnings ?? []) printer.note({ text: '  key     ', style: 'yellow' }, warning);
}

/** The changed settings, in groups of the same time. */
function byEffect(paths: readonly string[]): ReadonlyMap<EffectTime, string> {
  const groups = new Map<EffectTime, string>();
  for (const path of paths) {
    const when = effectTimeOf(parseSettingPath(path) ?? [path]) ?? 'now';
    groups.set(when, [groups.get(when) ?? [], path].flat().join(', '));
  }
  return groups;
}
