import { asString, isObject, parseJson } from '../core/json.ts';
import {
  ALNUM,
  BASE64,
  charClassAt,
  DASH,
  DIGIT,
  DOT,
  HEX,
  isEdge,
  runEnd,
  runStart,
  SLASH,
  TILDE,
  TOKEN,
  UPPER,
  WORD,
} from './char-class.ts';
import { NO_SPANS, type SecretRule } from './scan-context.ts';
import { isPlausibleKey, SAMPLE } from './secret-value.ts';
import { wordLikeness } from './word-likeness.ts';

/** The format of a provider's keys: a prefix, then between `least` and `most` characters of a class. */
interface ProviderShape {
  readonly prefix: string;
  readonly body: number;
  readonly least: number;
  readonly most?: number;
  /** Character classes that may not precede the prefix, for prefixes that are also the end of a word. */
  readonly after?: number;
  /** The prefix is an address and not part of the secret. */
  readonly keepPrefix?: true;
  /** Requires digits or mixed case: for prefixes that also occur before words. */
  readonly mixed?: true;
}

const shapes = (
  prefixes: string,
  body: number,
  least: number,
  more: Partial<Omit<ProviderShape, 'prefix'>> = {},
): ProviderShape[] => prefixes.split(' ').map((prefix) => ({ prefix, body, least, ...more }));

const alone = { after: ALNUM } as const;

export const PROVIDER_SHAPES: readonly ProviderShape[] = [
  // OpenAI, Anthropic, OpenRouter, and the many others that use `sk-`.
  ...shapes('instar_caller_ instar_owner_ instar_member_ instar_attempt_', TOKEN, 40),
  ...shapes('sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-', TOKEN, 20),
  ...shapes('sk-', TOKEN, 20, { after: TOKEN, mixed: true }),
  ...shapes('AIza', TOKEN, 33, { most: 45, after: ALNUM }),
  ...shapes('ya29.', TOKEN | DOT, 20, alone),
  ...shapes('GOCSPX-', TOKEN, 20),
  ...shapes('1//0', TOKEN, 30, alone),
  ...shapes('ghp_ gho_ ghu_ ghs_ ghr_', ALNUM, 30),
  ...shapes('github_pat_', WORD, 22),
  ...shapes('glpat- gldt- glrt- glptt- glcbt- glft- gloas- glimt- glagent- glsoat-', TOKEN | DOT, 20),
  ...shapes('xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-', TOKEN, 10, {
    mixed: true,
    after: ALNUM,
  }),
  ...shapes(
    'hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/',
    ALNUM | SLASH,
    20,
    {
      keepPrefix: true,
    },
  ),
  ...shapes('discord.com/api/webhooks/ discordapp.com/api/webhooks/', TOKEN | SLASH, 40, {
    keepPrefix: true,
  }),
  ...shapes('AKIA ABIA ACCA', UPPER | DIGIT, 16, { most: 16, after: ALNUM }),
  ...shapes('ASIA', UPPER | DIGIT, 16, { most: 16, after: ALNUM, mixed: true }),
  ...shapes('ABSK', BASE64, 80, alone),
  ...shapes('sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_', ALNUM, 16, alone),
  ...shapes('whsec_', BASE64, 20, alone),
  // Twilio. A third character in the prefix, because `ac` and `sk` occur in many words.
  ...[...'0123456789abcdef'].flatMap((digit) =>
    shapes(`AC${digit} SK${digit}`, HEX, 31, { most: 31, after: WORD }),
  ),
  ...shapes('SG.', TOKEN | DOT, 40, { after: WORD }),
  ...shapes('npm_', ALNUM, 30, alone),
  ...shapes('pypi-', TOKEN, 40, alone),
  ...shapes('hf_ api_org_', ALNUM, 30, { after: ALNUM, mixed: true }),
  ...shapes('gsk_ fw_', ALNUM, 20, { after: ALNUM, mixed: true }),
  ...shapes('xai- pplx- nvapi-', TOKEN, 30, alone),
  ...shapes('r8_', ALNUM, 30, alone),
  ...shapes('tvly- jina_ e2b_ lsv2_pt_ lsv2_sk_ figd_ sbp_ pat- tskey-', TOKEN, 20, {
    after: WORD,
    mixed: true,
  }),
  ...shapes('dop_v1_ doo_v1_ dor_v1_', HEX, 40),
  ...shapes('shpat_ shpss_ shpca_ shppa_', HEX, 32),
  ...shapes('lin_api_ ntn_ secret_', ALNUM, 36, { after: ALNUM, mixed: true }),
  ...shapes('HRKU- NRAK- NRII- CFPAT- CCIPAT_ xkeysib- sq0atp- sq0csp- phx_ vcp_ nfp_ rnd_ ATBB', TOKEN, 22, {
    after: WORD,
    mixed: true,
  }),
  ...shapes('bkua_ bkpi_ squ_ sqp_ sqa_', HEX, 40, { after: WORD }),
  ...shapes('sk_', HEX, 48, { most: 64, after: WORD }),
  ...shapes('fm1a_ fm1r_ fm2_ fo1_', TOKEN | BASE64, 40, { after: WORD }),
  ...shapes('sl.u. sl.B', TOKEN, 60, { after: WORD }),
  ...shapes('dp.st. dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.', TOKEN | DOT, 40, { after: WORD }),
  ...shapes('EAAA EAAB EAAC EAAM', TOKEN, 56, { after: TOKEN | BASE64, mixed: true }),
  ...shapes('AKCp', ALNUM, 60, { after: BASE64, mixed: true }),
  ...shapes('oy2', ALNUM, 43, { most: 43, after: TOKEN | BASE64, mixed: true }),
  ...shapes('AQVN', TOKEN, 35, { after: TOKEN | BASE64, mixed: true }),
  ...shapes('AKID', ALNUM, 32, { most: 32, after: BASE64, mixed: true }),
  ...shapes('cio', ALNUM, 32, { most: 32, after: TOKEN | BASE64, mixed: true }),
  ...shapes('re_', WORD, 30, { most: 36, after: WORD, mixed: true }),
  ...shapes('v1.0-', HEX | DASH, 100, { after: WORD }),
  ...shapes('EZAK EZTK', ALNUM, 54, { most: 54, after: ALNUM, mixed: true }),
  ...shapes('s-s4t2ud- s-s4t2af- p8e-', HEX, 32, { most: 64, after: TOKEN }),
  ...shapes('sha256~', TOKEN, 43, { most: 43, after: WORD, mixed: true }),
  ...shapes('A3-', UPPER | DIGIT | DASH, 34, { most: 40, after: TOKEN, mixed: true }),
  // The secret address of a calendar.
  ...shapes('/private-', HEX, 32, { most: 32, keepPrefix: true }),
  ...shapes('dapi', HEX, 32, { after: WORD }),
  ...shapes('key-', HEX, 32, { most: 32, after: TOKEN, mixed: true }),
  ...shapes('hvs. hvb.', TOKEN, 24, { after: WORD, mixed: true }),
  ...shapes('AGE-SECRET-KEY-1', UPPER | DIGIT, 40),
  ...shapes('PMAK-', HEX | DASH, 40),
  ...shapes('rubygems_ pul- sntryu_', HEX, 40, { after: WORD }),
  ...shapes('ops_eyJ', TOKEN | BASE64, 100),
  ...shapes('sgp_', TOKEN, 40, { after: WORD, mixed: true }),
  ...shapes(
    'sntrys_ glc_ glsa_ dckr_pat_ pscale_tkn_ pscale_pw_ pscale_oauth_ ATATT3',
    TOKEN | BASE64,
    27,
    alone,
  ),
];

/** The rule for occurrences of a shape's prefix. */
export const createShapeRule =
  (shape: ProviderShape): SecretRule =>
  (page, start, end) => {
    const { text } = page;
    const mayBegin =
      shape.after === undefined ? start >= page.refusedEnd : isEdge(text, start, shape.after, page.floor);
    if (!mayBegin) return NO_SPANS;
    const sampleEnd = runEnd(text, end, shape.body, end + SAMPLE);
    const length = sampleEnd - end;
    if (length > (shape.most ?? SAMPLE)) return NO_SPANS;
    if (length < shape.least)
      return isCutOff(text, end, sampleEnd)
        ? [{ start: shape.keepPrefix ? end : start, end: sampleEnd }]
        : NO_SPANS;
    const bodyEnd = length < SAMPLE ? sampleEnd : undefined;
    if (bodyEnd !== undefined && (charClassAt(text, bodyEnd) & ALNUM) !== 0) return NO_SPANS;
    const sample = text.slice(end, sampleEnd);
    if ((shape.mixed && !isMixed(sample)) || !isPlausibleKey(sample)) {
      page.refusedEnd = sampleEnd;
      return NO_SPANS;
    }
    const whole = trimEnd(
      text,
      end + shape.least,
      bodyEnd ?? runEnd(text, sampleEnd, shape.body, text.length),
    );
    return [{ start: shape.keepPrefix ? end : start, end: whole }];
  };

const SHORTEST_CUT = 10;

/** The beginning of a key at the end of a text, or before the sign that something was left out. */
function isCutOff(text: string, start: number, end: number): boolean {
  if (end - start < SHORTEST_CUT) return false;
  if (end < text.length && !/^(?:…|\.{3}|\[{1,2}(?:truncated|cut))/.test(text.slice(end, end + 12)))
    return false;
  const sample = text.slice(start, end);
  return /\d/.test(sample) && /[a-z]/i.test(sample) && wordLikeness(sample) < 0.5 && isPlausibleKey(sample);
}

const isMixed = (sample: string): boolean =>
  /\d/.test(sample) || (/[a-z]/.test(sample) && /[A-Z]/.test(sample) && wordLikeness(sample) < 0.75);

/** A full stop after a key belongs to the sentence. */
function trimEnd(text: string, least: number, end: number): number {
  let at = end;
  while (at > least && text.charCodeAt(at - 1) === 0x2e) at--;
  return at;
}

const LONGEST_HEAD = 8192;

/** A JSON web token: `head.payload.signature` with a JSON head; five parts if it is encrypted. */
export const findJsonWebToken: SecretRule = ({ text, floor }, start) => {
  if (!isEdge(text, start, WORD | DASH, floor)) return NO_SPANS;
  const headEnd = runEnd(text, start, TOKEN, text.length);
  if (text.charCodeAt(headEnd) !== 0x2e || headEnd - start > LONGEST_HEAD) return NO_SPANS;
  const payloadEnd = runEnd(text, headEnd + 1, TOKEN, text.length);
  if (text.charCodeAt(payloadEnd) !== 0x2e) return NO_SPANS;
  let end = runEnd(text, payloadEnd + 1, TOKEN, text.length);
  if (end - payloadEnd < 8 || !isTokenHead(text.slice(start, headEnd))) return NO_SPANS;
  for (let more = 0; more < 2 && text.charCodeAt(end) === 0x2e; more++) {
    const next = runEnd(text, end + 1, TOKEN, text.length);
    if (next - end < 8) break;
    end = next;
  }
  return [{ start, end }];
};

function isTokenHead(part: string): boolean {
  const head = parseJson(Buffer.from(part, 'base64url').toString('utf8'));
  return isObject(head) && ['alg', 'enc', 'typ', 'kid'].some((name) => asString(head[name]) !== undefined);
}

/** A bot's number, a colon, and 35 characters that begin with `AA`. */
export const findTelegramToken: SecretRule = ({ text, floor }, start, end) => {
  const number = runStart(text, start, DIGIT, Math.max(floor, start - 13));
  const length = start - number;
  if (length < 7 || length > 12) return NO_SPANS;
  const stop = runEnd(text, end, TOKEN, end + 40);
  return stop - end < 30 || stop - end > 36 ? NO_SPANS : [{ start: number, end: stop }];
};

/** The base64 of a user id, a dot, six characters, a dot, a signature. Called at many dots, so it rejects early. */
export const findDiscordToken: SecretRule = ({ text, floor }, dot) => {
  if (text.charCodeAt(dot + 7) !== 0x2e || runEnd(text, dot + 1, TOKEN, dot + 8) !== dot + 7) return NO_SPANS;
  const stop = runEnd(text, dot + 8, TOKEN, dot + 60);
  const start = stop - dot < 33 ? -1 : startOfUser(text, dot, floor);
  if (start < 0) return NO_SPANS;
  const user = Buffer.from(text.slice(start, dot), 'base64url').toString('latin1');
  return /^\d{15,22}$/.test(user) ? [{ start, end: stop }] : NO_SPANS;
};

/** The start of the base64 of 16 to 21 digits before the dot; −1 without one. */
function startOfUser(text: string, dot: number, floor: number): number {
  for (let length = 22; length <= 28; length++) {
    const start = dot - length;
    if (start < floor) return -1;
    if ('MNO'.includes(text.charAt(start)) && isEdge(text, start, TOKEN, floor)) return start;
  }
  return -1;
}

/** An application's secret in Microsoft Entra: three characters, a digit, `Q~`, some thirty more. */
export const findEntraSecret: SecretRule = ({ text, floor }, start, end) => {
  const from = runStart(text, start, TOKEN | DOT | TILDE, Math.max(floor, start - 4));
  if (start - from !== 4 || (charClassAt(text, start - 1) & DIGIT) === 0) return NO_SPANS;
  const stop = runEnd(text, end, TOKEN | DOT | TILDE, end + 40);
  const length = stop - end;
  if (length < 31 || length > 36 || !isPlausibleKey(text.slice(end, stop))) return NO_SPANS;
  return [{ start: from, end: stop }];
};
