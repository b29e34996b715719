import { asString } from '../../src/core/json.ts';

/** A group of the site's menu: pages by their places below `docs/`, without `.md`. */
interface MenuGroup {
  readonly title: string;
  readonly pages: readonly (string | readonly [place: string, title: string])[];
}

/** The menu of the site. A page that is on no line of it stands under "More". */
const MENU: readonly MenuGroup[] = [
  {
    title: 'Get started',
    pages: [
      ['start', 'Install and connect'],
      ['start/claude-code', 'Claude Code'],
      ['start/codex', 'Codex'],
      ['start/opencode', 'OpenCode'],
      ['start/openclaw', 'OpenClaw'],
      ['start/pi', 'pi'],
      ['start/cline', 'Cline'],
      ['start/continue', 'Continue'],
      ['start/aider', 'aider'],
      ['start/sdks', 'OpenAI and Anthropic SDKs'],
      ['first-hour', 'The first hour, recorded'],
      ['clients', 'Tested clients'],
      ['local-models', 'Local models'],
      ['faq', 'Questions and limits'],
      ['upgrade', 'Upgrade'],
    ],
  },
  {
    title: 'How it learns',
    pages: [
      ['how-it-learns', 'In five pictures'],
      ['rules', 'Rules you tell'],
      ['learning', 'What lessons look like'],
      ['signals', 'Signals'],
      ['recall', 'Recall'],
      ['remembering', 'What is remembered'],
      ['consolidation', 'Consolidation'],
      ['practice', 'Practice'],
      ['identity', 'Identity'],
      ['transfer', 'Transfer'],
      ['adaptation', 'Adaptation'],
      ['adaptation-fixes', 'Adaptation: repairs'],
      ['adaptation-flows', 'Adaptation: flows'],
      ['adaptation-limits', 'Adaptation: limits'],
      ['adaptation-router', 'Adaptation: router'],
      ['live-training', 'Training on live turns'],
      ['statistics', 'Statistics'],
    ],
  },
  {
    title: 'Use it',
    pages: [
      ['page', 'The page in the browser'],
      ['library', 'As a library'],
      ['import-export', 'Import and export'],
      ['engines', 'Engines and weights'],
    ],
  },
  {
    title: 'Run it for a team',
    pages: [
      ['team', 'A team'],
      ['postgres', 'PostgreSQL'],
      ['reliability', 'Reliability'],
      ['security', 'Security'],
    ],
  },
  {
    title: 'Reference',
    pages: [
      ['reference/commands', 'Every command'],
      ['reference/settings', 'Every setting'],
      ['reference/api', 'The library’s API'],
      ['changelog', 'Changelog'],
      ['third-party', 'Third-party notices'],
    ],
  },
  {
    title: 'Measured',
    pages: [
      ['benchmarks', 'All results, with dates'],
      ['results', 'Workdays'],
      ['benchmark', 'The benchmark'],
      ['real-model', 'Real models'],
      ['performance', 'Performance'],
      ['memory', 'Memory'],
      ['memory-year', 'A year of memory'],
      ['poison', 'Poisoned inputs'],
      ['nano-card', 'The embedded model'],
    ],
  },
  {
    title: 'Extend it',
    pages: [
      ['extend', 'Add a learner, verifier or suite'],
      ['map', 'The map of the code'],
      ['release', 'Make a release'],
      ['decisions/index', 'Decisions'],
    ],
  },
];

export interface MenuEntry {
  readonly text: string;
  readonly link: string;
}

/** The menu over the pages that exist, in the form that the site reads. `titleOf`: the first heading of a page. */
export function siteMenu(
  places: readonly string[],
  titleOf: (place: string) => string,
): readonly { readonly text: string; readonly collapsed: boolean; readonly items: readonly MenuEntry[] }[] {
  const exists = new Set(places);
  const listed = new Set(MENU.flatMap(({ pages }) => pages.map((page) => asString(page) ?? page[0] ?? '')));
  const decisions = places.filter((place) => /^decisions\/\d/.test(place)).toSorted();
  const others = places.filter(
    (place) => !listed.has(place) && !decisions.includes(place) && place !== 'index',
  );
  const groups = [
    ...MENU.map(({ title, pages }) => ({
      text: title,
      items: pages.flatMap((page) => {
        const [place, text] = typeof page === 'string' ? [page, titleOf(page)] : page;
        return exists.has(place) ? [{ text, link: linkTo(place) }] : [];
      }),
    })),
    {
      text: 'More',
      items: others.toSorted().map((place) => ({ text: titleOf(place), link: linkTo(place) })),
    },
    { text: 'Decisions', items: decisions.map((place) => ({ text: titleOf(place), link: linkTo(place) })) },
  ];
  return groups
    .filter(({ items }) => items.length > 0)
    .map(({ text, items }, nth) => ({ text, collapsed: nth > 1, items }));
}

const linkTo = (place: string): string => `/${place.replace(/(^|\/)index$/, '$1')}`;
