import {
  ALNUM,
  BASE64,
  classAt,
  DASH,
  DIGIT,
  DOT,
  HEX,
  isEdge,
  runEnd,
  SLASH,
  TOKEN,
  UPPER,
  WORD,
} from './char-class.ts';
import { NONE, type Rule } from './page.ts';
import { isCredible, SAMPLE } from './secret-value.ts';
import { wordShare } from './word-share.ts';

/** The format of a provider's keys: a prefix, then between `least` and `most` characters of a class. */
export interface ProviderShape {
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
  ...shapes('sk_live_ rk_live_ sk_test_ rk_test_', ALNUM, 16, alone),
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
  (shape: ProviderShape): Rule =>
  (page, start, end) => {
    const { text } = page;
    const mayBegin =
      shape.after === undefined ? start >= page.refusedEnd : isEdge(text, start, shape.after, page.floor);
    if (!mayBegin) return NONE;
    const sampleEnd = runEnd(text, end, shape.body, end + SAMPLE);
    const length = sampleEnd - end;
    if (length < shape.least || length > (shape.most ?? SAMPLE)) return NONE;
    const bodyEnd = length < SAMPLE ? sampleEnd : undefined;
    if (bodyEnd !== undefined && (classAt(text, bodyEnd) & ALNUM) !== 0) return NONE;
    const sample = text.slice(end, sampleEnd);
    if ((shape.mixed && !isMixed(sample)) || !isCredible(sample)) {
      page.refusedEnd = sampleEnd;
      return NONE;
    }
    const whole = trimEnd(
      text,
      end + shape.least,
      bodyEnd ?? runEnd(text, sampleEnd, shape.body, text.length),
    );
    return [{ start: shape.keepPrefix ? end : start, end: whole }];
  };

const isMixed = (sample: string): boolean =>
  /\d/.test(sample) || (/[a-z]/.test(sample) && /[A-Z]/.test(sample) && wordShare(sample) < 0.75);

/** A full stop after a key belongs to the sentence. */
function trimEnd(text: string, least: number, end: number): number {
  let at = end;
  while (at > least && text.charCodeAt(at - 1) === 0x2e) at--;
  return at;
}
