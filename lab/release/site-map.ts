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
      ['first-hour', 'The first hour, recorded'],
      ['local-models', 'Local models'],
      ['faq', 'Questions'],
    ],
  },
  {
    title: 'How it learns',
    pages: [
      ['how-it-learns', 'In five pictures'],
      ['lessons', 'Lessons and rules'],
      ['memory', 'Memory'],
      ['practice', 'Practice'],
      ['weights', 'Weights'],
      ['adaptation', 'Adaptation'],
      ['identity', 'Identity'],
    ],
  },
  {
    title: 'Use it',
    pages: [
      ['page', 'The page in the browser'],
      ['clients', 'Tested clients'],
      ['team', 'For a team'],
      ['privacy', 'Privacy'],
      ['security', 'Security'],
      ['evidence', 'Evidence and limits'],
      ['upgrade', 'Upgrade'],
    ],
  },
  {
    title: 'Build on it',
    pages: [
      ['library', 'As a library'],
      ['frameworks', 'Frameworks'],
      ['import-export', 'Import and export'],
      ['traces', 'OpenTelemetry'],
      ['extend', 'Extend it'],
      ['map', 'The map of the code'],
    ],
  },
  {
    title: 'Reference',
    pages: [
      ['reference/commands', 'Every command'],
      ['reference/settings', 'Every setting'],
      ['reference/capabilities', 'What the sources describe'],
      ['reference/api', 'The library’s API'],
      ['changelog', 'Changelog'],
      ['third-party', 'Third-party notices'],
      ['nano-card', 'The embedded model'],
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
