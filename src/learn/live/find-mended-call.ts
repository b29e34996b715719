import { isDeepStrictEqual } from 'node:util';
import type { LiveMaterial, ToolTry } from './live-material.ts';
import { readInput, type ToolInput } from './read-input.ts';

/** A call that failed, and a later call with other arguments that succeeded in its place. */
export interface MendedCall {
  readonly failed: ToolTry;
  readonly worked: ToolTry;
}

type Command = ToolInput & { readonly kind: 'command' };

const LEAST_SIMILARITY = 0.5;
const MOST_ATTEMPTS = 400;
/** A read-only call that reads something else the next time corrects nothing. */
const READ_ONLY: ReadonlySet<string> = new Set(
  `cat ls dir head tail less more grep rg ag find fd stat file wc tree pwd which type echo read view list glob search
  fetch get open browse show describe query lookup`.split(/\s+/),
);
/** An operand or a flag may change, a subcommand may not: `git pull` is no corrected `git push`. */
const SUBCOMMAND = /^[a-z][a-z-]*$/;

/** The most similar such pair of a session: the failed call's turn must be appraised as a failure, and the same call must never have succeeded. */
export function findMendedCall({ cases, tries = [] }: LiveMaterial): MendedCall | undefined {
  const failures = new Set(cases.map(({ turn }) => turn));
  const read = tries.slice(-MOST_ATTEMPTS).map((one) => {
    const input = readInput(one.input);
    return { one, input, key: JSON.stringify([one.tool, input]) };
  });
  const good = new Set(read.flatMap(({ one, key }) => (one.isOk ? [key] : [])));
  let best: (MendedCall & { readonly similarity: number }) | undefined;
  for (const [index, { one: failed, input, key }] of read.entries()) {
    if (failed.isOk || good.has(key) || !failures.has(failed.turn) || isReadOnly(failed.tool, input))
      continue;
    for (const { one: worked, input: other } of read.slice(index + 1)) {
      if (!worked.isOk || worked.tool !== failed.tool) continue;
      if (worked.turn !== failed.turn && failures.has(worked.turn)) continue;
      const similarity = similarityOf(input, other);
      if (similarity >= LEAST_SIMILARITY && similarity > (best?.similarity ?? 0))
        best = { failed, worked, similarity };
    }
  }
  return best && { failed: best.failed, worked: best.worked };
}

function isReadOnly(tool: string, input: ToolInput): boolean {
  if (input.kind === 'command') return READ_ONLY.has(input.program);
  const words = tool
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some((word) => READ_ONLY.has(word));
}

/** 0 to 1; below 0.5 the calls are unrelated. */
function similarityOf(failed: ToolInput, worked: ToolInput): number {
  if (failed.kind === 'command' && worked.kind === 'command') {
    const isRelated =
      failed.program !== '' &&
      worked.program !== '' &&
      (failed.program.includes(worked.program) ||
        worked.program.includes(failed.program) ||
        worked.words.includes(failed.program) ||
        failed.words.includes(worked.program));
    if (!isRelated || !keepsSubcommand(failed, worked)) return 0;
    return overlap(tokensOf(failed.words.join(' ')), tokensOf(worked.words.join(' ')));
  }
  if (failed.kind !== 'fields' || worked.kind !== 'fields') return 0;
  const names = new Set([...Object.keys(failed.fields), ...Object.keys(worked.fields)]);
  const same = [...names].filter((name) => isDeepStrictEqual(failed.fields[name], worked.fields[name]));
  return same.length === names.size ? 0 : same.length / names.size;
}

function keepsSubcommand({ words, program }: Command, worked: Command): boolean {
  const subcommand = words[words.findIndex((word) => word.split('/').at(-1) === program) + 1] ?? '';
  const kept = tokensOf(worked.words.join(' '));
  return !SUBCOMMAND.test(subcommand) || [...tokensOf(subcommand)].every((token) => kept.has(token));
}

const tokensOf = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((token) => b.has(token)).length;
  const isSame = shared === a.size && shared === b.size;
  // The same words in another order or with other punctuation are the closest possible pair.
  return a.size + b.size === 0 ? 0 : isSame ? 1 : (2 * shared) / (a.size + b.size);
}
