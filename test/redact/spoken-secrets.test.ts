import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redact/redact.ts';

const { redactText, redactJson } = createRedactor({ known: () => [], salt: 'a salt' });

describe('a PIN', () => {
  it.each([
    'PIN 884422 for the alarm',
    'my pin 884422 works again',
    'The PIN is 884422.',
    'alarm pin: 884422',
    'PIN code 884422',
    'meine PIN lautet 884422',
    'unlock --pin 884422 --force',
    'user_pin = "884422"',
    '{"user":"ada","pin":"884422"}',
  ])('is redacted, in a text and in a message: %s', (text) => {
    expect(redactText(text)).not.toContain('884422');
    expect(JSON.stringify(redactJson({ content: text }))).not.toContain('884422');
  });

  it('leaves a number in JSON as it is, so that the text stays JSON', () => {
    expect(JSON.parse(redactText('{"pin": 884422}'))).toEqual({ pin: 884422 });
  });

  it.each([
    'pin 3 of the connector',
    'pin 1024 of the header',
    'pin version 1.2',
    'Pin 12.5.0, not the newest',
    'pin node 20.19 and npm 10',
    'PIN 13 is ground',
    'const pin = 7;',
    'the pin is 4000 mm long',
    'spin 4000 times, then map 123456',
    'PIN 5432:5432 of the container',
    'please pin 2024-11-18 in the chat',
  ])('is not a pin of another kind: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe('a passphrase of several words', () => {
  it.each([
    ['my passphrase: correct horse battery staple', 'horse'],
    ['My passphrase: correct horse battery staple, please unlock the disk with it.', 'battery'],
    ['passphrase: Velvet Thunder Saddle Copper\nhost: a', 'Thunder'],
    ['my passphrase: velvet-thunder-saddle-42', 'saddle'],
    ['seed phrase: legal winner thank year wave sausage worth useful legal winner thank yellow', 'sausage'],
    [
      'My seed phrase is legal winner thank year wave sausage worth useful legal winner thank yellow.',
      'wave',
    ],
  ])('is redacted as a whole, in a text and in a message: %s', (text, word) => {
    expect(redactText(text)).not.toContain(word);
    expect(JSON.stringify(redactJson({ content: text }))).not.toContain(word);
  });

  it.each([
    'passphrase: must be set before the first start',
    'Passphrase: leave empty when unused',
    'passphrase: enter the words you were given',
    'passphrase: the same password as before',
    'The passphrase is stored encrypted inside the keychain.',
    'Which passphrase was used last time? The passphrase is wrong again today.',
  ])('is not a sentence about passphrases: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});
