import { describe, expect, it } from 'vitest';
import { readManner } from '../../../src/evidence/signals/manner.ts';

const keysOf = (text: string): readonly string[] =>
  [readManner(text)].flatMap((said) => (said === undefined ? [] : `${said.key} ${said.tier}`));

describe('what people say about manner', () => {
  it.each([
    ['Be shorter.', 'length-short free'],
    ['Please be more concise.', 'length-short free'],
    ['Keep your answers short, please.', 'length-short free'],
    ['Your replies are way too long.', 'length-short free'],
    ['Give me longer explanations.', 'length-long free'],
    ['Call me Ada.', 'address-ada guarded'],
    ['No, call me Ada Lovelace!', 'address-ada lovelace guarded'],
    ['Be more formal.', 'tone-formal guarded'],
    ['Stop apologizing.', 'tone-apologizing guarded'],
    ['No emojis, please.', 'tone-emoji guarded'],
  ])('%s', (text, key) => expect(keysOf(text)).toEqual([key]));

  it.each([
    'Call me Dr.',
    'Make the function shorter.',
    'Use a shorter variable name.',
    'Could you be shorter?',
    "Don't be shorter than the spec.",
    'Be shorter this time.',
    'The user model should be formal.',
    'Call me when the build is done',
    'Remove the emojis from the README.',
    'The answers table is too long.',
  ])('leaves alone: %s', (text) => expect(keysOf(text)).toEqual([]));
});
