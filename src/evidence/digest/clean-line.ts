/** What logs put before a line: the time (GitHub, Kubernetes), the container (Compose), the step (BuildKit), the level (Maven, sbt). */
const STAMP =
  /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d) |\[\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\]]{0,12}\] |\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]? )/;
const CONTAINER = /^[A-Za-z][\w.-]{0,60}[-_]\d{1,3} {1,30}\| ?/;
const STEP = /^#\d{1,4} (?:\d{1,6}\.\d{1,4} |(?=\[|ERROR|DONE|CACHED))|^\d{1,5}\.\d{3} (?=\S)/;
const LEVEL = /^(?:##\[error\]|(?:\[ERROR\]|\[error\]|\[INFO\]|\[info\]) ?)/;
const BOX = /^[│╷╵┃]\s?/;
/** Python's groups of exceptions are drawn as a tree. */
const TREE = /^ {2,24}\| ?(?= |[A-Z])|^ {2,24}\+ (?=Exception Group)/;

/** What lines about errors have in them: a place, a word of failure, the beginning of a frame. */
const MARKS =
  /[:([]\d|\bline:? \d|rror|ERR|xception|anic|ail|FAIL|atal|raceback|[Cc]an(?:not|'t)|ould|onflict|CONFLICT|\b[Nn]ot?\b|nothing|[Uu]n(?:defined|bound|known|resolved|expected|able|terminated)|ssert|xpect|n't|denied|refused|overwrit|reject|nvalid|uplicate|eadlock|locked|onstraint|SIG[A-Z]{3}|Segmentation|Killed|Abort|BackOff|ImagePull|OOM|HTTP\/|YN0|ORA-|Msg |SQLSTATE|RACE|Sanitizer|Evicted|terminate|solving|File "|does|must|allocated|issing|[Mm]ismatch|SC\d|clippy::|^=== RUN|^[A-Z]{1,4}\d{3,4} |unused|^\s*(?:at|from|thread|E|#|[•❯→●✘]) |^-- |^ {1,4}Line {2}|^In |^\.\/|^\*\*|^\t|\.(?:[cm]?[jt]sx?|py)$/;

/** Whether a line may be about an error. */
export const isMarked = (line: string): boolean => MARKS.test(line);

/** A line as its program printed it. Cheap for lines without such a prefix: the first character decides. */
export function cleanLine(line: string): string {
  let text = line;
  for (let turn = 0; turn < 3; turn++) {
    const next = withoutPrefix(text);
    if (next === text) break;
    text = next;
  }
  return text;
}

function withoutPrefix(text: string): string {
  const first = text.charCodeAt(0);
  if (first === 0x20) return text.includes('|') || text.includes('+') ? text.replace(TREE, '') : text;
  if (first >= 0x30 && first <= 0x39) return text.replace(STAMP, '').replace(STEP, '');
  if (first === 0x5b) return text.replace(STAMP, '').replace(LEVEL, '');
  if (first === 0x23) return text.replace(LEVEL, '').replace(STEP, '');
  if (first > 0x2500 && first < 0x2600) return text.replace(BOX, '');
  return text.includes(' | ') ? text.replace(CONTAINER, '') : text;
}
