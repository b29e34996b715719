import { readScalar } from './scalar.ts';

/** A short list: `[a, "b, c"]`, lines of `- a`, or `a, b` on one line. Empty items are left out. */
export function readList(raw: string): readonly string[] {
  const text = raw.trim();
  const items = text.startsWith('[')
    ? splitAtCommas(text.slice(1, text.includes(']') ? text.lastIndexOf(']') : undefined))
    : text.startsWith('-')
      ? splitAtDashes(text)
      : splitAtCommas(toText(raw));
  return items.map((item) => toText(item).trim()).filter((item) => item !== '');
}

/** Text that is not a valid scalar is taken literally. */
function toText(raw: string): string {
  const text = readScalar(raw);
  return typeof text === 'string' ? text : raw;
}

function splitAtCommas(text: string): readonly string[] {
  const items: string[] = [];
  let start = 0;
  let quote = '';
  let isFresh = true;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === '\\' && quote === '"') at++;
      else if (character === quote) quote = '';
    } else if (character === ',') {
      items.push(text.slice(start, at));
      start = at + 1;
      isFresh = true;
    } else if (isFresh && character.trim() !== '') {
      if (character === '"' || character === "'") quote = character;
      isFresh = false;
    }
  }
  return [...items, text.slice(start)];
}

function splitAtDashes(text: string): readonly string[] {
  const items: string[][] = [];
  for (const line of text.split('\n')) {
    const said = line.trim();
    if (said === '-' || said.startsWith('- ')) items.push([said.slice(1).trimStart()]);
    else items.at(-1)?.push(said);
  }
  return items.map((lines) => lines.join('\n'));
}
