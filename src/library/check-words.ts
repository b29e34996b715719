import { findHidden } from './find-hidden.ts';

interface WordRules {
  readonly max: number;
  readonly mayBeEmpty?: boolean;
  readonly mayHaveLines?: boolean;
}

/** Why a value is not readable text within the limits, and how to fix it; undefined when it is. */
export function checkWords(label: string, value: unknown, rules: WordRules): string | undefined {
  if (typeof value !== 'string') return `${label} must be text`;
  if (!rules.mayBeEmpty && value.trim() === '') return `${label} must not be empty`;
  if (value.length > rules.max)
    return `${label} has ${value.length} characters: shorten it to ${rules.max} or fewer`;
  if (!rules.mayHaveLines && value.includes('\n')) return `${label} must be one line: remove the line breaks`;
  const hidden = findHidden(value);
  return hidden && `${label} contains ${hidden}, which is invisible to a reader: remove it`;
}

/** Why a value is not a list of at most `max` members that all pass; undefined when it is. */
export function checkList(
  label: string,
  value: unknown,
  max: number,
  check: (label: string, member: unknown) => string | undefined,
): string | undefined {
  if (!Array.isArray(value)) return `${label} must be a list`;
  if (value.length > max) return `${label} has ${value.length} members: keep at most ${max}`;
  for (const [index, member] of value.entries()) {
    const why = check(`${label}[${index}]`, member);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Why a value is not one of a closed list of words; undefined when it is. */
export function checkChoice(label: string, value: unknown, choices: readonly string[]): string | undefined {
  return typeof value === 'string' && choices.includes(value)
    ? undefined
    : `${label} must be one of ${choices.join(', ')}`;
}
