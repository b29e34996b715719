import { describe, expect, it } from 'vitest';
import { asksBack, looksBack } from '../../src/text/looks-back.ts';

describe('a message looks back without a question mark', () => {
  it.each([
    'remind me what we picked for the cache',
    'Set up the shop. Same cache as last time please.',
    'As we discussed, put it on the left.',
    'use the one I told you about',
    'i forgot which font we chose',
    'what did we settle on for the font',
    'Book the hotel that I stayed at before.',
    'put the events on the queue we decided on',
    'like last time, two coats',
    'wie besprochen die Schrift der Rechnungen',
    'welche schrift haben wir für die rechnungen genommen',
    'rappelle-moi quelle compagnie on a choisie',
    'usa la misma librería que la última vez',
  ])('%s', (text) => {
    expect(looksBack(text)).toBe(true);
  });

  it.each([
    'Write a function that merges two sorted lists and returns a new one.',
    'undo the last commit but keep my changes',
    'now the same for the admin page',
    'Use the second approach.',
    'I said 14, not 40',
    'remind me to call Anna at five',
    'Fix the login. I changed the route and the tests fail.',
    'revert what I just did',
    "no, that's not what I asked for",
    'Remember that we use tabs.',
    'the code from before the refactoring is in old/',
    'Crea un script que comprima los logs de la semana pasada.',
    'kannst du die farbe vom header auf blau ändern',
    'thanks, that works',
    'hi',
  ])('and does not: %s', (text) => {
    expect(looksBack(text)).toBe(false);
  });

  it('a correction that points back asks nothing by itself, and a question does', () => {
    expect(asksBack('as I told you, use tabs')).toBe(false);
    expect(asksBack('which tabs did we agree on')).toBe(true);
  });

  it('reads a thousand hostile characters in a moment', () => {
    for (const part of ['the that ', 'ich t ', 'same a as ', 'que ', 'what i '])
      expect(looksBack(part.repeat(1000 / part.length))).toBe(false);
  });
});
