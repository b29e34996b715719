import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asObject, asString, parseJson } from '../../../src/core/json.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';
import { requireSome } from '../measured.ts';
import { readGitleaks } from './read-gitleaks.ts';
import { createSeededRandom, makeSecretSamples } from './secret-kinds.ts';

/**
 * How many secrets are found and how many normal texts are altered: of our own samples, or of a file with lines
 * `{"id", "text", "secret"}` (a secret, or a list of them, that must not remain) and `{"id", "text", "benign": true}`.
 * `--gitleaks DIR` adds the examples of the rules of gitleaks, read from a checkout; `--list` names what differs.
 */
const SETS = 'lab/measure/secrets';
const SEEDS = [1, 2, 3, 4, 5];
const { values: options } = parseArgs({
  options: {
    set: { type: 'string', multiple: true },
    gitleaks: { type: 'string' },
    list: { type: 'boolean', default: false },
    speed: { type: 'boolean', default: false },
  },
});

interface Item {
  readonly id: string;
  readonly text: string;
  /** Empty for a normal text. */
  readonly secrets: readonly string[];
}

const readItems = (file: string): readonly Item[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, at) => {
      const item = asObject(parseJson(line));
      const text = asString(item.text);
      if (text === undefined) return [];
      const given = Array.isArray(item.secret) ? item.secret : [item.secret];
      const secrets = item.benign === true ? [] : given.flatMap((one) => asString(one) ?? []);
      return [{ id: asString(item.id) ?? `line ${at + 1}`, text, secrets }];
    });

const ours = (): readonly Item[] =>
  SEEDS.flatMap((seed) =>
    makeSecretSamples(seed).map(({ kind, text, secret }) => ({
      id: `${kind} #${seed}`,
      text,
      secrets: [secret],
    })),
  );

const { redactText, redactJson } = openRedactor();
/** Raw, and as the text of a message: both ways in which it is stored. */
const forms = (text: string): readonly string[] => [
  redactText(text),
  asString(asObject(redactJson({ content: text })).content) ?? '',
];
const isLeft = ({ text, secrets }: Item): boolean =>
  forms(text).some((redacted) => secrets.some((secret) => redacted.includes(secret)));
const isAltered = ({ text }: Item): boolean => forms(text).some((redacted) => redacted !== text);

const share = (part: number, whole: number): string =>
  whole === 0 ? 'none' : `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;

function report(name: string, items: readonly Item[]): void {
  requireSome(`text in ${name}`, items.length);
  const secret = items.filter(({ secrets }) => secrets.length > 0);
  const benign = items.filter(({ secrets }) => secrets.length === 0);
  const missed = secret.filter(isLeft);
  const altered = benign.filter(isAltered);
  const lines = [
    `${name}`,
    `  secrets found:    ${share(secret.length - missed.length, secret.length)}`,
    `  false redactions: ${share(altered.length, benign.length)}`,
    ...missed.map(({ id, text }) => `  missed  ${id}: ${JSON.stringify(redactText(text)).slice(0, 160)}`),
    ...altered.map(({ id, text }) => `  altered ${id}: ${JSON.stringify(redactText(text)).slice(0, 160)}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** A declaration as code writes it, with and without its type. */
const DECLARATIONS: readonly (readonly [plain: string, typed: string])[] = [
  ['const @Token = "#";', 'const @Token: string = "#";'],
  ['@_token = "#"', '@_token: str = "#"'],
  ['val @Token = "#"', 'val @Token: String = "#"'],
  ['let @_token = "#";', 'let @_token: &str = "#";'],
  ['var @Token = "#"', 'var @Token string = "#"'],
  ['@Token = "#";', 'String @Token = "#";'],
  ['@_TOKEN = "#"', '@_TOKEN ?= "#"'],
];

/** The examples of the rules of gitleaks, and their secrets in declarations. */
function reportGitleaks(folder: string | undefined): void {
  const name = 'rules of gitleaks';
  const read = readGitleaks(folder, createSeededRandom(1));
  if (!read.ok) {
    process.stdout.write(`${name}\n  not measured: ${read.why}\n`);
    return;
  }
  const { positives, negatives, assigned, unread } = read;
  if (positives.length === 0 || negatives.length === 0)
    throw new Error(`no example could be read in ${folder}`);
  const isFound = (item: Item): boolean => (item.secrets.length > 0 ? !isLeft(item) : isAltered(item));
  const missed = positives.filter((item) => !isFound(item));
  // A rule names the keys of other rules as negatives: they are secrets all the same.
  const secrets = new Set(positives.map(({ text }) => text));
  const normal = negatives.filter(({ text }) => !secrets.has(text));
  const altered = normal.filter(isAltered);
  const declared = [0, 1].map((form) =>
    DECLARATIONS.flatMap((pair) =>
      assigned.map(({ id, name: owner, secret }) => ({
        id,
        text: (pair[form] ?? '').replace('@', owner).replace('#', () => secret),
        secrets: [secret],
      })),
    ),
  );
  const declaredRows = declared.map((items) =>
    share(items.filter((item) => !isLeft(item)).length, items.length),
  );
  const lines = [
    `${name} (${unread.length} rules not read: ${unread.join(', ') || 'none'})`,
    `  secrets found:    ${share(positives.length - missed.length, positives.length)}`,
    `    given as text:  ${literalShare(positives, isFound)}`,
    `  negatives altered: ${share(altered.length, normal.length)} (--list: keys of a wrong length are among them), without ${negatives.length - normal.length} keys of other rules`,
    `  declarations without a type: ${declaredRows[0]}`,
    `  declarations with a type:    ${declaredRows[1]}`,
    ...(options.list
      ? missed.map(({ id, text }) => `  missed  ${id}: ${JSON.stringify(text).slice(0, 200)}`)
      : []),
    ...(options.list
      ? altered.map(({ id, text }) => `  altered ${id}: ${JSON.stringify(redactText(text)).slice(0, 400)}`)
      : []),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function literalShare(positives: readonly Item[], isFound: (item: Item) => boolean): string {
  const literal = positives.filter(({ secrets }) => secrets.length === 0);
  return share(literal.filter(isFound).length, literal.length);
}

/** Microseconds of processor time per KB of normal code, as text and as a recorded message. */
function reportSpeed(): void {
  const source = readFileSync('package-lock.json', 'utf8') + readFileSync('build/src/index.js', 'utf8');
  const body = source.repeat(Math.ceil(65_536 / source.length)).slice(0, 65_536);
  const { redactToText } = openRedactor();
  const best = (run: () => unknown): number => {
    let least = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 50; tries++) {
      const from = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(from);
      least = Math.min(least, user + system);
    }
    return least / 64;
  };
  const text = best(() => redactText(body));
  const message = best(() => redactToText({ role: 'user', content: [{ type: 'text', text: body }] }));
  process.stdout.write(
    `64 KB of a lock file: ${text.toFixed(1)} µs/KB as text, ${message.toFixed(1)} as a message\n`,
  );
}

if (options.set !== undefined) for (const file of options.set) report(file, readItems(file));
else {
  report(`our samples, ${SEEDS.length} of each kind`, ours());
  report('normal texts', readItems(`${SETS}/benign.jsonl`));
  report('normal texts, held out', readItems(`${SETS}/benign-held-out.jsonl`));
  reportGitleaks(options.gitleaks);
}
if (options.speed) reportSpeed();
