import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { siteMenu } from '../../lab/release/site-map.ts';
import { findDeadLinks, headingAnchor, sitePlaces, toSitePage } from '../../lab/release/site-pages.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { NEWEST_FORMAT } from '../../src/record/upgrade-store.ts';
import { isPacked, MARKS, NOT_RUN, PAGES, pageBlocks, ROOT, RUNNABLE, readPage } from './pages.ts';

describe('the generated pages', () => {
  it('are those that the code gives now (else run: npm run docs:reference)', async () => {
    const script = path.join(ROOT, 'build/lab/release/write-reference.js');
    const { stdout } = await promisify(execFile)(process.execPath, [script, '--check'], { cwd: ROOT }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  it('have every command, every setting and every export', () => {
    const commands = readPage('docs/reference/commands.md') ?? '';
    const table = readPage('src/cli/commands.ts') ?? '';
    const entries = [...table.matchAll(/^ {2}(\w+): \[\s*(\w+),/gm)];
    const names = entries.filter(([, , group]) => group !== 'HIDDEN').map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(25);
    for (const name of names) expect(commands).toContain(`\n## instar ${name}\n`);
    const settings = readPage('docs/reference/settings.md') ?? '';
    for (const name of ['gateway.port', 'providers.NAME.baseUrl', 'learn.budget.usdPerDay', 'store.url'])
      expect(settings).toContain(`| \`${name}\` |`);
    expect(readPage('docs/reference/api.md')).toContain('function open(home?: string | OpenOptions)');
  });
});

describe('the links of all pages', () => {
  const isFolder = (name: string): boolean =>
    statSync(path.join(ROOT, name), { throwIfNoEntry: false })?.isDirectory() === true;

  it('lead to files and headings that exist', () => {
    expect(PAGES.flatMap((page) => findDeadLinks(page, readPage, isFolder))).toEqual([]);
  });

  it('lead, on pages of the package, to files of the package (a checkout has more)', () => {
    const packed = PAGES.filter(isPacked);
    expect(packed).toContain('docs/evidence.md');
    const read = (file: string): string | undefined => (isPacked(file) ? readPage(file) : undefined);
    const hasFolder = (folder: string): boolean => isPacked(`${folder}/any`) && isFolder(folder);
    expect(packed.flatMap((page) => findDeadLinks(page, read, hasFolder))).toEqual([]);
    expect(['lab/results/memory.md', 'docs/decisions/README.md', 'deploy'].filter(isPacked)).toEqual([]);
  });

  it('would be found dead (a missing file, a missing heading)', () => {
    const pages: Record<string, string> = {
      'docs/a.md': '# A\n[b](b.md) [c](c.md) [d](b.md#there) [e](b.md#not-there) `[f](f.md)`',
      'docs/b.md': '# B\n## There!',
    };
    expect(
      findDeadLinks(
        'docs/a.md',
        (file) => pages[file],
        () => false,
      ),
    ).toEqual(['docs/a.md: c.md does not exist', 'docs/a.md: b.md#not-there has no such heading']);
    expect(headingAnchor('What `it` is, *really* (1)')).toBe('what-it-is-really-1');
  });
});

describe('the pages of the site', () => {
  const docs = PAGES.filter((page) => page.startsWith('docs/')).map((page) => page.slice(5));
  const places = sitePlaces(docs);

  it('keep their links, also where a page moved, and lose those to what the site does not have', () => {
    const text =
      'See [S](../SECURITY.md#who-may-do-what), [d](decisions/README.md), [l](../lab/run), ![p](page/now.png).';
    const small = new Map([...places, ['docs/decisions/README.md', 'decisions/index.md']]);
    expect(toSitePage(text, 'docs/start.md', small)).toBe(
      'See [S](./security.md#who-may-do-what), [d](./decisions/index.md), l, ![p](./page/now.png).',
    );
  });

  it('are all in the menu, each under a heading and none under "More"', () => {
    const names = [...places.values()].map((place) => place.replace(/\.md$/, ''));
    const linked = new Set(
      siteMenu(names, (place) => place).flatMap(({ items }) => items.map(({ link }) => link)),
    );
    const missing = names.filter((name) => !linked.has(`/${name.replace(/(^|\/)index$/, '$1')}`));
    expect(missing).toEqual([]);
    expect(siteMenu(names, (place) => place).map(({ text }) => text)).not.toContain('More');
  });

  it('are few enough to be read: 22 in the menu, 20,000 words by hand in docs/', () => {
    expect(places.size).toBeLessThanOrEqual(22);
    const words = docs
      .filter((page) => !page.includes('/'))
      .reduce((sum, page) => sum + (readPage(`docs/${page}`) ?? '').split(/\s+/).filter(Boolean).length, 0);
    expect(words).toBeLessThanOrEqual(20_000);
    expect((readPage('README.md') ?? '').split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(400);
  });
});

describe('the words of the pages', () => {
  it('are about what a reader can do and know, not about the machines and attempts that a measurement took', () => {
    const making =
      /\b(?:third|fourth|fifth) start\b|machine's time|for want of (?:GPU )?time|lost (?:with its machine|on its way)|this workplace|\/work\/|before and after the move/i;
    expect(PAGES.filter((page) => making.test(readPage(page) ?? ''))).toEqual([]);
    const history = /since been removed|\ball ran headless|\blast run 20\d\d|wrote this page/i;
    expect(PAGES.filter((page) => isPacked(page) && history.test(readPage(page) ?? ''))).toEqual([]);
  });
});

describe('the blocks of code on the pages', () => {
  const blocks = pageBlocks().filter(({ language }) => RUNNABLE.has(language));

  it('are run by a test, checked as a config, or say visibly why they are not', () => {
    expect(blocks.length).toBeGreaterThan(30);
    const unclear = blocks.filter(
      ({ language, mark, before }) =>
        !NOT_RUN.test(before) &&
        (mark === undefined
          ? language !== 'json'
          : MARKS[mark] === undefined && !/^(?:run: connected|json: line of) \S+$/.test(mark)),
    );
    expect(unclear.map(({ place }) => place)).toEqual([]);
  });

  it('have a known language where they look like commands (not: hide from the rule above)', () => {
    const hidden = pageBlocks().filter(
      ({ language, code }) =>
        language === '' && /^(?:\$ )?(?:instar|npm|npx|node|python3?|curl) /m.test(code),
    );
    expect(hidden.map(({ place }) => place)).toEqual([]);
  });

  const configs = blocks.filter(({ language, mark }) => language === 'json' && mark === undefined);
  it.each(configs)('are valid configs: $place', ({ code }) => {
    const env = { OPENAI_API_KEY: 'sk-example', ANTHROPIC_API_KEY: 'sk-example' };
    expect(() => checkConfig(JSON.parse(code), { env })).not.toThrow();
  });

  it.each(blocks.filter(({ mark }) => mark?.startsWith('json: line of ') === true))(
    'are lines of the files that they name: $place',
    ({ code, mark }) => {
      const lines = (readPage((mark ?? '').slice('json: line of '.length)) ?? '').split('\n');
      expect(lines.filter((line) => line !== '').map((line) => JSON.parse(line))).toContainEqual(
        JSON.parse(code),
      );
    },
  );

  it('name only commands and options that exist, also where no test runs them', () => {
    const commands = readCommands();
    const wrong = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code, place }) =>
        instarLines(code).flatMap((line) => {
          const fault = findFault(commands, line);
          return fault === undefined ? [] : [`${place}: ${line}: ${fault}`];
        }),
      );
    expect(wrong).toEqual([]);
    expect(findFault(commands, 'lessons shw')).toContain('shw');
    expect(findFault(commands, 'status --nope')).toContain('--nope');
    expect(findFault(commands, 'feedback last "use ISO dates" --good')).toBeUndefined();
  });
});

it('the formats of the record on the page about upgrades end with the newest one', () => {
  const [, table = ''] = (readPage('docs/operate.md') ?? '').split('### Formats of the record');
  const formats = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, format]) => Number(format));
  expect(formats).toEqual(Array.from({ length: NEWEST_FORMAT }, (_, at) => at + 1));
});

interface KnownCommand {
  readonly options: ReadonlySet<string>;
  readonly takesArguments: boolean;
}

/** The commands of the reference, by their words: `lessons show`. */
function readCommands(): ReadonlyMap<string, KnownCommand> {
  const page = readPage('docs/reference/commands.md') ?? '';
  return new Map(
    page
      .split(/^#{2,4} instar /m)
      .slice(1)
      .map((part) => {
        const rows = [...part.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);
        const options = rows
          .filter((name) => name.startsWith('-'))
          .flatMap((name) => name.match(/--?[\w-]+/g) ?? []);
        const known = { options: new Set(options), takesArguments: rows.some((name) => /^[<[]/.test(name)) };
        return [part.slice(0, part.indexOf('\n')), known] as const;
      }),
  );
}

/** The arguments of each call of `instar` in a script. */
const instarLines = (code: string): readonly string[] =>
  code
    .split('\n')
    .map((line) => line.replace(/\s#.*$/, ''))
    .flatMap((line) =>
      [...line.matchAll(/(?:^|[\s(])instar ([^|&;)]*)/g)].map(([, words = '']) => words.trim()),
    )
    .filter((words) => words !== '');

const EVERYWHERE = ['--home', '--json', '--help', '-h', '--version'];

/** What is wrong with a line, as far as the names of commands and options tell. */
function findFault(commands: ReadonlyMap<string, KnownCommand>, line: string): string | undefined {
  const words = line.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  let name = '';
  for (const word of words) {
    const longer = `${name} ${word}`.trim();
    const known = commands.get(name);
    if (word.startsWith('-')) {
      const option = word.split('=')[0] ?? '';
      if (!EVERYWHERE.includes(option) && known?.options.has(option) !== true) return `no option ${option}`;
    } else if (commands.has(longer)) name = longer;
    else if (known === undefined || (!known.takesArguments && known.options.size === 0))
      return `no command ${word}`;
  }
  return undefined;
}
