import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Workspace } from '../../../../src/agent/sandbox/workspace.ts';
import type { WorkspaceEntry } from '../../../../src/agent/sandbox/workspace-files.ts';
import { codeOf, SandboxError } from '../../../../src/agent/sandbox/workspace-limits.ts';
import { createRandom } from '../../../../src/base/random.ts';
import { asArray, isObject, type Json } from '../../../../src/core/json.ts';
import type { TaskVerdict } from '../../suite.ts';
import { fill, pick } from '../draw.ts';
import { checkRules, type HouseRule } from '../rules/rule-set.ts';
import type { Split } from '../world.ts';
import { jsonPathOf } from './draft.ts';
import type { Keys, Leaf, Plan } from './plan.ts';
import type { SplitWordings } from './scene.ts';
import { tellClock, tellToday } from './spoken-time.ts';
import {
  agrees,
  type CreatedDocument,
  type EditedFile,
  type Match,
  observeWork,
  valueAt,
  type Work,
} from './work.ts';

/** The verdict on the texts of a workspace; a pure function. */
export function judgeWork(
  plan: Plan,
  rules: readonly HouseRule[],
  texts: ReadonlyMap<string, string>,
): TaskVerdict {
  const work = observeWork(plan, texts);
  const faults = findFaults(work);
  const broken = checkRules(rules, work);
  return {
    status: 'ok',
    passed: faults.length === 0 && broken.size === 0,
    isDone: faults.length === 0,
    broken: [...broken.keys()].map(({ id }) => id),
    reasons: [
      ...faults.map((fault) => ABOUT_TASK + fault),
      ...[...broken].flatMap(([{ id }, why]) => why.map((reason) => `${id}: ${reason}`)),
    ],
  };
}

/**
 * The faults in the work apart from house rules; empty when the task was done. A fault describes what was found, not what should be
 * done, so that a learner does not take it for a rule.
 */
const findFaults = (work: Work): readonly string[] => [
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
  const changed = edit.changes.map(({ at }) => jsonPathOf(at));
  const lost = lostOf(before, now, [], changed).map(
    (at) => `I saw a change of ${at} in ${edit.path} that nobody had asked for`,
  );
  const grown = edit.changes.flatMap(({ at }) => {
    const adds = edit.changes.filter(
      (change) => 'adds' in change && jsonPathOf(change.at) === jsonPathOf(at),
    ).length;
    const wanted = asArray(valueAt(before, at)).length + adds;
    return adds > 0 && asArray(valueAt(now, at)).length !== wanted
      ? [
          `I saw ${asArray(valueAt(now, at)).length} entries in ${jsonPathOf(at) || 'all'} of ${edit.path}, ${wanted} was right`,
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

/** In the task's notation, never in that of the house rules. */
function tellLeaf(wanted: Leaf): string {
  if (wanted.is === 'time') return `${tellToday(wanted.at, true)} at ${tellClock(wanted.at)}`;
  if (wanted.is === 'date') return tellToday(wanted.at, true);
  return wanted.is === 'text' ? JSON.stringify(wanted.text) : String(wanted.number);
}

/** The places that changed although the task did not ask for it. Additions do not count. */
function lostOf(
  before: Json | undefined,
  now: Json | undefined,
  keys: Keys,
  changed: readonly string[],
): readonly string[] {
  const here = jsonPathOf(keys);
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

/** The prefix of reasons that concern the task itself; the others begin with a rule's id. */
const ABOUT_TASK = 'task: ';

const PRAISE: SplitWordings = {
  train: ['That is right, thank you.', 'Good, just as it should be.'],
  gate: ['Thanks, that is fine.', 'All in order.'],
  report: ['Perfect, I can use it as it is.', 'Well done, that is all I wanted.'],
};
const UNDONE: SplitWordings = {
  train: ['Not all of {task} is there yet:', 'There are mistakes in {task}:'],
  gate: ['{task} is not what I asked for:', 'Look at {task} again:'],
  report: ['In {task} some things are off:', 'I cannot take {task} as it is:'],
};
const MOST_FAULTS = 3;

interface Telling {
  readonly plan: Plan;
  readonly rules: readonly HouseRule[];
  readonly split: Split;
  readonly seed: string;
}

/** The user's feedback: the faults in the work, then the broken house rules. */
export function tellVerdict(verdict: TaskVerdict, { plan, rules, split, seed }: Telling): string {
  if (verdict.status !== 'ok') return 'I could not look at it just now.';
  const random = createRandom(`${seed}/feedback/${plan.task}`);
  const praise = pick(random, PRAISE[split]);
  const undone = fill(pick(random, UNDONE[split]), { task: plan.task });
  if (verdict.passed) return praise;
  const faults = verdict.reasons.filter((reason) => reason.startsWith(ABOUT_TASK));
  const told = rules.map((rule) => [rule.id, rule.tell(plan, split, random)] as const);
  const wrong = faults.slice(0, MOST_FAULTS).map((fault) => fault.slice(ABOUT_TASK.length));
  return [
    ...(wrong.length === 0 ? [] : [`${undone} ${wrong.join('; ')}.`]),
    ...told.filter(([id]) => verdict.broken.includes(id)).map(([, said]) => said),
  ].join('\n');
}

/** Larger files are ignored: no task needs this much. */
const LARGEST = 256 * 1024;

/** The texts of all files directly in these folders, by path. `.` is the workspace itself. */
export async function takeSnapshot(
  workspace: Workspace,
  folders: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const folder of new Set(folders)) {
    const entries = await workspace.list(folder).catch(noneIfMissing);
    for (const { name, kind, bytes } of entries)
      if (kind === 'file' && bytes <= LARGEST) {
        const file = path.posix.join(folder, name);
        texts.set(file, await workspace.read(file));
      }
  }
  return texts;
}

/** A missing folder is empty; any other error is a failure of the check, not of the work. */
function noneIfMissing(error: unknown): readonly WorkspaceEntry[] {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR' || error instanceof SandboxError) return [];
  throw error;
}
