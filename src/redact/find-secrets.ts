import { createLruMap } from '../base/lru-map.ts';
import { type AhoCorasick, createAhoCorasick } from './aho-corasick.ts';
import { ALNUM, charClassAt } from './char-class.ts';
import { COMMAND_TRIGGERS } from './command-password.ts';
import { findEncoded, hasEncoding } from './encoded-secret.ts';
import { findBasic, findBearer, findCurlUser, findUrlCredential } from './http-credential.ts';
import { knownForms } from './known-keys.ts';
import { findNamedSecret, findValueAfter } from './named-secret.ts';
import { findPrivateKeyBlock } from './private-key-block.ts';
import {
  createScanContext,
  findMarks,
  NO_SPANS,
  type ScanContext,
  type SecretRule,
  type SecretSpan,
} from './scan-context.ts';
import {
  findAirtableToken,
  findAsanaToken,
  findAwsPair,
  findBraintreeToken,
  findCookieLine,
  findCredentialPair,
  findMailchimpKey,
  findPasswordHash,
  findPgpassLine,
  findPuttyKey,
  findRecoveryCodes,
  findTerraformToken,
} from './stored-credential.ts';
import {
  createShapeRule,
  findDiscordToken,
  findEntraSecret,
  findJsonWebToken,
  findTelegramToken,
  PROVIDER_SHAPES,
} from './token-shapes.ts';

/** Words for a password whose letters or spaces an identifier cannot have. */
const SPOKEN_NAMES: readonly string[] = [
  'mot de passe',
  'contrase',
  'senha',
  'clave',
  'пароль',
  '密码',
  '密碼',
  'パスワード',
];

/** The value after such a word, with the words that join them in its language. */
const findSpokenSecret: SecretRule = (page, start, end) => {
  const { text } = page;
  if (/\p{L}/u.test(text.charAt(start - 1)) && text.charCodeAt(start) < 128) return NO_SPANS;
  const rest = /^\p{L}{0,6}/u.exec(text.slice(end, end + 6))?.[0] ?? '';
  // `是` joins name and value; it is no part of the name.
  const joined = rest.search(/[是为為はè]/);
  const nameEnd = end + (joined < 0 ? rest.length : joined);
  return findValueAfter(page, { name: 'password', kind: 'password', nameStart: start }, nameEnd);
};

/** The word with what may follow it; also in text that JSON has escaped. */
const PIN_TRIGGERS = ['pin ', 'pin:', 'pin=', 'pin"', 'pin-', "pin'", 'pin\\', 'pin`'] as const;

const PIN = /^pin(?:[ -]?(?:codes?|numbers?|nummer|no\.?))?/i;
/** `pin: 4821`, `my PIN is 884422`, `"pin": "884422"`. */
const ASSIGNED =
  /^(?<name>\\{0,3}["'`]?)[ \t]{0,4}(?:(?:is|was|ist|lautet|est|es|è|é)(?: now| jetzt)?[ \t]?:?|:=?|=>?)[ \t]{0,4}(?<open>\\{0,3}["'`]?)(?<digits>\d{4,12})(?![\w%]|[.,:/-]\d|[ \t]?(?:mm|ms|bytes?|hz|rpm|px)\b)/d;
/** `PIN 884422`: without a verb or a sign, four to eight digits. */
const BARE = /^[ \t](?<digits>\d{4,8})(?![\w%]|[.,:/-]\d)/d;
/** Words that make it somebody's PIN, and no pin of a chip: `my pin 4821`, `the alarm pin 4821`. */
const OWNED =
  /(?:^|[^\p{L}])(?:my|your|our|his|her|their|alarm|card|door|sim|bank|mein[e]?|dein[e]?|unser[e]?)[ -]$|(?:^|[\s"'`])--$/iu;

/** A PIN: digits behind the word. `pin 3 of the connector` and `pin 1.2.0` are none. */
const findPin: SecretRule = ({ text, floor }, start) => {
  if ((charClassAt(text, start - 1) & ALNUM) !== 0 && !/\\[nrt]$/.test(text.slice(start - 2, start)))
    return NO_SPANS;
  const near = text.slice(start, start + 64);
  const name = PIN.exec(near)?.[0] ?? '';
  const rest = near.slice(name.length);
  const found = ASSIGNED.exec(rest) ?? (isOwned(text, start, floor) ? BARE.exec(rest) : null);
  const place = found?.indices?.groups?.digits;
  if (found === null || place === undefined) return NO_SPANS;
  // A number in JSON has no quotes, and a mark in its place would not be JSON.
  const { name: closing = '', open = '' } = found.groups ?? {};
  if (closing.includes('"') && open === '') return NO_SPANS;
  const at = start + name.length;
  return [{ start: at + place[0], end: at + place[1] }];
};

const isOwned = (text: string, start: number, floor: number): boolean =>
  text.startsWith('PIN', start) || OWNED.test(text.slice(Math.max(floor, start - 16), start));

interface SecretFinder {
  /** The secrets of a text, in order, not overlapping. Takes linear time for any text. */
  find(text: string): readonly SecretSpan[];
  /** A scan of a JSON text: see `JsonLook`. */
  look(json: string): JsonScan;
}

interface JsonScan {
  /**
   * Whether no rule is triggered, in the text or in one of its strings. Member names are not considered: some indicate a
   * secret although no rule has a trigger for them.
   */
  readonly isPlain: boolean;
  /** The secrets of the text. */
  find(): readonly SecretSpan[];
}

/** A literal that triggers a rule. */
interface Trigger {
  readonly literal: string;
  readonly rule: SecretRule;
  /** Case-sensitive. */
  readonly exact?: true;
  readonly known?: true;
  /** Its secrets contain spaces, so that another rule may have claimed their beginning. */
  readonly spreads?: true;
}

const on = (literals: string, rule: SecretRule): Trigger[] =>
  literals.split(' ').map((literal) => ({ literal, rule }));

const exactly = (literals: string, rule: SecretRule, spreads?: true): Trigger[] =>
  on(literals, rule).map((trigger) => ({ ...trigger, exact: true, ...(spreads && { spreads }) }));

const TRIGGERS: readonly Trigger[] = [
  ...PROVIDER_SHAPES.map(
    (shape): Trigger => ({ literal: shape.prefix, rule: createShapeRule(shape), exact: true }),
  ),
  { literal: '-----BEGIN ', rule: findPrivateKeyBlock, exact: true, spreads: true },
  { literal: '---- BEGIN ', rule: findPrivateKeyBlock, exact: true, spreads: true },
  { literal: 'eyJ', rule: findJsonWebToken, exact: true },
  { literal: ':AA', rule: findTelegramToken, exact: true },
  { literal: 'Q~', rule: findEntraSecret, exact: true },
  // The first character of the token's timestamp, between 2011 and 2045 or in the older epoch.
  ...[...'ABCDEFGHIXYZ'].map(
    (time): Trigger => ({ literal: `.${time}`, rule: findDiscordToken, exact: true }),
  ),
  ...on('bearer', findBearer),
  ...on('basic', findBasic),
  ...on('://', findUrlCredential),
  { literal: '-u ', rule: findCurlUser, exact: true },
  { literal: '--user ', rule: findCurlUser, exact: true },
  ...on(
    'key token secret pass pwd auth cookie credential creds sig= signature= code= mnemonic phrase jwt',
    findNamedSecret,
  ),
  ...on('kennwort wachtwoord psk pw: pw=', findNamedSecret),
  ...exactly('_PAT= _PAT:', findNamedSecret),
  ...PIN_TRIGGERS.map((literal): Trigger => ({ literal, rule: findPin })),
  ...SPOKEN_NAMES.map((literal): Trigger => ({ literal, rule: findSpokenSecret })),
  ...COMMAND_TRIGGERS.map(([literal, rule]): Trigger => ({ literal, rule, spreads: true })),
  ...exactly('AKIA ASIA', findAwsPair, true),
  { literal: 'Private-Lines:', rule: findPuttyKey, exact: true },
  ...exactly(':5432: :5433: :6432: :6543: :25060: :*:', findPgpassLine),
  ...exactly('$apr1$ $2a$ $2b$ $2y$ $1$ $5$ $6$ $y$ $argon2 {SSHA} pbkdf2_sha256$', findPasswordHash),
  ...['recovery code', 'backup code', 'wiederherstellungscode', 'scratch code'].map(
    (literal): Trigger => ({ literal, rule: findRecoveryCodes }),
  ),
  ...on('credential creds zugangsdaten login', findCredentialPair).map((one) => ({
    ...one,
    spreads: true as const,
  })),
  ...exactly('TRUE FALSE', findCookieLine),
  { literal: '-us', rule: findMailchimpKey, exact: true },
  { literal: 'pat', rule: findAirtableToken, exact: true },
  ...[...'0123456789'].map(
    (digit): Trigger => ({ literal: `1/${digit}`, rule: findAsanaToken, exact: true }),
  ),
  { literal: '.atlasv1.', rule: findTerraformToken, exact: true },
  { literal: 'access_token$production$', rule: findBraintreeToken, exact: true },
];

/** The finders of a thread mostly have the same keys, or none. */
const scanners = createLruMap<string, AhoCorasick>(4);

function scannerOf(literals: readonly string[]): AhoCorasick {
  const name = literals.join('\n');
  const scanner = scanners.get(name) ?? createAhoCorasick(literals);
  scanners.set(name, scanner);
  return scanner;
}

export function createSecretFinder(keys: readonly string[]): SecretFinder {
  const known = knownForms(keys).map(
    ({ anchor, rule }): Trigger => ({ literal: anchor, rule, exact: true, known: true }),
  );
  const triggers = [...known, ...TRIGGERS];
  let scanner: AhoCorasick | undefined;
  /** Built for the first text: many a finder is given other keys before it sees one. */
  const scan = (text: string): readonly number[] => {
    scanner ??= scannerOf(triggers.map(({ literal }) => literal));
    return scanner.scan(text);
  };

  const isMeant = (text: string, hits: readonly number[], at: number): boolean => {
    const trigger = triggers[hits[at] ?? 0];
    if (trigger === undefined) return false;
    return !trigger.exact || text.startsWith(trigger.literal, (hits[at + 1] ?? 0) - trigger.literal.length);
  };

  const judge = (text: string, hits: readonly number[], isKnown: boolean): readonly SecretSpan[] => {
    const page = createScanContext(text);
    const spans: SecretSpan[] = [];
    for (let i = 0; i < hits.length; i += 2) {
      const trigger = triggers[hits[i] ?? 0];
      const end = hits[i + 1] ?? 0;
      if (!trigger || (trigger.known ?? false) !== isKnown) continue;
      const start = end - trigger.literal.length;
      if (start < page.floor && !trigger.spreads) continue;
      if (!isMeant(text, hits, i)) continue;
      take(page, spans, trigger.rule(page, start, end));
    }
    return spans;
  };

  // A literal with a character that JSON escapes can occur in a string and not in its JSON text.
  const isSameInJson = triggers.every(({ literal }) => !/["\\\p{Cc}]/u.test(literal));

  const hasMeant = (text: string, hits: readonly number[]): boolean => {
    for (let at = 0; at < hits.length; at += 2) if (isMeant(text, hits, at)) return true;
    return false;
  };
  const findAt = (text: string, hits: readonly number[]): readonly SecretSpan[] => {
    const plain = findPlain(text, hits);
    return plain.length > 0 ? plain : findEncoded(text, (decoded) => findPlain(decoded, scan(decoded)));
  };
  const findPlain = (text: string, hits: readonly number[]): readonly SecretSpan[] => {
    if (hits.length === 0) return NO_SPANS;
    // Known keys first: no other rule may cut one in two and leave a half.
    const held = known.length > 0 ? judge(text, hits, true) : NO_SPANS;
    return settle(text, held.length > 0 ? held : judge(text, hits, false));
  };

  return {
    find: (text) => findAt(text, scan(text)),
    look: (json) => {
      const hits = scan(json);
      return {
        isPlain: isSameInJson && !hasMeant(json, hits) && !hasEncoding(json),
        find: () => findPlain(json, hits),
      };
    },
  };
}

function take(page: ScanContext, spans: SecretSpan[], found: readonly SecretSpan[]): void {
  for (const span of found) {
    if (span.end <= Math.max(span.start, page.floor)) continue;
    const cut = span.start < page.floor ? spans.pop() : undefined;
    spans.push(cut ? { ...span, start: Math.min(cut.start, span.start) } : span);
    page.floor = span.end;
  }
}

/** Existing marks stay whole: a span that touches one includes all of it, and a mark alone is not a secret. */
function settle(text: string, spans: readonly SecretSpan[]): readonly SecretSpan[] {
  if (spans.length === 0) return spans;
  const marks = findMarks(text);
  if (marks.length === 0) return spans;
  const settled: SecretSpan[] = [];
  let next = 0;
  for (const span of spans) {
    while ((marks[next]?.end ?? Number.POSITIVE_INFINITY) <= span.start) next++;
    let { start, end } = span;
    let marked = 0;
    for (let i = next; (marks[i]?.start ?? end) < end; i++) {
      const mark = marks[i] ?? span;
      start = Math.min(start, mark.start);
      end = Math.max(end, mark.end);
      marked += mark.end - mark.start;
    }
    if (end - start === marked || start < (settled.at(-1)?.end ?? 0)) continue;
    settled.push(marked === 0 ? span : { start, end });
  }
  return settled;
}
