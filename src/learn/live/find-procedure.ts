import { essence } from '../../evidence/signals/tool-signals.ts';
import { findCorrectedCall } from './find-corrected-call.ts';
import type { LiveMaterial, SuccessfulTurn, ToolAttempt } from './live-material.ts';

/** The work of one matter, from its first call to the call that shows its result. */
export interface Procedure {
  /** The calls that were necessary, in order: those that worked and changed something, each once. */
  readonly steps: readonly ToolAttempt[];
  /** Ways that were tried, failed, and never worked. */
  readonly failed: readonly ToolAttempt[];
  /** The call whose outcome proves the result. Without one only the person's reaction speaks for it. */
  readonly proof?: ToolAttempt;
  /** The requests that somebody who knows the steps does not need: those that only looked around or failed. */
  readonly saved: number;
}

const MOST_ATTEMPTS = 400;
const FEWEST_CALLS = 5;
const FEWEST_SAVED = 2;

type ProcedureMaterial = Pick<LiveMaterial, 'cases' | 'successes' | 'tries'>;

/**
 * The newest work of a session that is worth repeating. The agent struggled, which shows in a way that failed and was left for
 * another; or the work took five calls and more, and two and more requests would be saved by knowing them. Its result was
 * proven, or the person was content with it. Routine work, outages and what failed once and then worked unchanged are neither.
 */
export function findProcedure(material: ProcedureMaterial): Procedure | undefined {
  const matters = new Map<number, ToolAttempt[]>();
  for (const attempt of (material.tries ?? []).slice(-MOST_ATTEMPTS)) {
    if (attempt.isOutage) continue;
    const list = matters.get(attempt.matter ?? 0) ?? [];
    list.push(attempt);
    matters.set(attempt.matter ?? 0, list);
  }
  const found = [...matters.values()].flatMap((tries) => readProcedure(tries, material) ?? []);
  return found.findLast(({ proof }) => proof !== undefined) ?? found.at(-1);
}

function readProcedure(
  tries: readonly ToolAttempt[],
  { cases, successes }: ProcedureMaterial,
): Procedure | undefined {
  const proof = findProof(tries, cases);
  const last = tries.at(-1);
  if (proof === undefined && (last === undefined || !isContent(tries, successes))) return undefined;
  const done = proof === undefined ? tries : tries.slice(0, tries.indexOf(proof) + 1);
  const worked = new Set(tries.flatMap((one) => (one.isOk ? [keyOf(one)] : [])));
  const steps = lastOfEach(done.filter(({ isOk, isLook }) => isOk && isLook !== true));
  const failed = lastOfEach(
    done.filter((one) => !one.isOk && one.isLook !== true && !worked.has(keyOf(one))),
  );
  const used = new Set(steps.map(({ turn }) => turn));
  const saved = new Set(done.map(({ turn }) => turn).filter((turn) => !used.has(turn))).size;
  const isStruggle = failed.length > 0 && steps.length > 0;
  const isLong = steps.length >= FEWEST_CALLS && saved >= FEWEST_SAVED;
  if (!isStruggle && !isLong) return undefined;
  return { steps, failed, saved, ...(proof === undefined ? {} : { proof }) };
}

/** The last checks that passed, or a command that worked in place of a failed one; nothing may have failed after it. */
function findProof(
  tries: readonly ToolAttempt[],
  cases: ProcedureMaterial['cases'],
): ToolAttempt | undefined {
  const corrected = findCorrectedCall({ cases, tries })?.worked;
  const proof =
    tries.findLast((one) => one.proof === 'checks passed') ??
    (corrected?.proof === undefined ? undefined : corrected);
  const rest = proof === undefined ? [] : tries.slice(tries.indexOf(proof) + 1);
  return rest.some(({ isOk, isLook }) => !isOk && isLook !== true) ? undefined : proof;
}

/** The person said so, about an answer of this work or of one that came right after it. */
function isContent(tries: readonly ToolAttempt[], successes: readonly SuccessfulTurn[]): boolean {
  const tasks = new Set(tries.map(({ task }) => task));
  const turns = new Set(tries.map(({ turn }) => turn));
  return successes.some(
    ({ turn, task, signals = [] }) =>
      (turns.has(turn) || tasks.has(task)) &&
      signals.some(
        ({ name, source }) => name === 'user-thanked' || source === 'person' || source === 'verifier',
      ),
  );
}

/** Edits of one file are one step; so are calls that differ only in blanks and commentary. */
const keyOf = ({ tool, input, path }: ToolAttempt): string =>
  path === undefined ? essence(tool, input) : `edit ${path}`;

const lastOfEach = (tries: readonly ToolAttempt[]): readonly ToolAttempt[] => {
  const byKey = new Map<string, ToolAttempt>();
  for (const one of tries) {
    byKey.delete(keyOf(one));
    byKey.set(keyOf(one), one);
  }
  return [...byKey.values()];
};
