/** Digests that name no error: they say that something failed, and are the same for every failure. */
const VAGUE = /^(?:exit(?: code)?:? -?\d+|tests failed: \d+|error|failed|failure)$/i;
const LINE = /:\d+$/;

/**
 * What makes two errors the same: their digest (`TimeoutError @ main.py:42`) without its line number, which moves with every edit of
 * the file. Undefined for a digest that names no error.
 */
export function errorKeyOf(digest: string): string | undefined {
  const plain = digest.trim();
  return plain === '' || VAGUE.test(plain) ? undefined : plain.replace(LINE, '');
}
