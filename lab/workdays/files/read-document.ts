import { isObject, type Json, type JsonObject, parseJson } from '../../../src/core/json.ts';

/** A file as a reader finds it. */
export interface FoundDocument {
  readonly path: string;
  readonly text: string;
  /** Markdown: its lines `label: value`, labels in small letters. Undefined where it cannot be read as an object. */
  readonly members: JsonObject | undefined;
  /** Markdown: what stands between two lines of `---` at its top. */
  readonly front: JsonObject;
  /** Its first line that is not part of such a block. */
  readonly firstLine: string;
}

export function readDocument(path: string, text: string, format: 'json' | 'md'): FoundDocument {
  if (format === 'md') return readMarkdown(path, text);
  const json = parseJson(text);
  return { path, text, members: isObject(json) ? json : undefined, front: {}, firstLine: firstOf(text) };
}

function readMarkdown(path: string, text: string): FoundDocument {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const opens = lines.findIndex((line) => line.trim() !== '');
  const closes = lines[opens] === '---' ? lines.indexOf('---', opens + 1) : -1;
  const front = closes < 0 ? [] : lines.slice(opens + 1, closes);
  const body = closes < 0 ? lines : lines.slice(closes + 1);
  return {
    path,
    text,
    members: labelled(body),
    front: labelled(front),
    firstLine: firstOf(body.join('\n')),
  };
}

const firstOf = (text: string): string =>
  text
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim() ?? '';

/** Lines such as `- **Held at**: noon`; the first of a label counts. */
function labelled(lines: readonly string[]): JsonObject {
  const members: Record<string, Json> = {};
  for (const line of lines) {
    const bare = line
      .replaceAll('**', '')
      .replaceAll('__', '')
      .replace(/^[\s>#*+-]+/, '');
    const at = bare.indexOf(':');
    if (at <= 0) continue;
    const label = labelOf(bare.slice(0, at));
    members[label] ??= bare
      .slice(at + 1)
      .trim()
      .replace(/^["'`](.*)["'`]$/, '$1');
  }
  return members;
}

/** A label as it is compared: `Held at`, `held_at` and `HELD AT` are the same. */
export const labelOf = (label: string): string =>
  label
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ');
