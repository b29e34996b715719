const MOST_REFERENCE = 12;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * The text of every `calendar-data` element of a WebDAV answer, whatever its prefix. One pass, no entities but the five
 * and numbers: a document that declares any, or has a document type at all, is refused. Undefined for that and for
 * what is no XML.
 */
export function readMultistatus(xml: string): readonly string[] | undefined {
  if (!xml.trimStart().startsWith('<')) return undefined;
  const texts: string[] = [];
  let open: string[] | undefined;
  let hasRoot = false;
  let at = 0;
  while (at < xml.length) {
    const tag = xml.indexOf('<', at);
    const text = xml.slice(at, tag < 0 ? xml.length : tag);
    const read = open === undefined ? '' : decode(text);
    if (read === undefined) return undefined;
    open?.push(read);
    if (tag < 0) break;
    const part = partAt(xml, tag);
    if (part === undefined) return undefined;
    at = part.end;
    if (part.kind === 'cdata') open?.push(part.text);
    if (part.kind === 'open' && part.text === 'multistatus') hasRoot = true;
    if (part.kind === 'open' && part.text === 'calendar-data') open = [];
    if (part.kind === 'close' && part.text === 'calendar-data' && open !== undefined) {
      texts.push(open.join(''));
      open = undefined;
    }
  }
  return hasRoot && open === undefined ? texts : undefined;
}

interface Part {
  readonly kind: 'open' | 'close' | 'cdata' | 'other';
  /** The element's name without its prefix, or the characters of a CDATA section. */
  readonly text: string;
  readonly end: number;
}

function partAt(xml: string, at: number): Part | undefined {
  const until = (mark: string, from: number): number => {
    const found = xml.indexOf(mark, from);
    return found < 0 ? -1 : found + mark.length;
  };
  if (xml.startsWith('<![CDATA[', at)) {
    const end = until(']]>', at);
    return end < 0 ? undefined : { kind: 'cdata', text: xml.slice(at + 9, end - 3), end };
  }
  if (xml.startsWith('<!--', at)) {
    const end = until('-->', at + 4);
    return end < 0 ? undefined : { kind: 'other', text: '', end };
  }
  if (xml.startsWith('<!', at)) return undefined;
  if (xml.startsWith('<?', at)) {
    const end = until('?>', at);
    return end < 0 ? undefined : { kind: 'other', text: '', end };
  }
  const end = tagEnd(xml, at);
  if (end === undefined) return undefined;
  const isClose = xml[at + 1] === '/';
  const inside = xml.slice(at + (isClose ? 2 : 1), end - 1);
  const name = inside.split(/[\s/]/, 1)[0] ?? '';
  const local = name.slice(name.indexOf(':') + 1);
  const isEmpty = !isClose && inside.endsWith('/');
  return { kind: isClose ? 'close' : isEmpty ? 'other' : 'open', text: local, end };
}

/** Behind the `>` that is in no attribute's value. */
function tagEnd(xml: string, at: number): number | undefined {
  let quote = '';
  for (let index = at + 1; index < xml.length; index++) {
    const character = xml[index] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return index + 1;
    else if (character === '<') return undefined;
  }
  return undefined;
}

function decode(text: string): string | undefined {
  const parts: string[] = [];
  let at = 0;
  for (let mark = text.indexOf('&'); mark >= 0; mark = text.indexOf('&', at)) {
    const end = text.indexOf(';', mark);
    if (end < 0 || end - mark > MOST_REFERENCE) return undefined;
    const character = referenced(text.slice(mark + 1, end));
    if (character === undefined) return undefined;
    parts.push(text.slice(at, mark), character);
    at = end + 1;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

function referenced(name: string): string | undefined {
  const code = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
  if (code === null) return Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  const point = code[1] === undefined ? Number(code[2]) : Number.parseInt(code[1], 16);
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
