import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { siteMenu } from './site-map.ts';
import { sitePlaces, toSitePage } from './site-pages.ts';

/** `npm run docs:build` runs it in the root of the checkout: writes the pages of the site and its menu into `site/pages`. */
const to = 'site/pages';
rmSync(to, { recursive: true, force: true });
const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) =>
  name.replaceAll('\\', '/'),
);
const places = new Map([...sitePlaces(docs)].filter(([file]) => existsSync(file)));
for (const [file, place] of places) {
  mkdirSync(dirname(join(to, place)), { recursive: true });
  writeFileSync(join(to, place), toSitePage(readFileSync(file, 'utf8'), file, places));
}
for (const name of docs.filter((one) => /\.(?:svg|png)$/.test(one)))
  cpSync(join('docs', name), join(to, name));
writeFileSync(join(to, 'index.md'), readFileSync('site/home.md', 'utf8'));
mkdirSync(join(to, 'public'), { recursive: true });
for (const name of ['config.schema.json', 'LICENSE']) cpSync(name, join(to, 'public', name));

const titleOf = (place: string): string => {
  const heading = /^# (.+)$/m.exec(readFileSync(join(to, `${place}.md`), 'utf8'))?.[1] ?? place;
  return heading.replaceAll('`', '');
};
const names = [...places.values()].map((place) => place.replace(/\.md$/, ''));
writeFileSync('site/menu.json', JSON.stringify(siteMenu(names, titleOf), undefined, 2));
process.stderr.write(`site/pages: ${names.length + 1} pages\n`);
