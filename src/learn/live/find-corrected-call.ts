import { isDeepStrictEqual } from 'node:util';
import { keywordsOf } from '../../text/topic-words.ts';
import { nameExperience } from './draft-experience.ts';
import type { LiveMaterial, ToolAttempt } from './live-material.ts';
import { callText, inlineCode, isReadOnlyCall, readToolInput, type ToolInput } from './tool-input.ts';

/** A call that failed, and a later call with other arguments that succeeded in its place. */
interface CorrectedCall {
  readonly failed: ToolAttempt;
  readonly worked: ToolAttempt;
}

type Command = ToolInput & { readonly kind: 'command' };

const LEAST_SIMILARITY = 0.5;
const MOST_ATTEMPTS = 400;
/** An operand or a flag may change, a subcommand may not: `git pull` is no corrected `git push`. */
const SUBCOMMAND = /^[a-z][a-z-]*$/;

/** The most similar such pair of a session: the failed call's turn must be appraised as a failure, and the same call must never have succeeded. */
export function findCorrectedCall({
  cases,
  tries = [],
  isReported,
}: Pick<LiveMaterial, 'cases' | 'tries' | 'isReported'>): CorrectedCall | undefined {
  const failures = new Set(cases.map(({ turn }) => turn));
  const read = tries.slice(-MOST_ATTEMPTS).map((one) => {
    const input = readToolInput(one.input);
    return { one, input, key: JSON.stringify([one.tool, input]) };
  });
  const good = new Set(read.flatMap(({ one, key }) => (one.isOk ? [key] : [])));
  let best: (CorrectedCall & { readonly similarity: number }) | undefined;
  for (const [index, { one: failed, input, key }] of read.entries()) {
    if (
      failed.isOk ||
      failed.isOutage ||
      good.has(key) ||
      !failures.has(failed.turn) ||
      isReadOnlyCall(failed.tool, input)
    )
      continue;
    for (const { one: worked, input: other } of read.slice(index + 1)) {
      if (!worked.isOk || worked.tool !== failed.tool) continue;
      if (worked.turn !== failed.turn && failures.has(worked.turn)) continue;
      const similarity = callLikeness(input, other);
      if (similarity >= LEAST_SIMILARITY && similarity > (best?.similarity ?? 0))
        best = { failed, worked, similarity };
    }
  }
  if (best !== undefined) return { failed: best.failed, worked: best.worked };
  if (!isReported) return undefined;
  // What was reported as attempts at one task belongs together by that alone: the last failure before what worked in the end.
  const end = read.findLastIndex(({ one }) => one.isOk);
  const lost = read
    .slice(0, Math.max(0, end))
    .findLast(({ one, key }) => !one.isOk && !one.isOutage && !good.has(key));
  const worked = read[end]?.one;
  return lost && worked && { failed: lost.one, worked };
}

/** 0 to 1; below 0.5 the calls are unrelated. */
export function callLikeness(failed: ToolInput, worked: ToolInput): number {
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

/** An experience in its own words, before it has a scope and evidence. */
export interface CallNote {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly keywords: readonly string[];
}

/** A corrected call as a note; undefined when the calls are too long to quote. */
export function describeCorrectedCall({ failed, worked }: CorrectedCall): CallNote | undefined {
  const before = readToolInput(failed.input);
  const after = readToolInput(worked.input);
  const wrong = inlineCode(callText(failed, before));
  const right = inlineCode(callText(worked, after));
  const changed = describeDifference(before, after);
  if (wrong === undefined || right === undefined || changed === undefined || wrong === right)
    return undefined;
  const error = failed.digest === undefined ? undefined : inlineCode(failed.digest);
  const what = before.kind === 'command' ? before.words.join(' ') : failed.tool;
  return {
    name: `when-${nameExperience(what)}-fails`,
    description:
      error === undefined
        ? `When you are about to try ${wrong}.`
        : `When you are about to try ${wrong}, or it fails with ${error}.`,
    content: `${wrong} failed${error === undefined ? '' : ` with ${error}`}; ${right} worked.\n\nWhat changed: ${changed}.`,
    keywords: keywordsOf(`${what} ${failed.digest ?? ''} ${right}`, 8),
  };
}

function describeDifference(before: ToolInput, after: ToolInput): string | undefined {
  if (before.kind === 'command' && after.kind === 'command')
    return describeReplacement(
      without(before.words, after.words).join(' '),
      without(after.words, before.words).join(' '),
      'the order of its parts',
    );
  if (before.kind !== 'fields' || after.kind !== 'fields') return undefined;
  const names = [...new Set([...Object.keys(before.fields), ...Object.keys(after.fields)])];
  const changes = names.flatMap((name) => {
    const [old, now] = [before.fields[name], after.fields[name]];
    if (isDeepStrictEqual(old, now)) return [];
    const value = (one: typeof old): string => (one === undefined ? '' : JSON.stringify(one));
    const change = describeReplacement(value(old), value(now), 'nothing');
    return [change === undefined ? undefined : `${inlineCode(name) ?? 'a field'}: ${change}`];
  });
  return changes.length === 0 || changes.includes(undefined) ? undefined : changes.join('; ');
}

function describeReplacement(old: string, now: string, otherwise: string): string | undefined {
  if (old === '' && now === '') return otherwise;
  const [gone, come] = [inlineCode(old), inlineCode(now)];
  if (old === '') return come && `${come} was added`;
  if (now === '') return gone && `${gone} was left out`;
  return gone && come && `${come} in place of ${gone}`;
}

/** Multiset difference: the words of a list that another list lacks. */
function without(words: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return words.filter((word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
