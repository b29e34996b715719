/** At most about `most` characters: how it began and, the larger part, how it ended, since errors stand last. */
export function cutOutput(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = whole(text.slice(0, Math.floor(most * 0.4)));
  const tail = whole(text.slice(text.length - Math.ceil(most * 0.6)));
  const left = text.length - head.length - tail.length;
  return `${head}\n[... ${left} of ${text.length} characters left out ...]\n${tail}`;
}

/** A cut may have gone through a character. */
const whole = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
