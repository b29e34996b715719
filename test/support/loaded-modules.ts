import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export interface LoadedModules {
  /** Makes a process and its threads write down every module that they load. */
  readonly env: { readonly NODE_OPTIONS: string };
  /** File URLs; of a bundled file those of the compiled modules that it contains, below `build/`. */
  list(): ReadonlySet<string>;
  remove(): void;
}

/** Watches which modules a process loads, in all of its threads. */
export function watchModules(): LoadedModules {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-modules-'));
  const [start, hook, list] = ['start.mjs', 'hook.mjs', 'list.txt'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  writeFileSync(
    start,
    `import { register } from 'node:module';\nregister(${JSON.stringify(pathToFileURL(hook).href)});\n`,
  );
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  if (url.startsWith('file:')) appendFileSync(${JSON.stringify(list)}, url + '\\n');
  return next(url, context);
}
`,
  );
  return {
    env: { NODE_OPTIONS: `--import=${pathToFileURL(start).href}` },
    list: () => {
      const urls = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : [];
      return new Set(urls.flatMap(modulesIn));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const root = new URL('../../', import.meta.url).href;

function modulesIn(url: string): readonly string[] {
  if (!url.startsWith(`${root}dist/`)) return [url];
  const text = readFileSync(new URL(url), 'utf8');
  return [...text.matchAll(/^\/\/#region (\S+)$/gm)].map(([, name]) => `${root}${name}`);
}
