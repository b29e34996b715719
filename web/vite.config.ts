import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const manifest = JSON.parse(readFileSync(path.join(import.meta.dirname, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

/** The licences of what is bundled: they must travel with the copies. */
const bundledLicenses = (names: readonly string[]): Plugin => ({
  name: 'bundled-licenses',
  generateBundle() {
    const require = createRequire(import.meta.url);
    const source = names.map((name) => {
      const folder = path.dirname(require.resolve(`${name}/package.json`));
      const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
        version: string;
      };
      return `${name} ${version}\n\n${readFileSync(path.join(folder, 'LICENSE'), 'utf8')}`;
    });
    this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: source.join('\n\n') });
  },
});

const MOST_BYTES = 150 * 1024;

/** The whole page, compressed as a server would: a page that is opened every day loads at once. */
const sizeBudget = (): Plugin => ({
  name: 'size-budget',
  generateBundle(_options, bundle) {
    const sizes = Object.values(bundle).map((file) => {
      const bytes = gzipSync(file.type === 'chunk' ? file.code : file.source).length;
      return { name: file.fileName, bytes };
    });
    const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { name, bytes } of sizes) this.info(`${name}: ${bytes} bytes gzip`);
    this.info(`all: ${total} of at most ${MOST_BYTES} bytes gzip`);
    if (total > MOST_BYTES)
      this.error(`The page has ${total} bytes gzip, at most ${MOST_BYTES} are allowed.`);
  },
});

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  build: {
    outDir: path.resolve(import.meta.dirname, '../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL would be a second way to load code or fonts: everything is a file of this origin.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  plugins: [bundledLicenses(Object.keys(manifest.dependencies)), sizeBudget()],
});
