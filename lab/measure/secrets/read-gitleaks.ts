import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  asGoText,
  createGoEvaluator,
  type GoCall,
  type GoText,
  type GoToken,
  type GoValue,
  isGoList,
  readGoTokens,
} from './go-values.ts';
import { sampleRegex } from './sample-regex.ts';

/** The examples of the rules of gitleaks: what its authors call a secret, and what they call none. */
interface GitleaksExamples {
  readonly positives: readonly (GoText & { readonly id: string })[];
  readonly negatives: readonly (GoText & { readonly id: string })[];
  /** Each generated secret with the name that it was assigned to. */
  readonly assigned: readonly { readonly id: string; readonly name: string; readonly secret: string }[];
  /** The rules whose examples are made by code that this reader does not know. */
  readonly unread: readonly string[];
}

type GitleaksResult =
  | ({ readonly ok: true } & GitleaksExamples)
  | { readonly ok: false; readonly why: string };

const RULES = 'cmd/generate/config/rules';
const SAMPLES = 'cmd/generate/config/utils/generate.go';
/** Parts that are shorter occur in any text. */
const SHORTEST = 6;

/** Reads the examples from a checkout of gitleaks. The same checkout and random numbers give the same examples. */
export function readGitleaks(folder: string | undefined, random: () => number): GitleaksResult {
  if (folder === undefined) return { ok: false, why: 'no folder (--gitleaks DIR, a checkout of gitleaks)' };
  if (!existsSync(join(folder, RULES)) || !existsSync(join(folder, SAMPLES)))
    return { ok: false, why: `no folder ${join(folder, RULES)}` };
  const files = readdirSync(join(folder, RULES))
    .filter((name) => name.endsWith('.go'))
    .sort();
  const templates = readTemplates(readFileSync(join(folder, SAMPLES), 'utf8'));
  const found: Found = { positives: [], negatives: [], assigned: [], unread: [] };
  for (const file of files) {
    const tokens = readGoTokens(readFileSync(join(folder, RULES, file), 'utf8'));
    readRules(tokens, file.slice(0, -3), { templates, random, found });
  }
  return { ok: true, ...found };
}

interface Found {
  readonly positives: (GoText & { id: string })[];
  readonly negatives: (GoText & { id: string })[];
  readonly assigned: { id: string; name: string; secret: string }[];
  readonly unread: string[];
}
interface Templates {
  /** Assignments in many languages, with `{i}`, `{I}` and `{s}` for the name and the secret. */
  readonly many: readonly string[];
  /** One assignment, as a format with two `%s`. */
  readonly one: string;
}

function readTemplates(source: string): Templates {
  const tokens = readGoTokens(source);
  const place = (name: string): number => {
    const at = tokens.findIndex(({ kind, value }) => kind === 'name' && value === name);
    if (at < 0) throw new Error(`gitleaks has no ${name} any more`);
    return at;
  };
  const value = createGoEvaluator(tokens, new Map()).valueAt(place('samples') + 2, new Map());
  const after = tokens.slice(place('GenerateSampleSecret'));
  const format = after.find(({ kind }) => kind === 'text');
  return { many: (isGoList(value) ? value : []).map(({ text }) => text), one: format?.value ?? '' };
}

const format = (pattern: string, values: readonly GoText[]): GoText => {
  let next = 0;
  return {
    text: pattern.replace(/%s/g, () => values[next++]?.text ?? ''),
    secrets: values.flatMap(({ secrets }) => secrets),
  };
};

interface Reading {
  readonly templates: Templates;
  readonly random: () => number;
  readonly found: Found;
}

function createCalls(id: string, { templates, random, found }: Reading): ReadonlyMap<string, GoCall> {
  const sized =
    (characters: string): GoCall =>
    ([size]) => ({ text: `[${characters}]{${asGoText(size).text}}`, secrets: [] });
  const sample: GoCall = ([pattern]) => {
    const text = sampleRegex(asGoText(pattern).text, random);
    return { text, secrets: text.length < SHORTEST ? [] : [text] };
  };
  const assign = (name: GoValue | undefined, secret: GoValue | undefined): readonly [string, string] => {
    const pair = [asGoText(name).text, asGoText(secret).text] as const;
    found.assigned.push({ id, name: pair[0], secret: pair[1] });
    return pair;
  };
  return new Map<string, GoCall>([
    ['utils.Numeric', sized('0-9')],
    ['utils.Hex', sized('a-f0-9')],
    ['utils.AlphaNumeric', sized('a-z0-9')],
    ['utils.AlphaNumericExtendedShort', sized('a-z0-9_-')],
    ['utils.AlphaNumericExtended', sized('a-z0-9=_-')],
    ['utils.AlphaNumericExtendedLong', sized('a-z0-9/=_+-')],
    ['utils.Hex8_4_4_4_12', () => ({ text: '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', secrets: [] })],
    ['secrets.NewSecret', sample],
    ['newPlausibleSecret', sample],
    ['fmt.Sprintf', ([pattern, ...values]) => format(asGoText(pattern).text, values.map(asGoText))],
    [
      'utils.GenerateSampleSecret',
      ([name, secret]) => {
        const [named, text] = assign(name, secret);
        return format(templates.one, [
          { text: named, secrets: [] },
          { text, secrets: [text] },
        ]);
      },
    ],
    [
      'utils.GenerateSampleSecrets',
      ([name, secret]) => {
        const [named, text] = assign(name, secret);
        const fill: Readonly<Record<string, string>> = { i: named, I: named.toUpperCase(), s: text };
        return templates.many.map((template) => ({
          text: template.replace(/\{([iIs])\}/g, (_, letter: string) => fill[letter] ?? ''),
          secrets: [text],
        }));
      },
    ],
  ]);
}

/** Every rule is a function that ends with `Validate(rule, positives, negatives)`. */
function readRules(tokens: readonly GoToken[], id: string, reading: Reading): void {
  const { found } = reading;
  const reader = createGoEvaluator(tokens, createCalls(id, reading));
  const shared = new Map<string, GoValue>();
  let variables = shared;
  const unreadable = new Set<string>();
  tokens.forEach(({ kind, value, startsLine }, at) => {
    if (kind !== 'name') return;
    const next = tokens[at + 1]?.value ?? '';
    if (value === 'func' && startsLine) {
      variables = new Map(shared);
      unreadable.clear();
    } else if ((next === ':=' || next === '=') && (startsLine || tokens[at - 1]?.value === 'var')) {
      try {
        variables.set(value, reader.valueAt(at + 2, variables));
      } catch {
        // A rule, a regular expression, a call: only the examples matter, and they say below that they cannot be read.
        variables.delete(value);
        unreadable.add(value);
      }
    } else if (/^utils\.Validate(WithPaths)?$/.test(value) && unreadable.has('tps')) found.unread.push(id);
    else if (/^utils\.Validate(WithPaths)?$/.test(value)) {
      const lists = [tokens[at + 4]?.value ?? '', tokens[at + 6]?.value ?? ''].map((name) => {
        const list = name === 'nil' ? [] : variables.get(name);
        if (list === undefined) found.unread.push(`${id}: ${name}`);
        // A rule for a path has examples without text.
        const texts = list !== undefined && isGoList(list) ? list.filter(({ text }) => text !== '') : [];
        return texts.map((text) => ({ ...text, id }));
      });
      found.positives.push(...(lists[0] ?? []));
      found.negatives.push(...(lists[1] ?? []));
    }
  });
}
