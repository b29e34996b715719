import { isDeepStrictEqual } from 'node:util';
import type { LiveMaterial, ToolTry } from './live-material.ts';
import { readInput, type ToolInput } from './read-input.ts';

/** A call that failed, and the one that did its work later with other arguments. */
export interface MendedCall {
  readonly failed: ToolTry;
  readonly worked: ToolTry;
}

type Command = ToolInput & { readonly kind: 'command' };

const NEAREST = 0.5;
const MOST_TRIES = 400;
/** One that only looks at something looked elsewhere the next time: that mends nothing. */
const LOOKING: ReadonlySet<string> = new Set(
  `cat ls dir head tail less more grep rg ag find fd stat file wc tree pwd which type echo read view list glob search
  fetch get open browse show describe query lookup`.split(/\s+/),
);
/** An operand or a flag can be exchanged, a verb cannot: `git pull` is no better `git push`. */
const VERB = /^[a-z][a-z-]*$/;

/** The nearest such pair of a session: the failure must have been believed to be one, and never have come right as it was. */
export function findMendedCall({ cases, tries = [] }: LiveMaterial): MendedCall | undefined {
  const failures = new Set(cases.map(({ turn }) => turn));
  const read = tries.slice(-MOST_TRIES).map((one) => {
    const input = readInput(one.input);
    return { one, input, key: JSON.stringify([one.tool, input]) };
  });
  const good = new Set(read.flatMap(({ one, key }) => (one.isOk ? [key] : [])));
  let best: (MendedCall & { readonly nearness: number }) | undefined;
  for (const [index, { one: failed, input, key }] of read.entries()) {
    if (failed.isOk || good.has(key) || !failures.has(failed.turn) || isLooking(failed.tool, input)) continue;
    for (const { one: worked, input: other } of read.slice(index + 1)) {
      if (!worked.isOk || worked.tool !== failed.tool) continue;
      if (worked.turn !== failed.turn && failures.has(worked.turn)) continue;
      const nearness = nearnessOf(input, other);
      if (nearness >= NEAREST && nearness > (best?.nearness ?? 0)) best = { failed, worked, nearness };
    }
  }
  return best && { failed: best.failed, worked: best.worked };
}

function isLooking(tool: string, input: ToolInput): boolean {
  if (input.kind === 'command') return LOOKING.has(input.program);
  const words = tool
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some((word) => LOOKING.has(word));
}

/** 0 to 1; below a half they are two different things. */
function nearnessOf(failed: ToolInput, worked: ToolInput): number {
  if (failed.kind === 'command' && worked.kind === 'command') {
    const isKin =
      failed.program !== '' &&
      worked.program !== '' &&
      (failed.program.includes(worked.program) ||
        worked.program.includes(failed.program) ||
        worked.words.includes(failed.program) ||
        failed.words.includes(worked.program));
    if (!isKin || !keepsVerb(failed, worked)) return 0;
    return overlap(tokensOf(failed.words.join(' ')), tokensOf(worked.words.join(' ')));
  }
  if (failed.kind !== 'fields' || worked.kind !== 'fields') return 0;
  const names = new Set([...Object.keys(failed.fields), ...Object.keys(worked.fields)]);
  const same = [...names].filter((name) => isDeepStrictEqual(failed.fields[name], worked.fields[name]));
  return same.length === names.size ? 0 : same.length / names.size;
}

function keepsVerb({ words, program }: Command, worked: Command): boolean {
  const verb = words[words.findIndex((word) => word.split('/').at(-1) === program) + 1] ?? '';
  const kept = tokensOf(worked.words.join(' '));
  return !VERB.test(verb) || [...tokensOf(verb)].every((token) => kept.has(token));
}

const tokensOf = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((token) => b.has(token)).length;
  const isSame = shared === a.size && shared === b.size;
  // The same words in another order or with other signs are as near as can be.
  return a.size + b.size === 0 ? 0 : isSame ? 1 : (2 * shared) / (a.size + b.size);
}
