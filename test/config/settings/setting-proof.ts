import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { checkConfig } from '../../../src/config/check-config.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { asArray, asObject, type JsonObject } from '../../../src/core/json.ts';

/** Why a setting is no promise without effect. */
export type SettingProof =
  /** Resolves when what Instar does was seen to differ with the setting. */
  | { readonly acts: () => Promise<void> }
  /** A test elsewhere, too slow for this place, shows it: its file and its title. */
  | { readonly shownIn: string; readonly title: string }
  /** It is accepted and does nothing, and a warning (or the description of the key) says so. */
  | { readonly announced: string; readonly input: object };

/** By setting, as `settingsOf` names it. */
export type SettingProofs = Readonly<Record<string, SettingProof>>;

/**
 * Every setting of the schema: each leaf by its path, each value of an enumeration and of a flag, each branch of a union.
 * `*` stands for a name that the user chooses, `[]` for a member of a list, `(kind)` for a branch by its kind.
 */
export function settingsOf(schema: JsonObject, at = ''): readonly string[] {
  const branches = [...asArray(schema.anyOf), ...asArray(schema.oneOf)].map(asObject);
  if (branches.length > 0)
    return unique(
      branches.flatMap((branch) => {
        const kind = asObject(asObject(branch.properties).kind).const;
        return settingsOf(branch, typeof kind === 'string' ? `${at}(${kind})` : at);
      }),
    );
  if (schema.const !== undefined) return [`${at}=${String(schema.const)}`];
  if (schema.enum !== undefined) return asArray(schema.enum).map((value) => `${at}=${String(value)}`);
  const members = Object.entries(asObject(schema.properties));
  if (members.length > 0)
    return members.flatMap(([name, member]) =>
      settingsOf(asObject(member), at === '' ? name : `${at}.${name}`),
    );
  if (schema.type === 'array') return settingsOf(asObject(schema.items), `${at}[]`);
  if (typeof schema.additionalProperties === 'object')
    return settingsOf(asObject(schema.additionalProperties), `${at}.*`);
  return schema.type === 'boolean' ? [`${at}=true`, `${at}=false`] : [at];
}

const unique = (list: readonly string[]): readonly string[] => [...new Set(list)];

/** One proof may stand for several settings; it is made once. */
export function once(prove: () => Promise<void>): () => Promise<void> {
  let made: Promise<void> | undefined;
  return () => {
    made ??= prove();
    return made;
  };
}

export async function checkProof(setting: string, proof: SettingProof): Promise<void> {
  if ('acts' in proof) return proof.acts();
  if ('shownIn' in proof) {
    const text = readFileSync(path.resolve(import.meta.dirname, '../../..', proof.shownIn), 'utf8');
    // The formatter may put the title on a line of its own, and `it.each` has its table before it.
    const tests = text.replace(/(?:\bit|\])\)?\(\s*'/g, "it('");
    expect(tests, `${proof.shownIn} has no test with this title`).toContain(`it('${proof.title}'`);
    // The test sets it: the last name of the path occurs as a key.
    const key = setting.split('=')[0]?.split('.').at(-1)?.replace('[]', '') ?? '';
    expect(text, `${proof.shownIn} does not set ${key}`).toMatch(new RegExp(`\\b${key}\\b`));
    return;
  }
  expect(checkConfig(proof.input, { env: {} }).warnings.join('\n')).toContain(proof.announced);
}

/** What the user reads when the settings are refused. */
export function problemsOf(input: object): string {
  try {
    checkConfig(input, { env: {} });
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(({ path: at, what }) => `${at}: ${what}`).join('\n');
    throw error;
  }
  return '';
}
