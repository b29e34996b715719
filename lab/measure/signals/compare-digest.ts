/** A digest, cut into its parts: `TimeoutError @ src/main.py:42`, `TS2322`, `src/main.py:42`. */
interface DigestParts {
  readonly kind?: string;
  readonly file?: string;
  readonly line?: string;
}

/**
 * Whether a digest says what was expected. The kind must be equal, without case and without the package before it
 * (`java.lang.NullPointerException`); the file and the line must be equal too when they are given, where a path may be given
 * from any of its folders on. What the expected one leaves out is not compared.
 */
export function isSameDigest(expected: string, found: string): boolean {
  const wanted = partsOf(expected);
  const given = partsOf(found);
  if (wanted.kind !== undefined && bare(wanted.kind) !== bare(given.kind ?? '')) return false;
  if (wanted.file !== undefined && !isSameFile(wanted.file, given.file ?? '')) return false;
  return wanted.line === undefined || wanted.line === given.line;
}

function partsOf(digest: string): DigestParts {
  const text = digest.trim();
  const at = text.lastIndexOf(' @ ');
  const place = /^(\S{1,300}?)(?::(\d{1,7}))?(?::\d{1,7})?$/.exec(at >= 0 ? text.slice(at + 3).trim() : text);
  const isPlace = at >= 0 || (place?.[2] !== undefined && /[./\\]/.test(place[1] ?? ''));
  if (!isPlace || place === null) return { kind: at >= 0 ? text.slice(0, at) : text };
  const [, file = '', line] = place;
  return {
    ...(at > 0 ? { kind: text.slice(0, at) } : {}),
    file,
    ...(line === undefined ? {} : { line }),
  };
}

/** `java.lang.NullPointerException` and `NullPointerException` are one kind; `E0308` keeps its form. */
const bare = (kind: string): string => {
  const word = kind.trim().toLowerCase();
  return word.includes(' ') ? word : word.slice(word.lastIndexOf('.') + 1);
};

function isSameFile(wanted: string, given: string): boolean {
  const [one, other] = [wanted, given].map((path) => path.replaceAll('\\', '/').replace(/^\.\//, ''));
  if (one === undefined || other === undefined || other === '') return false;
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}
