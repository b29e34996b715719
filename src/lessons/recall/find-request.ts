/** A message that consists mostly of pasted text: what the person asks, and the lines that say what went wrong. */
export interface FoundRequest {
  /** The sentences that ask, in their order. */
  readonly request: string;
  /** The other sentences. */
  readonly rest: readonly string[];
  /** Lines of a log, a trace or a file that report trouble, the most telling one first. */
  readonly trouble: readonly string[];
  /** The first pasted lines: a command, the head of a file. */
  readonly opening: readonly string[];
}

/** With fewer pasted lines the message is read as it is. */
const FEWEST_PASTED = 4;
const LONGEST_LINE = 600;
const LONGEST_REQUEST = 600;
const MOST_TROUBLE = 4;
const MOST_OPENING = 3;

/** A line that reports an error. */
const TROUBLE =
  /\b(?:error|exception|failed|failure|fatal|panic|traceback|denied|cannot|could not|undefined|refused|expired|timed out|timeout|not found|conflict|out of memory)\b/i;
/** `ECONNREFUSED`, `TimeoutError`. */
const CODED_TROUBLE = /\bE[A-Z]{4,12}\b|[a-z](?:Error|Exception)\b/;
export const isTrouble = (line: string): boolean => TROUBLE.test(line) || CODED_TROUBLE.test(line);
/** A line that names an error, rather than mentioning one. */
const NAMED_TROUBLE =
  /^\s*(?:[\w.$]{1,80}(?:Error|Exception)\b|(?:error|fatal|panic|caused by)\b|\w{1,30}:\s{0,3}(?:error|fatal|\(\d{1,4}\)))|\b(?:error|fatal|panic):|^.{0,80}\bFATAL\b/i;
export const LEADING_TIME =
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?\]?\s*/;
/** The beginning of a line of a log, a trace, a listing, a diff or a quoted mail. */
export const LOG_START =
  /^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:debug\d?|info|warn|warning|error|trace|fatal|notice)\b[\]:[ ]|at [\w$.<]|File "|npm (?:err|warn)|[>|] |\* [A-Z]|-- |#\d+ |[✓✗×✖✔] |\d+ \||\+\+\+ |--- |@@ )/i;
const MAIL_HEAD =
  /^(?:From|To|Cc|Bcc|Date|Sent|Subject|Reply-To|Von|An|Gesendet|Betreff|De|À|Objet|Para|Asunto): \S/;
/** The person turns to the assistant. */
const ASKS =
  /[?？]|\b(?:please|pls|plz|can you|could you|would you|help|fix|why|how|what|which|make|add|write|find|explain|check|tell me|show me|figure out|look|should(?:n't)?|bitte|kannst|könntest|warum|wieso|wie|was|hilf|mach|schreib|peux-tu|pourquoi|comment|aide|puedes|qué|cómo|ayuda|perché|puoi)\b|请|帮|为什么|怎么/i;
/** Words that sentences have and listings do not. */
const SMALL_WORDS =
  /(?<![\p{L}\p{N}_])(?:the|a|an|is|are|was|it|its|this|that|these|i|i'm|we|you|my|our|to|of|in|on|for|and|but|with|when|since|again|please|why|how|what|does|doesn't|can|can't|won't|der|die|das|ein|eine|ist|ich|wir|mir|nicht|und|bitte|warum|wie|le|la|les|un|une|est|je|nous|pas|et|pourquoi|el|los|es|yo|no|y|que|por|il|non|perché)(?![\p{L}\p{N}_])/giu;
const CODE =
  /[{};]\s*$|=>|::|<\/|\/>|\(\)|^\s*(?:import|from|const|let|var|def|class|return|CREATE|SELECT|INSERT|public|private)\b|\w=["'{\w]|\w\(\w*[,)]/;
export const FENCE = /^\s*(?:```|~~~)/;
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2}/u;

/** Undefined for a message that is not mostly pasted, or in which nobody asks. Linear in the text. */
export function findRequest(text: string): FoundRequest | undefined {
  const lines = endsOf(text.split('\n')).map((line) =>
    line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) : line,
  );
  let isFenced = false;
  const isSaid = lines.map((line) => {
    const isFence = FENCE.test(line);
    if (isFence) isFenced = !isFenced;
    return !isFence && !isFenced && isSentence(line);
  });
  const pasted = lines.filter((line, at) => line.trim() !== '' && !isSaid[at]);
  if (pasted.length < FEWEST_PASTED) return undefined;
  const groups = groupLines(lines, isSaid);
  if (groups.length === 0) return undefined;
  const scores = groups.map((group) => scoreOf(group, lines.length));
  const best = Math.max(...scores);
  const request = groups.filter((_, at) => (scores[at] ?? 0) >= best - NEARLY).map(({ words }) => words);
  const rest = groups.filter((_, at) => (scores[at] ?? 0) < best - NEARLY).map(({ words }) => words);
  return {
    request: request.join('\n').slice(0, LONGEST_REQUEST),
    rest,
    trouble: troubleIn(pasted),
    opening: pasted.slice(0, MOST_OPENING).map((line) => line.replace(LEADING_TIME, '').trim()),
  };
}

/** A request stands before or after what was pasted; the middle of a very long text is not read. */
const FIRST_READ = 400;
const LAST_READ = 200;
const endsOf = (lines: readonly string[]): readonly string[] =>
  lines.length <= FIRST_READ + LAST_READ
    ? lines
    : [...lines.slice(0, FIRST_READ), ...lines.slice(-LAST_READ)];

const NEARLY = 0.5;

interface SaidGroup {
  readonly words: string;
  readonly from: number;
  readonly to: number;
  /** It stands below the head of a mail. */
  readonly isOfMail: boolean;
}

/** Consecutive sentences. A mail extends from its head to its last quoted line, signature or the end of its paragraph. */
function groupLines(lines: readonly string[], isSaid: readonly boolean[]): readonly SaidGroup[] {
  const groups: SaidGroup[] = [];
  let mailUntil = -1;
  const ends: MailEnds = {
    sign: lines.findLastIndex((line) => SIGNATURE.test(line.trim())),
    quoted: lines.findLastIndex((line) => line.startsWith('>')),
  };
  for (let at = 0; at < lines.length; at++) {
    if (at > mailUntil && MAIL_HEAD.test(lines[at] ?? '')) mailUntil = endOfMail(lines, at, ends);
    if (isSaid[at] !== true) continue;
    const from = at;
    while (isSaid[at + 1] === true && !MAIL_HEAD.test(lines[at + 1] ?? '')) at++;
    const words = lines.slice(from, at + 1).map((line) => line.trim());
    groups.push({ words: words.join('\n'), from, to: at, isOfMail: from <= mailUntil });
  }
  return groups;
}

const SIGNATURE =
  /^(?:kind regards|best regards|regards|best|cheers|thanks|sincerely|mit freundlichen grüßen|viele grüße|cordialement|saludos|--\s*$|this e-?mail)/i;
const SIGNATURE_LINES = 6;

interface MailEnds {
  readonly sign: number;
  readonly quoted: number;
}

/** The last line of a mail: that of its signature, or of its last quoted line. */
function endOfMail(lines: readonly string[], from: number, { sign, quoted }: MailEnds): number {
  if (sign < from) return quoted < from ? lines.length : quoted;
  let end = sign;
  while (end + 1 < lines.length && end - sign < SIGNATURE_LINES && (lines[end + 1] ?? '').trim() !== '')
    end++;
  return Math.max(end, quoted);
}

function scoreOf({ words, from, to, isOfMail }: SaidGroup, length: number): number {
  return (
    (ASKS.test(words) ? 2 : 0) +
    (from === 0 || to === length - 1 ? 1.5 : 0) -
    (isOfMail ? 3 : 0) -
    (words.length > LONGEST_REQUEST ? 1 : 0)
  );
}

const LETTERS = /[\p{L}\s]/gu;
const LEAST_LETTERS = 0.8;

/** Whether a line is one that people write. */
function isSentence(line: string): boolean {
  const text = line.trim();
  if (text.length < 2 || LOG_START.test(line) || MAIL_HEAD.test(text) || /^\s{2,}\S/.test(line)) return false;
  if (/^[\w.$]{1,80}(?:Error|Exception)\b/.test(text)) return false;
  if (HAN.test(text) && !CODE.test(text)) return true;
  const letters = text.match(LETTERS)?.length ?? 0;
  if (letters / text.length < LEAST_LETTERS || CODE.test(text)) return false;
  return (text.match(SMALL_WORDS)?.length ?? 0) >= (text.length < 60 ? 1 : 2);
}

/** The last line that names an error, then the others that report trouble. */
function troubleIn(pasted: readonly string[]): readonly string[] {
  const lines = [...new Set(pasted.map((line) => line.replace(LEADING_TIME, '').trim()))];
  const named = lines.filter((line) => NAMED_TROUBLE.test(line));
  const others = lines.filter((line) => isTrouble(line) && !MAIL_HEAD.test(line));
  return [...new Set([...named.slice(-1), ...named.slice(0, 2), ...others.slice(-2)])].slice(0, MOST_TROUBLE);
}
