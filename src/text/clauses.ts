import { splitSentencesOutsideQuotes } from './sentences.ts';
import { truncateEnd } from './truncate.ts';
import { oneLine } from './visible-text.ts';

const LONGEST_TEXT = 6000;
const MOST_CLAUSES = 40;
const LONGEST_CLAUSE = 600;
const LONGEST_CODE = 600;
/** A line of this length may have been wrapped: the next line continues its sentence. */
const WRAPPED_LENGTH = 60;

/** One statement of a text. */
export interface Clause {
  /** As one line, without its bullet. */
  readonly text: string;
  /** As recorded. */
  readonly raw: string;
  /** The code block after it. */
  readonly code?: string;
  /** The line that introduces the list whose item it is. */
  readonly heading?: string;
  /** An unchecked item of a checklist. */
  readonly isOpen: boolean;
  /** It introduces a list. */
  readonly isHeading: boolean;
  /** It follows a semicolon. */
  readonly goesOn: boolean;
  /** The index of its line or item, from 0. */
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

/** Splits a text into sentences, parts between semicolons, and list items. */
export function splitClauses(text: string): readonly Clause[] {
  const whole = text.slice(0, LONGEST_TEXT);
  const clauses: Clause[] = [];
  let heading: string | undefined;
  const blocks = blocksOf(whole);
  for (const [index, block] of blocks.entries()) {
    const body = whole.slice(block.start, block.end);
    if (!block.isItem) heading = undefined;
    let isMore = false;
    for (const raw of splitSentencesOutsideQuotes(body)) {
      const line = truncateEnd(oneLine(raw), LONGEST_CLAUSE).replaceAll('**', '');
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
    const isHeading = !block.isItem && body.trimEnd().endsWith(':') && blocks[index + 1]?.isItem === true;
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
  (before.split('\n').at(-1) ?? '').length > WRAPPED_LENGTH &&
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
