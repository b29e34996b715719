import { readFileSync } from 'node:fs';
import { asObject, asString, parseJson } from '../core/json.ts';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

export const VERSION = asString(asObject(parseJson(manifest)).version) ?? '0.0.0';
