import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redact/redact.ts';
import { createRandom, NAMELESS, SHAPES } from './secret-makers.ts';

const KEY = 'kQ7vT2mZx9Lw4Rb8Yc3Nf6Hd1Js5Gp0';
const redactor = createRedactor({ known: () => [KEY, `${KEY.slice(0, 20)}aaaaaaaaaa`], salt: 'a salt' });

const SMALL = 2 ** 16;
const LARGE = 8 * SMALL;
/** Linear growth takes about eight times as long for eight times the text; quadratic growth sixty-four times. */
const ALLOWED = 30;

const secrets = [...Object.values(SHAPES), ...Object.values(NAMELESS)];
const stream = (): string => {
  const random = createRandom(1);
  let text = '';
  while (text.length < LARGE) for (const make of secrets) text += `token=${make(random)}\n`;
  return text;
};

/** Repeated units that make a naive matcher quadratic; `head` and `tail` occur once, around them. */
const HOSTILE: Readonly<
  Record<string, { readonly unit: string; readonly head?: string; readonly tail?: string }>
> = {
  'one letter': { unit: 'a' },
  digits: { unit: '7' },
  'prefixes that never end': { unit: 'sk-' },
  'prefixes without a boundary': { unit: 'sk-ant-' },
  'prefixes with a digit': { unit: 'sk-ant-1' },
  'token heads': { unit: 'eyJ' },
  'token heads with dots': { unit: 'eyJhbGciOiJIUzI1NiJ9.' },
  'almost discord tokens': { unit: '.GGGGGG' },
  'almost telegram tokens': { unit: '1:AA' },
  'blocks that begin': { unit: '-----BEGIN PRIVATE KEY-----' },
  'blocks that begin, with a line each': { unit: `-----BEGIN PRIVATE KEY-----\n${'QUJD'.repeat(6)}\n` },
  'blocks that end': { unit: '-----END PRIVATE KEY-----', head: '-----BEGIN PRIVATE KEY-----' },
  dashes: { unit: '-' },
  names: { unit: 'key' },
  'names and signs': { unit: 'token=' },
  'names and quotes': { unit: 'password="' },
  'names and two kinds of quotes': { unit: `password='"` },
  'names and an apostrophe, then no other': { unit: `secret: 'x `, tail: "'" },
  'names and backslashes': { unit: 'token\\\\\\\\"' },
  'one name and backslashes': { unit: '\\', head: 'password="', tail: '"' },
  'names and spaces': { unit: 'api key is ' },
  'one name and spaces': { unit: ' ', head: 'password' },
  'names and types that never end': { unit: 'token: a<' },
  'names and a union without an end': { unit: 'token: str | ' },
  'names and open brackets': { unit: 'api_key: ((((((((' },
  'names and declarations': { unit: 'var token [' },
  'names and a spoken type': { unit: 'secret as ' },
  PINs: { unit: 'PIN is ' },
  'phrases of words': { unit: 'passphrase: aaa bbb ccc ddd ' },
  'one phrase without an end': { unit: 'abcdef ', head: 'passphrase: ' },
  'cookie headers on one line': { unit: 'Cookie: a=b; ' },
  'cookies without an end': { unit: 'a=b;', head: 'Cookie: sid=4f5a8b7c9d2e1f30;' },
  'authorization on one line': { unit: 'Authorization: Digest x ' },
  bearers: { unit: 'Bearer ' },
  addresses: { unit: 'http://' },
  'addresses with names': { unit: '://a:' },
  'at signs': { unit: '@', head: 'https://' },
  'curl without a user': { unit: 'curl -u ' },
  parameters: { unit: '&key=' },
  marks: { unit: '[[secret:0a1b2c3d]]' },
  'halves of marks': { unit: '[[secret:' },
  'halves of a key we hold': { unit: KEY.slice(0, 20) },
  braces: { unit: '{"password":' },
  'line breaks': { unit: '\n', head: 'password:' },
  'commands without a password': { unit: 'mysql -x ' },
  'commands on one line': { unit: 'docker login sshpass ' },
  'almost passwords of commands': { unit: 'mysql -p' },
  'words for codes': { unit: 'recovery codes ' },
  'PuTTY headers': { unit: 'Private-Lines: 1\n' },
  'PuTTY headers and a line': { unit: `Private-Lines: 1\n${'QUJD'.repeat(5)}` },
  ports: { unit: ':5432:' },
  'almost pgpass lines': { unit: 'a:5432:b:c:' },
  'starts of hashes': { unit: '$2b$10$' },
  'one run of base64': { unit: 'cGFzc3dvcmQ9' },
  'runs of base64 that decode to nothing': { unit: `${'bm90aGluZyBoZXJl'.repeat(3)} ` },
  'base64 in lines': { unit: `${'bm90aGluZyBoZXJl'.repeat(4)}\n` },
  'base64 of base64': { unit: `${Buffer.from('bm90aGluZyBoZXJl'.repeat(4)).toString('base64')} ` },
  'runs of hex': { unit: `${'6e6f7468696e67'.repeat(5)} ` },
  'signs of URL-encoding': { unit: '%41%42%43 ' },
  'one word of URL-encoding': { unit: '%41' },
  'percent signs': { unit: '%' },
  'sentences about passwords': { unit: 'the password for the big red box in the hall is ' },
  'settings in a row': { unit: 'user=a password=b ' },
  'pairs of names': { unit: 'login: ada / ' },
  'text beyond ASCII': { unit: 'ключ: пароль → 密码 ' },
};

const fill = (unit: string, size: number): string =>
  unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

function timeOf(text: string): number {
  const start = process.cpuUsage();
  redactor.redactText(text);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Processor time, not wall time, and the best of several tries: other load must not decide. */
function growthOf(of: (size: number) => string): number {
  const [small, large] = [of(SMALL), of(LARGE)];
  timeOf(small);
  const fast = Math.max(0.2, Math.min(timeOf(small), timeOf(small)));
  let slow = timeOf(large);
  for (let tries = 0; tries < 5 && slow / fast >= ALLOWED; tries++) slow = Math.min(slow, timeOf(large));
  return slow / fast;
}

describe('the processor time of redaction', () => {
  const cases = Object.entries(HOSTILE).map(([label, { unit, head = '', tail = '' }]) => ({
    label,
    of: (size: number) => head + fill(unit, size) + tail,
  }));
  const text = stream();
  cases.push({ label: 'a stream of secrets', of: (size) => text.slice(0, size) });
  redactor.redactText(text.slice(0, SMALL));

  it.each(cases)('grows linearly with the text (not quadratically): $label', ({ of }) => {
    expect(growthOf(of)).toBeLessThan(ALLOWED);
  });
});
