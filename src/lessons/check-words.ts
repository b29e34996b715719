const PRINTABLE_ASCII = /^[\t\n\u0020-\u007e]*$/;

/**
 * Characters that a person does not see, or sees in another place than a model does: control characters except line break
 * and tab, lone surrogates, line separators, bidi marks and all default-ignorable characters (zero-width spaces, tags,
 * fillers). A zero-width joiner between two pictographs and a variation selector after one are parts of emoji and allowed.
 */
const HIDDEN = new RegExp(
  [
    '[^\\P{Cc}\\t\\n]',
    '[\\p{Cs}\\p{Zl}\\p{Zp}\\ufff9-\\ufffb]',
    '[^\\P{Default_Ignorable_Code_Point}\\u200d\\ufe0e\\ufe0f]',
    '(?<![\\p{Extended_Pictographic}\\ufe0f\\u{1f3fb}-\\u{1f3ff}])\\u200d',
    '\\u200d(?!\\p{Extended_Pictographic})',
    '(?<!\\p{Emoji})[\\ufe0e\\ufe0f]',
  ].join('|'),
  'u',
);

/** The first hidden character of a text, as `U+202E`; undefined when there is none. */
function findHiddenCharacter(text: string): string | undefined {
  if (PRINTABLE_ASCII.test(text)) return undefined;
  const found = HIDDEN.exec(text)?.[0];
  if (found === undefined) return undefined;
  return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

interface WordRules {
  readonly max: number;
  readonly mayBeEmpty?: boolean;
  readonly mayHaveLines?: boolean;
}

/** Why a value is not readable text within the limits, and how to fix it; undefined when it is. */
export function checkString(label: string, value: unknown, rules: WordRules): string | undefined {
  if (typeof value !== 'string') return `${label} must be text`;
  if (!rules.mayBeEmpty && value.trim() === '') return `${label} must not be empty`;
  if (value.length > rules.max)
    return `${label} has ${value.length} characters: shorten it to ${rules.max} or fewer`;
  if (!rules.mayHaveLines && value.includes('\n')) return `${label} must be one line: remove the line breaks`;
  const hidden = findHiddenCharacter(value);
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
