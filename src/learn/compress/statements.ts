import { splitSentencesBeforeCapital } from '../../text/sentences.ts';

/** Words by which a sentence of a system prompt is a rule and not a description. */
const RULE =
  /\b(?:must|never|always|only|shall|should|required?|mandatory|do not|don['’]t|cannot|can['’]t|may not|use|using|call|run|execute|reply|respond|answer|send|write|read|put|keep|save|store|check|avoid|prefer|ask|stop|start|begin|end|wrap|format|follow|include|append|create|set|load|search|before|after|when|if|unless|instead|ensure|make sure|path|located|lives?)\b/i;

const FORBIDS =
  /\b(?:never|must not|mustn['’]t|do not|don['’]t|may not|not allowed|forbidden|prohibited|under no circumstances)\b/i;

/** Every wording with which a shortened sentence may forbid. */
const DENIES =
  /\b(?:never|not|no|don['’]t|doesn['’]t|cannot|can['’]t|mustn['’]t|shouldn['’]t|won['’]t|without|avoid|forbidden|prohibit\w*|refuse|disallow\w*|banned|only|nothing|nobody|none|neither|nor)\b/i;

export const isRule = (text: string): boolean => RULE.test(text);
export const isForbidding = (text: string): boolean => FORBIDS.test(text);
export const isDenying = (text: string): boolean => DENIES.test(text);

/** A sentence, a list item or a line of code, with its context. */
export interface Statement {
  /** In one line. */
  readonly text: string;
  /** The heading above it, and the line with a colon that introduces it. */
  readonly lead: string;
  readonly isItem: boolean;
  readonly isCode: boolean;
  readonly isExample: boolean;
}

const FENCE = /^\s*(`{3,}|~{3,})[^`]*$/;
const HEADING = /^\s{0,3}#{1,6}\s+(\S.*)$|^\s*\*\*([^*]{1,120})\*\*:?\s*$/;
const TAG = /^\s*<(\/?)([A-Za-z][\w-]{0,60})>\s*$/;
const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)]|\(\d{1,3}\))\s+(\S.*)$/;
const EXAMPLE = /\b(?:examples?|for instance|such as|samples?)\b|\be\.g\./i;
const LEADS_TO_EXAMPLES = /\b(?:examples?|samples?)\b|(?:for instance|such as|e\.g\.)[\s,:]{0,4}$/i;

/** Whether the text announces an example. */
export const isExampleWord = (text: string): boolean => EXAMPLE.test(text);

/** The statements of a prompt, in order. One pass over its lines; a fence or an example tag that is not closed is plain text. */
export function readStatements(prompt: string): readonly Statement[] {
  const lines = prompt.split(/\r\n|[\r\n]/);
  const closings = findClosingLines(lines);
  const found: Statement[] = [];
  let heading = '';
  let leadIn = '';
  let fence: string | undefined;
  let examples = 0;
  let open: { text: string; readonly isItem: boolean } | undefined;

  const add = (text: string, lead: string, isItem: boolean, isCode: boolean): void => {
    const isExample = examples > 0 || (LEADS_TO_EXAMPLES.test(lead) && !isForbidding(lead));
    found.push({ text, lead, isItem, isCode, isExample });
  };
  const close = (): void => {
    if (open === undefined) return;
    const { text, isItem } = open;
    open = undefined;
    if (!isItem) leadIn = '';
    const lead = `${heading} ${leadIn}`.trim();
    for (const sentence of splitSentencesBeforeCapital(text)) add(sentence, lead, isItem, false);
    if (text.endsWith(':')) leadIn = found.at(-1)?.text ?? '';
  };

  lines.forEach((line, at) => {
    const text = line.replace(/\s+/g, ' ').trim();
    if (fence !== undefined) {
      if (text.startsWith(fence)) fence = undefined;
      else if (text !== '') add(text, `${heading} ${leadIn || lastProse(found)}`.trim(), false, true);
      return;
    }
    const marker = FENCE.exec(line)?.[1];
    if (marker !== undefined && closings.isClosed(marker, at)) fence = marker;
    if (text === '' || fence !== undefined) {
      close();
      return;
    }
    const tag = TAG.exec(line);
    const title = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (tag !== null || title !== null) {
      close();
      leadIn = '';
      const [, slash = '', name = ''] = tag ?? [];
      const isEnd = slash === '/';
      const isExample = isExampleWord(name);
      if (isExample && isEnd) examples = Math.max(0, examples - 1);
      else if (isExample && closings.isClosed(`</${name}>`, at)) examples++;
      heading = isEnd || isExample ? '' : (title?.[1] ?? title?.[2] ?? name.replace(/[_-]/g, ' '));
    } else if (item !== null) {
      close();
      open = { text: (item[1] ?? '').replace(/\s+/g, ' ').trim(), isItem: true };
    } else if (open !== undefined && (open.isItem ? /^\s{2,}/ : /^\s*[\p{Ll}`"'([]/u).test(line)) {
      open.text += ` ${text}`;
    } else {
      close();
      open = { text, isItem: false };
    }
  });
  close();
  return found;
}

/** The sentence before a block of code, which is about it. */
const lastProse = (found: readonly Statement[]): string =>
  found.findLast(({ isCode }) => !isCode)?.text ?? '';

const BARE_FENCE = /^(?:`{3,40}|~{3,40})$/;
const END_TAG = /^<\/[A-Za-z][\w-]{0,60}>$/;

interface ClosingLines {
  /** Whether a line after `at` closes the fence or tag. */
  isClosed(closing: string, at: number): boolean;
}

/** The last line that closes each fence and tag. */
function findClosingLines(lines: readonly string[]): ClosingLines {
  const last = new Map<string, number>();
  lines.forEach((line, at) => {
    const text = line.trim();
    if (END_TAG.test(text)) last.set(text, at);
    // A longer fence closes a shorter one.
    if (BARE_FENCE.test(text))
      for (let length = 3; length <= text.length; length++) last.set(text.slice(0, length), at);
  });
  return { isClosed: (closing, at) => (last.get(closing) ?? -1) > at };
}
