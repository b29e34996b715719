const NAME = /^[a-z][a-z0-9-]{1,62}$/;
const NEAR_NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$/;

export const isSkillName = (text: string): boolean => NAME.test(text);

/**
 * A text as a valid name: lower case, each run of spaces, `_`, `.` and `-` as one `-`, none at the end, and `skill-` before
 * a leading digit. Undefined when characters would have to be dropped (`C++` and `C#` would become the same name) or when
 * the text is too long.
 */
export function toSkillName(text: string): string | undefined {
  const plain = text.trim();
  if (isSkillName(plain)) return plain;
  if (!NEAR_NAME.test(plain)) return undefined;
  const joined = plain.toLowerCase().replace(/[ _.-]+/g, '-');
  const slug = joined.endsWith('-') ? joined.slice(0, -1) : joined;
  const name = /^[0-9]/.test(slug) ? `skill-${slug}` : slug;
  return isSkillName(name) ? name : undefined;
}
