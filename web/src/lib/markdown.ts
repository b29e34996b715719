/** Blocks of a safe subset of Markdown. Everything else stays text: no HTML, no images, no links that can be followed. */
export type Block =
  | { readonly is: 'paragraph' | 'heading' | 'quote'; readonly text: readonly Inline[] }
  | { readonly is: 'code'; readonly text: string; readonly language: string }
  | { readonly is: 'list'; readonly ordered: boolean; readonly items: readonly ListItem[] };

export interface ListItem {
  readonly depth: number;
  readonly text: readonly Inline[];
}

export type Inline =
  | string
  | { readonly is: 'code' | 'strong' | 'emphasis'; readonly text: string }
  | { readonly is: 'link'; readonly text: string; readonly address: string };

const FENCE = /^\s{0,3}(```+|~~~+)\s*([\w+#.-]*)/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,4})[.)])\s+(.*)$/;
const MOST_DEPTH = 4;

export function parseMarkdown(source: string): readonly Block[] {
  const lines = source.replaceAll('\r\n', '\n').split('\n');
  const blocks: Block[] = [];
  let text: string[] = [];
  let items: ListItem[] = [];
  let isOrdered = false;
  const endText = (): void => {
    if (text.length > 0) blocks.push({ is: 'paragraph', text: parseInline(text.join('\n')) });
    text = [];
  };
  const endList = (): void => {
    if (items.length > 0) blocks.push({ is: 'list', ordered: isOrdered, items });
    items = [];
  };
  const endBoth = (): void => {
    endText();
    endList();
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const fence = FENCE.exec(line);
    if (fence !== null) {
      endBoth();
      const code: string[] = [];
      for (i++; i < lines.length && !(lines[i] ?? '').trim().startsWith(fence[1] ?? '```'); i++)
        code.push(lines[i] ?? '');
      blocks.push({ is: 'code', text: code.join('\n'), language: fence[2] ?? '' });
      continue;
    }
    const item = ITEM.exec(line);
    if (item !== null) {
      endText();
      const ordered = item[2] !== undefined;
      const depth = Math.min(MOST_DEPTH, Math.floor((item[1] ?? '').replaceAll('\t', '  ').length / 2));
      if (items.length > 0 && depth === 0 && ordered !== isOrdered) endList();
      if (items.length === 0) isOrdered = ordered;
      items.push({ depth, text: parseInline(item[3] ?? '') });
      continue;
    }
    const heading = /^#{1,6}\s+(.*)$/.exec(line);
    const quote = /^>\s?(.*)$/.exec(line);
    if (heading !== null || quote !== null) {
      endBoth();
      blocks.push({
        is: heading === null ? 'quote' : 'heading',
        text: parseInline((heading ?? quote)?.[1] ?? ''),
      });
      continue;
    }
    if (line.trim() === '') {
      endBoth();
      continue;
    }
    endList();
    text.push(line);
  }
  endBoth();
  return blocks;
}

const INLINE =
  /(`+)([\s\S]+?)\1|\*\*([^\s*][^*]*?)\*\*|__([^\s_][^_]*?)__|(?<![\w*])\*([^\s*][^*]*?)\*(?![\w*])|(?<![\w_])_([^\s_][^_]*?)_(?![\w_])|\[([^\]\n]{1,300})\]\(([^()\s]{1,2000})\)/g;

function parseInline(source: string): readonly Inline[] {
  const out: Inline[] = [];
  let at = 0;
  for (const match of source.matchAll(INLINE)) {
    if (match.index > at) out.push(source.slice(at, match.index));
    const [whole, , code, strong, strong2, em, em2, label, address] = match;
    if (code !== undefined) out.push({ is: 'code', text: code });
    else if (address !== undefined) out.push({ is: 'link', text: label ?? '', address });
    else if ((strong ?? strong2) !== undefined) out.push({ is: 'strong', text: strong ?? strong2 ?? '' });
    else out.push({ is: 'emphasis', text: em ?? em2 ?? '' });
    at = match.index + whole.length;
  }
  if (at < source.length) out.push(source.slice(at));
  return out;
}
