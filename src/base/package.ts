import { readFileSync } from 'node:fs';
import { asObject, asString, parseJson } from '../core/json.ts';

/** The folder of the package, with a slash at its end: `dist/src/base/` is one folder deeper than `src/base/`. */
export const PACKAGE_ROOT = new URL(
  import.meta.url.endsWith('.ts') ? '../../' : '../../../',
  import.meta.url,
);

const manifest = readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8');

export const VERSION = asString(asObject(parseJson(manifest)).version) ?? '0.0.0';
