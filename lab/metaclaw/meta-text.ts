import type { Found } from './read-work.ts';

type Members = ReadonlyMap<string, string>;

/** `key: value` lines between two lines of `---`, the first of which begins the file. */
export function readFrontMatter(text: string): Found<Members> {
  const lines = linesOf(text);
  if (lines[0]?.trimEnd() !== '---') return { fault: 'it does not begin with front matter (---)' };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (end < 0) return { fault: 'its front matter is not closed (---)' };
  return { value: membersOf(lines.slice(1, end), plainOf) };
}

/** The lines after `Meta:` in the docstring that begins a module, up to a blank one. */
export function readPythonMeta(text: string): Found<Members> {
  const docstring = docstringOf(text);
  if (docstring === undefined) return { fault: 'there is no module docstring in front of the code' };
  const lines = linesOf(docstring);
  const start = lines.findIndex((line) => line.trimStart().startsWith('Meta:'));
  if (start < 0) return { fault: 'its module docstring has no "Meta:" section' };
  const after = lines.slice(start + 1);
  const end = after.findIndex((line) => line.trim() === '');
  const first = (lines[start] ?? '').trimStart().slice('Meta:'.length);
  const members = membersOf([first, ...(end < 0 ? after : after.slice(0, end))], (value) => value);
  return { value: new Map([...members].map(([key, value]) => [key.toLowerCase(), value])) };
}

/** `# meta: key=value key=value` as the first line. */
export function readCsvMeta(text: string): Found<Members> {
  const mark = '# meta:';
  const [first = ''] = linesOf(text.slice(0, 10_000));
  if (!first.startsWith(mark))
    return { fault: 'its first line is not "# meta: created_at=… author=… status=…"' };
  const pairs = first.slice(mark.length).split(/\s+/);
  return { value: new Map(pairs.flatMap((pair) => splitAt(pair, '='))) };
}

const linesOf = (text: string): readonly string[] => text.split(/\r\n|\r|\n/);

const membersOf = (lines: readonly string[], unwrap: (value: string) => string): Members =>
  new Map(lines.flatMap((line) => splitAt(line, ':').map(([key, value]) => [key, unwrap(value)] as const)));

function splitAt(text: string, mark: string): readonly (readonly [string, string])[] {
  const at = text.indexOf(mark);
  return at < 0 ? [] : [[text.slice(0, at).trim(), text.slice(at + 1).trim()]];
}

/** A scalar of YAML without its quotes or the comment behind it. */
function plainOf(value: string): string {
  const quote = value[0];
  if (quote === '"' || quote === "'") {
    const end = value.indexOf(quote, 1);
    const rest = end < 0 ? value : value.slice(end + 1).trim();
    return end > 0 && (rest === '' || rest.startsWith('#')) ? value.slice(1, end) : value;
  }
  const comment = value.search(/\s#/);
  return comment < 0 ? value : value.slice(0, comment);
}

/** Comments may stand before it, nothing else may: a text further down belongs to a function, or to nobody. */
function docstringOf(text: string): string | undefined {
  let at = 0;
  for (;;) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end).trim();
    if (line !== '' && !line.startsWith('#')) break;
    if (end < 0) return undefined;
    at = end + 1;
  }
  const opening = /[rRuU]?("""|''')/y;
  opening.lastIndex = at;
  const quote = opening.exec(text)?.[1];
  if (quote === undefined) return undefined;
  const close = text.indexOf(quote, opening.lastIndex);
  return close < 0 ? undefined : text.slice(opening.lastIndex, close);
}
