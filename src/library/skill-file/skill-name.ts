const NAME = /^[a-z][a-z0-9-]{1,62}$/;
const NEAR_NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$/;

export const isSkillName = (text: string): boolean => NAME.test(text);

/**
 * The name that is meant: capitals become small, each run of spaces, `_`, `.` and `-` becomes one `-`, one at the end is
 * dropped, and `skill-` goes before a digit. Any other character would have to be dropped (`C++` and `C#` would be the
 * same name), and so would what is too long: then it is undefined.
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
