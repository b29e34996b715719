/** A command without its trailing `done`. */
interface SplitCommand {
  /** What to run first; may be empty. */
  readonly lines: string;
  /** Whether the task ends after the lines: always, or only when they succeed. Undefined: it does not end. */
  readonly ends?: 'always' | 'success';
}

const WORD = 'done';

/** Finds a trailing `done`: alone, on the last line, or after `;` or `&&`. The `done` of a loop does not count. */
export function splitDone(command: string): SplitCommand {
  const text = withoutTrailing(command, ' \t\r\n;');
  if (!text.endsWith(WORD)) return { lines: command };
  const before = withoutTrailing(text.slice(0, -WORD.length), ' \t\r');
  const work = withoutTrailing(before, ' \t\r\n');
  const isJoined = work.endsWith('&&');
  const isApart = isJoined || work === '' || before.endsWith('\n') || before.endsWith(';');
  const isOther = work.endsWith('|') || before.endsWith('\\;');
  if (!isApart || isOther || isOpenAfter(before)) return { lines: command };
  if (isJoined) return { lines: work.slice(0, -2), ends: 'success' };
  return { lines: before.endsWith(';') ? before.slice(0, -1) : work, ends: 'always' };
}

function withoutTrailing(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
}

/** Words after which a command begins. */
const LEADING = new Set(['do', 'done', 'then', 'else', 'elif', 'if', 'while', 'until', '!', '{', '(']);

/** Whether a shell would still be inside of a quote, a loop, a here-document or a continued line. */
function isOpenAfter(text: string): boolean {
  let loops = 0;
  let word = '';
  let isCommand = true;
  let awaited: string[] = [];
  const endWord = (): void => {
    if (isCommand && word === 'do') loops++;
    if (isCommand && word === 'done') loops--;
    if (word !== '') isCommand &&= LEADING.has(word);
    word = '';
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '\\') {
      if (at + 2 >= text.length) return true;
      word += '\\';
      at++;
    } else if (char === "'" || char === '"') {
      at = closingOf(text, at);
      if (at < 0) return true;
      word += char;
    } else if (char === '#' && word === '') {
      const end = text.indexOf('\n', at);
      if (end < 0) return false;
      at = end - 1;
    } else if (char === '<' && text[at + 1] === '<') {
      endWord();
      const mark = /^<<-?[ \t]{0,8}\\?(['"]?)([A-Za-z_]\w{0,63})\1/.exec(text.slice(at, at + 96));
      if (mark?.[2] !== undefined) awaited.push(mark[2]);
      at += (mark?.[0].length ?? 3) - 1;
    } else if (char === '\n') {
      endWord();
      isCommand = true;
      const end = afterHereDocuments(text, at, awaited);
      if (end < 0) return true;
      awaited = [];
      at = end;
    } else if (';&|('.includes(char)) {
      endWord();
      isCommand = true;
    } else if (char === ' ' || char === '\t' || char === '\r') endWord();
    else word += char;
  }
  endWord();
  return loops > 0;
}

/** The index of the closing quote; -1 when there is none. */
function closingOf(text: string, from: number): number {
  const quote = text[from];
  if (quote === "'") return text.indexOf("'", from + 1);
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}

/** The line break after the last of the here-documents that begin here; -1 when one of them does not end. */
function afterHereDocuments(text: string, from: number, awaited: readonly string[]): number {
  let at = from;
  for (const name of awaited) {
    for (let isOver = false; !isOver; ) {
      if (at < 0 || at + 1 > text.length) return -1;
      const end = text.indexOf('\n', at + 1);
      const line = text.slice(at + 1, end < 0 ? undefined : end);
      if (line.trim() === name) isOver = true;
      else if (end < 0) return -1;
      at = end < 0 ? text.length : end;
    }
  }
  return at;
}
