import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { headingAnchor } from '../../build/lab/release/site-pages.js';

const menu = JSON.parse(readFileSync(new URL('../menu.json', import.meta.url), 'utf8'));
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

export default defineConfig({
  title: 'Instar',
  description: 'The learning layer for LLM agents: your agent gets better by being used.',
  srcDir: 'pages',
  outDir: '../dist/site',
  cacheDir: '.cache',
  cleanUrls: false,
  // Pages are the same whoever builds them, and when.
  lastUpdated: false,
  markdown: { anchor: { slugify: headingAnchor }, lineNumbers: false },
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    sidebar: menu,
    nav: [
      { text: 'Get started', link: '/start' },
      { text: 'How it learns', link: '/how-it-learns' },
      { text: 'Commands', link: '/reference/commands' },
      { text: 'Settings', link: '/reference/settings' },
      { text: `${version}`, link: '/changelog' },
    ],
    footer: { message: 'MIT licence. No telemetry, no account.' },
  },
});
