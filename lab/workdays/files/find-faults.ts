import { isDeepStrictEqual } from 'node:util';
import { asArray, isObject, type Json } from '../../../src/core/json.ts';
import { agrees, type Match } from './match-values.ts';
import type { Keys, Leaf } from './plan.ts';
import { pathOf } from './steps.ts';
import { tellClock, tellToday } from './tell-moment.ts';
import { type CreatedDocument, type EditedFile, valueAt, type Work } from './work.ts';

/**
 * What is not as the task wanted it, rules of the house aside; nothing when the task was done. Each says what is the case, not
 * what ought to be: that holds for this task only, and whoever hears it should not take it for a rule.
 */
export const findFaults = (work: Work): readonly string[] => [
  ...work.created.flatMap(createdFaults),
  ...work.edited.flatMap(editedFaults),
];

function createdFaults({ wanted, found, matches }: CreatedDocument): readonly string[] {
  const where = `${wanted.folder}/${wanted.name ?? ''}`;
  if (found === undefined) return [`I saw no ${wanted.about.join(' ')} in ${where}`];
  if (found.members === undefined)
    return [`I saw no readable ${wanted.format.toUpperCase()} in ${found.path}`];
  return matches.flatMap((match) => differing(match, found.path));
}

function editedFaults({ edit, before, now, matches }: EditedFile): readonly string[] {
  if (now === undefined) return [`I saw no readable ${edit.path}`];
  const changed = edit.changes.map(({ at }) => pathOf(at));
  const lost = lostOf(before, now, [], changed).map(
    (at) => `I saw a change of ${at} in ${edit.path} that nobody had asked for`,
  );
  const grown = edit.changes.flatMap(({ at }) => {
    const adds = edit.changes.filter((change) => 'adds' in change && pathOf(change.at) === pathOf(at)).length;
    const wanted = asArray(valueAt(before, at)).length + adds;
    return adds > 0 && asArray(valueAt(now, at)).length !== wanted
      ? [
          `I saw ${asArray(valueAt(now, at)).length} entries in ${pathOf(at) || 'all'} of ${edit.path}, ${wanted} was right`,
        ]
      : [];
  });
  return [...matches.flatMap((match) => differing(match, edit.path)), ...lost, ...new Set(grown)];
}

const differing = (match: Match, path: string): readonly string[] => {
  if (agrees(match)) return [];
  const given = tellLeaf(match.wanted);
  if (match.found === undefined) return [`I saw no ${match.where} in ${path}, I had said ${given}`];
  return [
    `I saw ${JSON.stringify(match.found).slice(0, 80)} as ${match.where} in ${path}, I had said ${given}`,
  ];
};

/** As the task gave it, never as the house writes it. */
function tellLeaf(wanted: Leaf): string {
  if (wanted.is === 'time') return `${tellToday(wanted.at, true)} at ${tellClock(wanted.at)}`;
  return wanted.is === 'text' ? JSON.stringify(wanted.text) : String(wanted.number);
}

/** Where something that nobody asked to change is no longer as it was. What was added is nobody's loss. */
function lostOf(
  before: Json | undefined,
  now: Json | undefined,
  keys: Keys,
  changed: readonly string[],
): readonly string[] {
  const here = pathOf(keys);
  if (Array.isArray(before)) {
    if (!Array.isArray(now)) return [here];
    if (changed.includes(here))
      return before.every((item) => now.some((other) => isDeepStrictEqual(item, other))) ? [] : [here];
    return before.flatMap((item, index) => lostOf(item, now[index], [...keys, index], changed));
  }
  if (changed.includes(here)) return [];
  if (!isObject(before)) return isDeepStrictEqual(before, now) ? [] : [here];
  if (!isObject(now)) return [here];
  return Object.entries(before).flatMap(([key, value]) => lostOf(value, now[key], [...keys, key], changed));
}
