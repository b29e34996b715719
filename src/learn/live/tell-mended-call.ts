import { isDeepStrictEqual } from 'node:util';
import { oneLine } from '../plain-text.ts';
import { keywordsOf } from '../words.ts';
import type { MendedCall } from './find-mended-call.ts';
import type { ToolTry } from './live-material.ts';
import { nameExperience } from './name-experience.ts';
import { readInput, type ToolInput } from './read-input.ts';

const LONGEST_CODE = 160;

export interface ToldCall {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly keywords: readonly string[];
}

/** A corrected call as a note; undefined when the calls are too long to quote. */
export function tellMendedCall({ failed, worked }: MendedCall): ToldCall | undefined {
  const before = readInput(failed.input);
  const after = readInput(worked.input);
  const wrong = code(written(failed, before));
  const right = code(written(worked, after));
  const changed = describeDifference(before, after);
  if (wrong === undefined || right === undefined || changed === undefined || wrong === right)
    return undefined;
  const error = failed.digest === undefined ? undefined : code(failed.digest);
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

const written = ({ tool }: ToolTry, input: ToolInput): string =>
  input.kind === 'command' ? input.words.join(' ') : `${tool} ${JSON.stringify(input.fields)}`;

/** As inline code; undefined for text that does not fit. */
function code(text: string): string | undefined {
  const line = oneLine(text);
  if (line === '' || line.length > LONGEST_CODE || line.includes('``')) return undefined;
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
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
    return [change === undefined ? undefined : `${code(name) ?? 'a field'}: ${change}`];
  });
  return changes.length === 0 || changes.includes(undefined) ? undefined : changes.join('; ');
}

function describeReplacement(old: string, now: string, otherwise: string): string | undefined {
  if (old === '' && now === '') return otherwise;
  const [gone, come] = [code(old), code(now)];
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
