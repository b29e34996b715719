/** Generates secrets of the right shape from a seed: none is real, and none is in this repository as text. */
export type Random = () => number;

/** A seeded generator, so that a failing case can be reproduced. */
export function createRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digits = '0123456789';
export const alnum = lower + upper + digits;
const hex = `${digits}abcdef`;
const url64 = `${alnum}_-`;
const base64 = `${alnum}+/`;

export const pick = (random: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)] ?? '').join('');

const from = (prefix: string, alphabet: string, length: number) => (random: Random) =>
  prefix + pick(random, alphabet, length);

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A private key as `openssl` writes it; `gap` separates its lines. */
export const keyBlock = (random: Random, label: string, gap = '\n'): string => {
  const lines = Array.from({ length: 12 }, () => pick(random, base64, 64));
  return [
    `-----BEGIN ${label}-----`,
    ...lines,
    `${pick(random, base64, 30)}==`,
    `-----END ${label}-----`,
  ].join(gap);
};

export const jsonWebToken = (random: Random): string =>
  [
    encode({ alg: 'HS256', typ: 'JWT' }),
    encode({ sub: pick(random, digits, 10), name: 'Ada', iat: 1_700_000_000 }),
    pick(random, url64, 43),
  ].join('.');

/** Shapes that are secrets in any context. */
export const SHAPES: Readonly<Record<string, (random: Random) => string>> = {
  'openai legacy': from('sk-', alnum, 48),
  'openai project': from('sk-proj-', url64, 124),
  'openai service account': from('sk-svcacct-', url64, 74),
  anthropic: (random) => `sk-ant-api03-${pick(random, url64, 93)}AA`,
  'anthropic oauth': from('sk-ant-oat01-', url64, 90),
  openrouter: from('sk-or-v1-', hex, 64),
  deepseek: from('sk-', hex, 32),
  google: from('AIzaSy', `${alnum}_`, 33),
  'google oauth': from('ya29.a0', url64, 120),
  'google client': from('GOCSPX-', url64, 28),
  'github classic': from('ghp_', alnum, 36),
  'github oauth': from('gho_', alnum, 36),
  'github user': from('ghu_', alnum, 36),
  'github server': from('ghs_', alnum, 36),
  'github refresh': from('ghr_', alnum, 76),
  'github fine-grained': (random) => `github_pat_${pick(random, alnum, 22)}_${pick(random, alnum, 59)}`,
  gitlab: from('glpat-', `${alnum}_-`, 20),
  'slack bot': (random) =>
    `xoxb-${pick(random, digits, 12)}-${pick(random, digits, 12)}-${pick(random, alnum, 24)}`,
  'slack user': (random) =>
    `xoxp-${pick(random, digits, 12)}-${pick(random, digits, 12)}-${pick(random, hex, 32)}`,
  'slack app': (random) =>
    `xapp-1-A${pick(random, upper, 10)}-${pick(random, digits, 13)}-${pick(random, hex, 64)}`,
  'slack webhook': (random) =>
    `https://hooks.slack.com/services/T${pick(random, upper + digits, 10)}/B${pick(random, upper + digits, 10)}/${pick(random, alnum, 24)}`,
  'aws key id': from('AKIA', upper + digits, 16),
  'aws session id': (random) => `ASIA${pick(random, digits, 1)}${pick(random, upper + digits, 15)}`,
  'stripe live': from('sk_live_', alnum, 24),
  'stripe restricted': from('rk_live_', alnum, 99),
  'stripe webhook': from('whsec_', alnum, 32),
  'twilio key': from('SK', hex, 32),
  'twilio account': from('AC', hex, 32),
  sendgrid: (random) => `SG.${pick(random, url64, 22)}.${pick(random, url64, 43)}`,
  npm: from('npm_', alnum, 36),
  pypi: from('pypi-AgEIcHlwaS5vcmc', url64, 150),
  huggingface: from('hf_', lower + upper, 34),
  groq: from('gsk_', alnum, 52),
  xai: from('xai-', alnum, 80),
  perplexity: from('pplx-', alnum, 48),
  digitalocean: from('dop_v1_', hex, 64),
  telegram: (random) =>
    `${1 + Math.floor(random() * 9)}${pick(random, digits, 9)}:AA${pick(random, url64, 33)}`,
  discord: (random) =>
    `${Buffer.from(`${1 + Math.floor(random() * 9)}${pick(random, digits, 17)}`).toString('base64url')}.G${pick(random, alnum, 5)}.${pick(random, url64, 38)}`,
  'json web token': jsonWebToken,
  'rsa key': (random) => keyBlock(random, 'RSA PRIVATE KEY'),
  'pkcs8 key': (random) => keyBlock(random, 'PRIVATE KEY'),
  'ssh key': (random) => keyBlock(random, 'OPENSSH PRIVATE KEY'),
  'key with escaped breaks': (random) => keyBlock(random, 'EC PRIVATE KEY', '\\n'),
  age: from('AGE-SECRET-KEY-1', upper + digits, 58),
  shopify: from('shpat_', hex, 32),
  vault: from('hvs.', url64, 96),
  databricks: from('dapi', hex, 32),
};

/** Secrets without a shape: only their name indicates them. */
export const NAMELESS: Readonly<Record<string, (random: Random) => string>> = {
  'hex 32': from('', hex, 32),
  'hex 64': from('', hex, 64),
  'alnum 32': from('', alnum, 32),
  'aws secret': from('', base64, 40),
  'base64 44': (random) => `${pick(random, base64, 43)}=`,
  'url-safe 43': from('', url64, 43),
  'azure account': (random) => `${pick(random, base64, 86)}==`,
};
