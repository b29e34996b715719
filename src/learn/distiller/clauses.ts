import { cutEnd, oneLine } from '../plain-text.ts';

const LONGEST_TEXT = 6000;
const MOST_CLAUSES = 40;
const LONGEST_CLAUSE = 600;
const LONGEST_CODE = 600;
/** A line this long was broken by an editor, and the next one goes on with its sentence. */
const WRAPPED = 60;

/** One thing that was said. */
export interface Clause {
  /** As one line, without its bullet. */
  readonly text: string;
  /** As it was recorded. */
  readonly raw: string;
  /** The code that was shown with it. */
  readonly code?: string;
  /** What stood above the list that it is an item of. */
  readonly heading?: string;
  /** An item of a list of things to do that nobody has ticked. */
  readonly isOpen: boolean;
  /** It stands above a list. */
  readonly isHeading: boolean;
  /** It goes on where a semicolon stood. */
  readonly goesOn: boolean;
  /** Which line or item it is from, counted from 0. */
  readonly line: number;
}

interface Block {
  readonly start: number;
  end: number;
  readonly isItem: boolean;
  readonly isOpen: boolean;
  code?: string;
}

const ITEM = /^\s*(?:(?:[-*+•–]|\d{1,2}[.)])\s+|(?=\[[ xX]\]\s|[✗✘❌✓✔✅☐☑]|FAIL|PASS|OK:))/u;
const DONE = /^(?:\[[xX]\]|[✓✔✅☑]|PASS(?:ED)?\b|OK:)/u;
const OPEN = /^(?:\[ \]|[✗✘❌☐]|FAIL(?:ED|URE)?\b)[:\s]*/u;
const NOISE =
  /^\s*(?:at \S+ ?\(|at \S+:\d+|File "|Traceback|\^+\s*$|[-=_*]{3,}\s*$|\d+ (?:passed|failed)|(?:exit|return|status) code\b|score\b.{0,20}$)/i;

/** Feedback cut into what it says: sentences, the parts that semicolons divide, items of lists. */
export function splitClauses(text: string): readonly Clause[] {
  const whole = text.slice(0, LONGEST_TEXT);
  const clauses: Clause[] = [];
  let heading: string | undefined;
  const blocks = blocksOf(whole);
  for (const [index, block] of blocks.entries()) {
    const said = whole.slice(block.start, block.end);
    if (!block.isItem) heading = undefined;
    let isMore = false;
    for (const raw of sentencesOf(said)) {
      const line = cutEnd(oneLine(raw), LONGEST_CLAUSE).replaceAll('**', '');
      if (line === '') continue;
      const above = block.isItem && heading !== undefined ? { heading } : {};
      clauses.push({
        text: line,
        raw,
        isOpen: block.isOpen,
        isHeading: false,
        goesOn: isMore,
        line: index,
        ...above,
      });
      isMore = raw.endsWith(';');
    }
    const last = clauses.at(-1);
    if (last === undefined) continue;
    const isHeading = !block.isItem && said.trimEnd().endsWith(':') && blocks[index + 1]?.isItem === true;
    if (isHeading) heading = last.text;
    clauses[clauses.length - 1] = {
      ...last,
      isHeading,
      ...(block.code === undefined ? {} : { code: block.code }),
    };
  }
  return clauses.slice(0, MOST_CLAUSES);
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let current: Block | undefined;
  let fence: { readonly start: number; readonly mark: string } | undefined;
  let at = 0;
  for (const line of text.split('\n')) {
    const start = at;
    at += line.length + 1;
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark !== fence.mark) continue;
      const last = blocks.at(-1);
      if (last !== undefined) last.code = text.slice(fence.start, start).trimEnd().slice(0, LONGEST_CODE);
      fence = undefined;
    } else if (mark !== undefined) {
      fence = { start: at, mark };
      current = undefined;
    } else if (line.trim() === '' || NOISE.test(line)) current = undefined;
    else if (current !== undefined && goesOn(text.slice(current.start, current.end), line))
      current.end = start + line.length;
    else {
      current = openBlock(line, start);
      if (current !== undefined) blocks.push(current);
    }
  }
  return blocks;
}

const goesOn = (before: string, line: string): boolean =>
  (before.split('\n').at(-1) ?? '').length > WRAPPED &&
  !/[.:;!?]\s*$/.test(before) &&
  /^\s*[\p{Ll}(]/u.test(line);

function openBlock(line: string, start: number): Block | undefined {
  const item = ITEM.exec(line);
  const from = item?.[0].length ?? line.length - line.trimStart().length;
  const body = line.slice(from);
  if (item !== null && DONE.test(body)) return undefined;
  const open = item === null ? undefined : OPEN.exec(body)?.[0];
  const isOpen = open !== undefined;
  return {
    start: start + from + (open?.length ?? 0),
    end: start + line.length,
    isItem: item !== null,
    isOpen,
  };
}

const CLOSERS: Readonly<Record<string, string>> = {
  '"': '"',
  '`': '`',
  '“': '”',
  '«': '»',
  '(': ')',
  '[': ']',
};
const SHORT_FORM =
  /(?:^|[\s(])(?:e\.g|i\.e|eg|ie|etc|vs|cf|approx|resp|incl|excl|no|nr|fig|sec|max|min|\p{L}|\d{1,3})\.$/iu;

/** Ends at a full stop, a question mark or a semicolon that is not part of something quoted or of a short form. */
function sentencesOf(block: string): readonly string[] {
  const sentences: string[] = [];
  let from = 0;
  for (let at = 0; at < block.length; at++) {
    const closer = CLOSERS[block[at] ?? ''];
    if (closer !== undefined) {
      const end = block.indexOf(closer, at + 1);
      if (end > 0 && end - at < 300) at = end;
      continue;
    }
    const isEnd = /[.!?;]/.test(block[at] ?? '') && /\s/.test(block[at + 1] ?? ' ');
    if (!isEnd || SHORT_FORM.test(block.slice(Math.max(from, at - 8), at + 1))) continue;
    sentences.push(block.slice(from, at + 1).trim());
    from = at + 1;
  }
  return [...sentences, block.slice(from).trim()].filter((sentence) => sentence !== '');
}
