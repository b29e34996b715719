/** Text for a cell of a table: no bar or line break of it ends the cell, and no angle bracket or brace begins a tag. */
export const cell = (text: string): string =>
  text.replaceAll('\n', ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;');

/** Words in code, also where they have backquotes or bars. */
export const code = (text: string): string => {
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text.replaceAll('|', '\\|')}${fence}`;
};

/** A block of code on a page. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** The number of its first line. */
  readonly line: number;
  /** The comment directly above it, as `run: home`; undefined when there is none. */
  readonly mark: string | undefined;
  /** The last paragraph before it, as people see it. */
  readonly before: string;
}

/** The fenced blocks of a page, in order. */
export function codeBlocksOf(page: string): readonly CodeBlock[] {
  const lines = page.split('\n');
  const blocks: CodeBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const open = /^(\s*)(`{3,})(\w*)/.exec(lines[at] ?? '');
    if (open === null) continue;
    const [, indent = '', fence = '', language = ''] = open;
    const end = lines.findIndex((line, nth) => nth > at && line.trim() === fence);
    const until = end === -1 ? lines.length : end;
    const above = lines.slice(0, at).filter((line) => line.trim() !== '');
    const mark = /^<!-- (.+) -->$/.exec(above.at(-1)?.trim() ?? '')?.[1];
    blocks.push({
      language,
      code: lines
        .slice(at + 1, until)
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
        .join('\n'),
      line: at + 1,
      mark,
      before: above.at(mark === undefined ? -1 : -2) ?? '',
    });
    at = until;
  }
  return blocks;
}
