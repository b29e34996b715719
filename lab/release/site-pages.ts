import { posix } from 'node:path';

/** Pages that are outside `docs/` in the repository, with their places on the site. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
};
/** Files that are not pages; the site serves them from its root. */
const FILES: ReadonlySet<string> = new Set(['config.schema.json', 'LICENSE']);

/** The pages of the repository that the site has, with their places on it. `docs`: the files below `docs/`. Decisions, the map of the
 * code, notices and model cards stay in the repository. */
export const sitePlaces = (docs: readonly string[]): ReadonlyMap<string, string> =>
  new Map([
    ...Object.entries(ELSEWHERE),
    ...docs
      .filter((file) => file.endsWith('.md') && !file.startsWith('decisions/'))
      .map((file) => [`docs/${file}`, file.replace(/(^|\/)README\.md$/, '$1index.md')] as const),
  ]);

/**
 * The text of a page for the site: its links lead to places on the site. A link to something that the site does not have
 * (a folder of the code) becomes its words.
 */
export function toSitePage(text: string, file: string, places: ReadonlyMap<string, string>): string {
  const here = posix.dirname(places.get(file) ?? file);
  return outsideCode(text, (part) =>
    part.replaceAll(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, bang: string, words: string, link: string) => {
      if (/^(?:[a-z]+:|#|\/)/.test(link)) return whole;
      const [path = '', anchor] = link.split('#');
      const target = posix.normalize(posix.join(posix.dirname(file), path));
      const hash = anchor === undefined ? '' : `#${anchor}`;
      if (bang === '!') return `![${words}](${relative(here, target.replace(/^docs\//, ''))})`;
      if (FILES.has(target)) return `<a href="/${target}" target="_self">${words}</a>`;
      const place = places.get(target) ?? places.get(posix.join(target, 'README.md'));
      return place === undefined ? words : `[${words}](${relative(here, place)}${hash})`;
    }),
  );
}

const relative = (from: string, to: string): string => {
  const path = posix.relative(from, to);
  return path.startsWith('.') ? path : `./${path}`;
};

/** Applies a change to what stands outside fenced blocks. */
function outsideCode(text: string, change: (part: string) => string): string {
  let isCode = false;
  return text
    .split('\n')
    .map((line) => {
      if (/^\s*```/.test(line)) isCode = !isCode;
      return isCode ? line : change(line);
    })
    .join('\n');
}

/** The anchor of a heading, by the rule of the sites that show Markdown files. */
export const headingAnchor = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** What is wrong with the links of a page. `read`: the text of a file of the repository; undefined when it is missing. */
export function findDeadLinks(
  file: string,
  read: (file: string) => string | undefined,
  isFolder: (path: string) => boolean,
): readonly string[] {
  const faults: string[] = [];
  outsideCode(read(file) ?? '', (line) => {
    for (const [, link = ''] of line.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), path));
      if (isFolder(target)) continue;
      const text = read(target);
      if (text === undefined) faults.push(`${file}: ${link} does not exist`);
      else if (anchor !== undefined && !anchorsOf(text).has(anchor))
        faults.push(`${file}: ${link} has no such heading`);
    }
    return line;
  });
  return faults;
}

function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Map<string, number>();
  const all = new Set<string>();
  outsideCode(text, (line) => {
    const heading = /^#{1,6} (.+)$/.exec(line)?.[1];
    if (heading === undefined) return line;
    const anchor = headingAnchor(heading);
    const before = anchors.get(anchor) ?? 0;
    anchors.set(anchor, before + 1);
    all.add(before === 0 ? anchor : `${anchor}-${before}`);
    return line;
  });
  return all;
}
