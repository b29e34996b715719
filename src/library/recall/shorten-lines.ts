/** A line that reports an error. */
const TROUBLE =
  /\b(?:error|exception|failed|failure|fatal|panic|traceback|denied|cannot|undefined|refused|timed out|timeout|not found|conflict|E[A-Z]{4,12})\b/i;
const STAMP = /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?\]?\s*/;
/** The beginning of a line of a log or of a stack trace. */
const LOG_START =
  /^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:debug|info|warn|warning|error|trace|fatal|notice)\b|at [\w$.<]|File "|npm (?:err|warn)|[>|] )/i;
const FENCE = /^\s*(?:```|~~~)/;
/** Announces metadata of the message; the code fence after it contains that metadata. */
const UNTRUSTED = /\(untrusted[^()]{0,60}\)\s*:?\s*$/i;
const METADATA = /^\s*(?:Runtime: agent=|\[message_id:|\[\[reply_to|Current time:|Today's date is )/i;

const FIRST_LINES = 3;
const TROUBLE_LINES = 4;
/** Shorter runs are kept unchanged. */
const SHORT_RUN = 6;
const LONGEST_LINE = 600;

/** Keeps prose; of code and logs it keeps the first lines and those that report errors. */
export function shortenLines(text: string): string {
  const kept: string[] = [];
  let run: string[] = [];
  let isFenced = false;
  let isMetadata = false;
  const closeRun = (): void => {
    kept.push(...shortRun(run));
    run = [];
  };
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) {
      if (isFenced && isMetadata) run = [];
      closeRun();
      isFenced = !isFenced;
      if (!isFenced) isMetadata = false;
    } else if (isFenced) run.push(line);
    else if (UNTRUSTED.test(line.slice(-100))) {
      closeRun();
      isMetadata = true;
    } else if (METADATA.test(line)) closeRun();
    else if (LOG_START.test(line)) run.push(line);
    else {
      closeRun();
      if (line.trim() !== '') isMetadata = false;
      kept.push(line.length > LONGEST_LINE ? shortLine(line) : line);
    }
  }
  if (!isMetadata) closeRun();
  return kept.join('\n');
}

function shortRun(run: readonly string[]): readonly string[] {
  const lines = run.map((line) => shortLine(line.replace(STAMP, '')));
  if (lines.length <= SHORT_RUN) return lines;
  const trouble = lines.slice(FIRST_LINES).filter((line) => TROUBLE.test(line));
  return [...lines.slice(0, FIRST_LINES), ...new Set(trouble.slice(-TROUBLE_LINES))];
}

const shortLine = (line: string): string =>
  line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE / 2)} ${line.slice(-LONGEST_LINE / 2)}`;
