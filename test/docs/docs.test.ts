import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { declareEveryCommand } from '../../lab/release/command-reference.ts';
import { siteMenu } from '../../lab/release/site-map.ts';
import { findDeadLinks, headingAnchor, sitePlaces, toSitePage } from '../../lab/release/site-pages.ts';
import { writeReference } from '../../lab/release/write-reference.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { MARKS, NOT_RUN, PAGES, pageBlocks, ROOT, RUNNABLE, readPage } from './pages.ts';

describe('the generated pages', () => {
  it('are those that the code gives now (else run: npm run docs:reference)', async () => {
    for (const [name, text] of Object.entries(await writeReference(ROOT)))
      expect(readPage(name) === text ? '' : `${name} is out of date: npm run docs:reference`).toBe('');
  });

  it('have every command, every setting and every export', async () => {
    const commands = readPage('docs/reference/commands.md') ?? '';
    const program = await declareEveryCommand();
    expect(program.commands.length).toBeGreaterThan(25);
    for (const command of program.commands.filter((one) => one.name() !== 'complete'))
      expect(commands).toContain(`\n## instar ${command.name()}\n`);
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

  it('are all in the menu', () => {
    const names = [...places.values()].map((place) => place.replace(/\.md$/, ''));
    const linked = new Set(
      siteMenu(names, (place) => place).flatMap(({ items }) => items.map(({ link }) => link)),
    );
    const missing = names.filter((name) => !linked.has(`/${name.replace(/(^|\/)index$/, '$1')}`));
    expect(missing).toEqual([]);
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

  it('name only commands and options that exist, also where no test runs them', async () => {
    const program = await declareEveryCommand();
    const wrong = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code, place }) =>
        instarLines(code).flatMap((line) => {
          const fault = findFault(program, line);
          return fault === undefined ? [] : [`${place}: ${line}: ${fault}`];
        }),
      );
    expect(wrong).toEqual([]);
    expect(findFault(program, 'lessons shw')).toContain('shw');
    expect(findFault(program, 'status --nope')).toContain('--nope');
  });
});

/** The arguments of each call of `instar` in a script. */
const instarLines = (code: string): readonly string[] =>
  code
    .split('\n')
    .map((line) => line.replace(/\s#.*$/, ''))
    .flatMap((line) =>
      [...line.matchAll(/(?:^|[\s(])instar ([^|&;)]*)/g)].map(([, words = '']) => words.trim()),
    )
    .filter((words) => words !== '');

/** What is wrong with a line, as far as the names of commands and options tell. */
function findFault(program: Command, line: string): string | undefined {
  const words = line.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  let command = program;
  for (const word of words) {
    if (word.startsWith('-')) {
      const name = word.split('=')[0] ?? '';
      const known = ['--home', '--json', '--help', '-h', '--version'].includes(name);
      if (!known && !command.options.some(({ short, long }) => name === short || name === long))
        return `no option ${name}`;
      continue;
    }
    if (command.commands.length === 0) continue;
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = next;
    else if (command.registeredArguments.length === 0) return `no command ${word}`;
  }
  return undefined;
}
