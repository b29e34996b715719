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
      ['first-hour', 'The first hour'],
      ['how-it-learns', 'How it learns'],
      ['faq', 'Questions'],
    ],
  },
  {
    title: 'Use it',
    pages: [
      ['lessons', 'Lessons and rules'],
      ['memory', 'Memory'],
      ['practice', 'Practice'],
      ['weights', 'Train weights'],
      ['page', 'The page in the browser'],
      ['import-export', 'Import and export'],
    ],
  },
  {
    title: 'Trust it',
    pages: [
      ['evidence', 'Evidence and limits'],
      ['privacy', 'Privacy'],
      ['security', 'Security'],
    ],
  },
  {
    title: 'Run it',
    pages: [
      ['team', 'For a team'],
      ['operate', 'Upgrade, alerts, traces'],
      ['changelog', 'Changelog'],
    ],
  },
  {
    title: 'Build on it',
    pages: [
      ['frameworks', 'Your own program'],
      ['library', 'As a library'],
      ['adaptation', 'Events, limits, router, flows'],
    ],
  },
  {
    title: 'Reference',
    pages: [
      ['reference/commands', 'Every command'],
      ['reference/settings', 'Every setting'],
      ['reference/api', 'The library’s API'],
    ],
  },
];

interface MenuEntry {
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
  const others = places.filter((place) => !listed.has(place) && place !== 'index');
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
  ];
  return groups
    .filter(({ items }) => items.length > 0)
    .map(({ text, items }, nth) => ({ text, collapsed: nth > 1, items }));
}

const linkTo = (place: string): string => `/${place.replace(/(^|\/)index$/, '$1')}`;
