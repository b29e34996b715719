import { asArray, asNumber, asObject, asString, type Json } from '../../core/json.ts';
import { TASK_ORIGINS, type TaskOrigin } from '../../core/practice.ts';

/** What tasks of one origin brought: lessons that went on trial, for the tokens of their attempts. */
export interface OriginYield {
  readonly origin: TaskOrigin;
  readonly tokens: number;
  /** A lesson that rests on tasks of several origins is shared between them. */
  readonly learned: number;
}

/** By the units of a run. `originOf` knows the tasks of its session. */
export function yieldsByOrigin(
  run: string,
  units: ReadonlyMap<string, Json>,
  originOf: (task: string) => TaskOrigin | undefined,
): readonly OriginYield[] {
  const tokens = new Map<TaskOrigin, number>();
  const learned = new Map<TaskOrigin, number>();
  const add = (to: Map<TaskOrigin, number>, origin: TaskOrigin | undefined, amount: number): void => {
    if (origin !== undefined) to.set(origin, (to.get(origin) ?? 0) + amount);
  };
  for (const [unit, value] of units) {
    const [kind = '', step = ''] = unit.split('/');
    const { task, used, proposals } = asObject(value);
    if (kind === 'attempt') add(tokens, originOf(asString(task) ?? ''), asNumber(asObject(used).tokens) ?? 0);
    if (kind !== 'proposals') continue;
    for (const [place, proposal] of asArray(proposals).entries()) {
      const { outcome } = asObject(units.get(`judged/${step}/${place}`));
      if (outcome !== 'trial' && outcome !== 'live') continue;
      // Groups of recorded work cost no attempt and are in no list.
      const groups = asArray(asObject(proposal).groups).map(String);
      const own = groups.flatMap((id) => originOf(id.slice(`${run}/${step}/`.length)) ?? []);
      for (const origin of own) add(learned, origin, 1 / own.length);
    }
  }
  return TASK_ORIGINS.flatMap((origin) =>
    tokens.has(origin)
      ? [{ origin, tokens: tokens.get(origin) ?? 0, learned: learned.get(origin) ?? 0 }]
      : [],
  );
}

/** Tokens whose yield is taken to be that of all origins together: a few attempts prove nothing. */
const PRIOR_TOKENS = 200_000;
const LEAST = 0.5;
const MOST = 1.5;

/** How much an origin pays compared with all of them: 1 at first, between a half and one and a half later. */
export function payOf(origin: TaskOrigin, all: readonly OriginYield[]): number {
  const sum = (of: (one: OriginYield) => number, some: readonly OriginYield[]): number =>
    some.reduce((total, one) => total + of(one), 0);
  const own = all.filter((one) => one.origin === origin);
  const mean =
    sum(({ learned }) => learned, all) /
    Math.max(
      1,
      sum(({ tokens }) => tokens, all),
    );
  if (mean === 0) return 1;
  const rate =
    (sum(({ learned }) => learned, own) + mean * PRIOR_TOKENS) /
    (sum(({ tokens }) => tokens, own) + PRIOR_TOKENS);
  return Math.min(MOST, Math.max(LEAST, rate / mean));
}
