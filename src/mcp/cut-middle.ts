/** At most about `most` characters, from the beginning and the end: what was done stands first, errors stand last. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil(most / 2);
  const [begin, end] = [text.slice(0, head), text.slice(head - most)];
  return `${whole(begin)}\n[… ${text.length - most} characters left out …]\n${whole(end)}`;
}

/** A cut may have gone through a character. */
const whole = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
