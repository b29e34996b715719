/** Parameters that one can do without: an example shows them, or they are a limit that is hardly ever met. */
const OPTIONAL = ['place', 'longest', 'from'];

/**
 * Whether a text shows the parameters of a rule, as they are or in an example: for rules that do not say themselves what a text must
 * mention. A text that shows a rule by an example alone, without any sign of its parameters, is not recognised.
 */
export function showsParameters(
  parameters: unknown,
  words: Readonly<Record<string, string>>,
): (text: string) => boolean {
  const needed = Object.entries(parameters ?? {}).filter(([name]) => !OPTIONAL.includes(name));
  return (text) =>
    needed.length > 0 &&
    needed.every(
      ([name, value]) => shows(text, value) || (words[name] !== undefined && shows(text, words[name])),
    );
}

function shows(text: string, value: unknown): boolean {
  if (typeof value === 'number') return new RegExp(`(?<!\\d)${value}(?!\\d)`).test(text);
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((one) => shows(text, one));
  if (typeof value !== 'string') return false;
  if (text.includes(value)) return true;
  if (/YYYY|MM|DD/.test(value))
    return masked(text).includes(masked(value.replaceAll(/YYYY|MM|DD|HH|mm|ss/g, digits)));
  const pieces = value.split(/<[^<>]+>/).map((piece) => piece.trim());
  return pieces.length > 1 && pieces.some(Boolean) && pieces.every((piece) => text.includes(piece));
}

const digits = (part: string): string => '0'.repeat(part.length);
const masked = (text: string): string => text.replaceAll(/\d/g, '#');
