import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../base/package.ts';
import type { ApiReply } from '../../gateway/api-router.ts';

/** The files of the built page. */
export interface PageFiles {
  /** Whether this package has a page. */
  isBuilt(): boolean;
  /** Undefined for every path that is no file of the page. */
  file(urlPath: string): Promise<ApiReply> | undefined;
}

const BUILT = fileURLToPath(new URL('dist/web/', PACKAGE_ROOT));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** No script, style or connection but our own; nobody may frame the page, and no address leaks from it. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

const FOR_A_YEAR = 'public, max-age=31536000, immutable';

interface Listed {
  readonly stamp: number;
  readonly files: ReadonlyMap<string, ApiReply>;
}

/** The folder is listed when its index.html has changed; a path that is not on the list is never looked up on the disk. */
export function openPageFiles(folder = BUILT): PageFiles {
  let listed: Listed | undefined;
  const current = (): Listed['files'] | undefined => {
    const stamp = statSync(path.join(folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (stamp === undefined) return undefined;
    if (listed?.stamp !== stamp) listed = { stamp, files: listFiles(folder) };
    return listed.files;
  };
  return {
    isBuilt: () => current() !== undefined,
    file: (urlPath) => {
      if (urlPath !== '/' && listed?.files.has(urlPath) !== true) {
        // Before the first visit nothing is listed, and requests for models never come here.
        if (listed !== undefined || !MAYBE_FILE.test(urlPath)) return undefined;
      }
      const found = current()?.get(urlPath);
      return found === undefined ? undefined : Promise.resolve(found);
    },
  };
}

const MAYBE_FILE = /^\/(?:assets\/)?[\w.-]+\.[a-z0-9]{2,5}$/;

function listFiles(folder: string): ReadonlyMap<string, ApiReply> {
  const files = new Map<string, ApiReply>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[path.extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(folder, file).split(path.sep).join('/');
    const isHashed = name.startsWith('assets/');
    files.set(name === 'index.html' ? '/' : `/${name}`, {
      text: readFileSync(file),
      type,
      headers: { ...PAGE_HEADERS, 'cache-control': isHashed ? FOR_A_YEAR : 'no-store' },
    });
  }
  return files;
}
