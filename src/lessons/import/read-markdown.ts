import { type ForeignNote, isNegating, type LineRemark, type ReadNotes } from './foreign-note.ts';

/** Lines of a file that stay together. */
interface Block {
  readonly kind: 'paragraph' | 'bullet' | 'ordered' | 'fence';
  readonly line: number;
  readonly lines: string[];
  /** Of a bullet or an ordered list: what is indented more belongs to it. */
  readonly indent: number;
}

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const FENCE = /^\s*(`{3,}|~{3,})/;
const BULLET = /^(\s*)[-*+]\s+\S/;
const ORDERED = /^(\s*)\d{1,3}[.)]\s+\S/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const LEAST_WORDS = 3;

/**
 * CLAUDE.md, AGENTS.md and files like them: each bullet, list of steps and paragraph is a note under its headings. Nothing is
 * rewritten. A code block belongs to the paragraph before it, indented lines to their bullet, and a list to the line that
 * announces it: "Never do this:" must not be lost.
 */
export const readMarkdown: ReadNotes = (text) => {
  const notes: ForeignNote[] = [];
  const faults: LineRemark[] = [];
  const leftOut: LineRemark[] = [];
  const headings: { readonly depth: number; readonly name: string; readonly raw: string }[] = [];
  let blocks: Block[] = [];

  const closeSection = (): void => {
    const heading = headings.map(({ name }) => name).join(' › ');
    const turning = headings.find(({ name }) => isNegating(name));
    for (const { line, lines } of joinAnnounced(blocks)) {
      const content = lines.join('\n').trimEnd();
      const why = whyNoRule(content, heading);
      if (why !== undefined) leftOut.push({ line, why });
      else
        notes.push({
          line,
          content,
          isVerbatim: true,
          ...(heading === '' ? {} : { heading }),
          ...(turning === undefined ? {} : { lead: turning.raw }),
        });
    }
    blocks = [];
  };

  const lines = text.split('\n');
  let gap = true;
  for (let at = frontMatterEnd(lines); at < lines.length; at++) {
    const raw = lines[at] ?? '';
    const line = at + 1;
    const last = blocks.at(-1);
    const indent = raw.length - raw.trimStart().length;
    const isInside = last !== undefined && last.kind !== 'paragraph' && indent > last.indent;
    const fence = FENCE.exec(raw)?.[1];
    if (fence !== undefined) {
      const end = fenceEnd(lines, at, fence);
      if (end === undefined) {
        faults.push({ line, why: 'opens a code block that is not closed: the rest was not read' });
        break;
      }
      const code = lines.slice(at, end + 1);
      const isHeld = last !== undefined && (isInside || last.kind === 'paragraph' || !gap);
      if (isHeld) last.lines.push(...(gap ? [''] : []), ...code);
      else blocks.push({ kind: 'fence', line, lines: code, indent: 0 });
      at = end;
      gap = false;
      continue;
    }
    if (raw.trim() === '') {
      gap = true;
      continue;
    }
    const heading: RegExpExecArray | null = HEADING.exec(raw) ?? (gap ? null : underlined(last, raw));
    if (/^\s*<!--/.test(raw)) {
      while (at < lines.length && !(lines[at] ?? '').includes('-->')) at++;
      leftOut.push({ line, why: 'is a comment' });
    } else if (heading !== null) {
      if (!HEADING.test(raw)) blocks.pop();
      closeSection();
      const [, marks = '#', name = ''] = heading;
      while ((headings.at(-1)?.depth ?? 0) >= marks.length) headings.pop();
      headings.push({ depth: marks.length, name, raw: `${marks} ${name}` });
    } else if (RULE.test(raw)) gap = true;
    else if (isInside) last.lines.push(...(gap ? [''] : []), raw);
    else if (BULLET.test(raw)) blocks.push({ kind: 'bullet', line, lines: [raw], indent });
    else if (ORDERED.test(raw) && last?.kind === 'ordered') last.lines.push(...(gap ? [''] : []), raw);
    else if (ORDERED.test(raw)) blocks.push({ kind: 'ordered', line, lines: [raw], indent });
    else if (last !== undefined && !gap) last.lines.push(raw);
    else blocks.push({ kind: 'paragraph', line, lines: [raw], indent: 0 });
    gap = RULE.test(raw) || heading !== null;
  }
  closeSection();
  return { notes, faults, leftOut };
};

/** A line with `===` or `---` under it, as the heading that it is. */
function underlined(last: Block | undefined, raw: string): RegExpExecArray | null {
  const mark = /^ {0,3}(=|-)\1+\s*$/.exec(raw)?.[1];
  if (mark === undefined || last?.kind !== 'paragraph' || last.lines.length !== 1) return null;
  return HEADING.exec(`${mark === '=' ? '#' : '##'} ${last.lines[0]?.trim() ?? ''}`);
}

/** A line that ends with a colon, or that is bold as a whole, announces the list or the code that follows it. */
function joinAnnounced(blocks: readonly Block[]): readonly Block[] {
  const joined: Block[] = [];
  let isAnnounced = false;
  for (const block of blocks) {
    const last = joined.at(-1);
    if (isAnnounced && block.kind !== 'paragraph' && last !== undefined) {
      last.lines.push(...(last.lines.length === 1 ? [''] : []), ...block.lines);
      continue;
    }
    joined.push({ ...block, lines: [...block.lines] });
    const end = block.lines.at(-1)?.trim() ?? '';
    isAnnounced =
      block.kind === 'paragraph' &&
      (/[:：][*_]{0,3}$/.test(end) || /^(?:\*\*|__)[^*_]+(?:\*\*|__)$/.test(end));
  }
  return joined;
}

/** Why a block states nothing: undefined when it is a rule or a fact. */
function whyNoRule(content: string, heading: string): string | undefined {
  const words = content.replace(/!?\[[^\]\n]*\]\([^)\n]*\)|<[^>\n]{1,200}>/g, ' ').trim();
  if (/^(?:[-*+]\s+)?@\S+$/.test(content.trim()))
    return 'points to another file, which is not followed: import it';
  if (/^(?:[-*+]|\d{1,3}[.)])?$/.test(words)) return 'is a link or a picture only';
  const hasCode = content.includes('`');
  if (hasCode && (heading !== '' || words.split(/\s+/).length >= LEAST_WORDS)) return undefined;
  const isWide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{4}/u.test(words);
  const count = words.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  return count >= LEAST_WORDS || isWide ? undefined : 'has fewer than three words';
}

/** Behind a front matter; 0 without one. */
function frontMatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trim() !== '---') return 0;
  const end = lines.findIndex((line, at) => at > 0 && line.trim() === '---');
  return end < 0 ? 0 : end + 1;
}

function fenceEnd(lines: readonly string[], start: number, fence: string): number | undefined {
  for (let at = start + 1; at < lines.length; at++) {
    const closing = FENCE.exec(lines[at] ?? '')?.[1];
    if (closing?.charAt(0) === fence.charAt(0) && closing.length >= fence.length) return at;
  }
  return undefined;
}
