import type { Json } from '../../core/json.ts';
import { plainText } from '../reply-fields.ts';

const LONGEST_PAGE = 60_000;
const MOST_PAGES = 16;
const FRONT_MATTER = /^---[ \t]*\n((?:[^\n]{0,2000}\n){1,80}?)---[ \t]*$/gm;
const FENCED = /^```(?:markdown|md|ya?ml|skill|text)?[ \t]*\n([\s\S]*?)\n```[ \t]*$/gim;
const LABEL =
  /^[ \t]{0,8}(?:[-*][ \t]+)?(?:\*\*)?(name|title|skill|description|summary|when|category|triggers?|content|body|instructions|steps|rules|example|anti-pattern|revises|retires|reason|always|quotes?)(?:\*\*)?[ \t]*:[ \t]*(?:\*\*)?[ \t]*(.*)$/i;
const STEP = /^\s*(?:\d{1,2}[.)]|[-*+])\s+\S/;

/**
 * The skills of a reply that is a page and not JSON: a SKILL.md with front matter, YAML, labelled lines, or a heading with steps.
 * Each as a member of a JSON reply would be. Prose without such a form holds none.
 */
export function readPages(reply: string): readonly Json[] {
  const whole = plainText(reply.slice(0, LONGEST_PAGE));
  const fences = [...whole.matchAll(FENCED)].flatMap(([, inner = '']) => readText(inner));
  const found = fences.length > 0 ? fences : readText(whole);
  return found.slice(0, MOST_PAGES);
}

function readText(text: string): readonly Json[] {
  const fronts = [...text.matchAll(FRONT_MATTER)];
  if (fronts.length > 0)
    return fronts.flatMap((front, at) => {
      const from = front.index + front[0].length;
      const body = text.slice(from, fronts[at + 1]?.index ?? text.length).trim();
      const fields = readLabelled(front[1] ?? '');
      return body === '' && fields.content === undefined ? [] : [{ content: body, ...fields }];
    });
  const labelled = splitAtNames(text).map(readLabelled);
  const isWhole = labelled.filter(({ content, body, instructions, steps, rules }) =>
    [content, body, instructions, steps, rules].some((part) => part !== undefined),
  );
  if (isWhole.length > 0) return isWhole;
  const heading = /^#{1,4}\s+(\S[^\n]{1,100})$/m.exec(text);
  const page = heading === null ? '' : text.slice(heading.index);
  const steps = page.split('\n').filter((line) => STEP.test(line)).length;
  return heading === null || steps < 2 ? [] : [{ name: heading[1] ?? '', content: page }];
}

/** Each part begins with a line that names a skill. */
function splitAtNames(text: string): readonly string[] {
  const parts: string[][] = [];
  for (const line of text.split('\n')) {
    const key = LABEL.exec(line)?.[1]?.toLowerCase();
    if (key === 'name' || key === 'title' || key === 'skill') parts.push([]);
    parts.at(-1)?.push(line);
  }
  return parts.map((lines) => lines.join('\n'));
}

/** Lines such as `name: x`, each with the lines below it up to the next label. */
function readLabelled(text: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  let key: string | undefined;
  let lines: string[] = [];
  const keep = (): void => {
    const value = lines.join('\n').replace(/^\s*[|>][-+]?[ \t]*\n/, '\n');
    const bare = dedent(value).trim();
    if (key !== undefined && fields[key] === undefined) fields[key] = unquoted(bare);
  };
  for (const line of text.split('\n')) {
    const found = LABEL.exec(line);
    // In a page, "Example:" is a part of the text.
    const isText = key === 'content' || key === 'body' || key === 'instructions';
    const label = found?.[1]?.toLowerCase() ?? '';
    if (
      found === null ||
      (isText && /^(?:when|example|anti-pattern|steps|rules|always|title|name|skill)$/.test(label))
    ) {
      lines.push(line);
      continue;
    }
    keep();
    key = label;
    lines = [found[2] ?? ''];
  }
  keep();
  return fields;
}

function dedent(text: string): string {
  const lines = text.split('\n');
  const depths = lines.slice(1).flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  const depth = depths.length === 0 ? 0 : Math.min(...depths);
  return lines.map((line, at) => (at === 0 ? line : line.slice(depth))).join('\n');
}

const unquoted = (text: string): string => {
  const inner = /^(["'])([\s\S]*)\1$/.exec(text)?.[2];
  return inner === undefined || text.includes('\n') ? text : inner.replaceAll('\\"', '"');
};
