import { readFileSync } from 'node:fs';
import { asObject, asString, parseJson } from '../core/json.ts';

/**
 * `store.url` as the settings file says it; `sqlite` without one. Every command needs it, also beside settings that are
 * faulty elsewhere, and before the code that checks them is loaded.
 */
export function readStoreUrl(configFile: string): string {
  let text: string;
  try {
    text = readFileSync(configFile, 'utf8');
  } catch {
    // Without settings the defaults are in force; commands that need the file say what is wrong with it.
    return 'sqlite';
  }
  return asString(asObject(asObject(parseJson(text)).store).url) ?? 'sqlite';
}

let known: { readonly url: string; readonly passwords: readonly string[] } | undefined;

/** The password in a URL, to be kept out of records and logs. Asked at every commit, with the same URL. */
export function passwordIn(url: string): readonly string[] {
  if (known?.url !== url) known = { url, passwords: readPassword(url) };
  return known.passwords;
}

function readPassword(url: string): readonly string[] {
  try {
    const { password } = new URL(url);
    return password === '' ? [] : [...new Set([password, decodeURIComponent(password)])];
  } catch {
    // Not a URL.
    return [];
  }
}
