import { describe, expect, it } from 'vitest';
import { readAskedTimes, readNamedTimes } from '../../../src/learn/recollect/named-days.ts';

/** Thursday, 19 November 2026. */
const NOW = new Date(2026, 10, 19, 12).getTime();

describe('times that a text names', () => {
  it.each([
    ['I saw her yesterday.', '18 November 2026'],
    ['We met last Friday.', '13 November 2026'],
    ['Wir waren letzten Freitag dort.', '13 November 2026'],
    ['On a mangé vendredi dernier.', '13 November 2026'],
    ['It broke two weeks ago.', 'the week of 5 November 2026'],
    ['Vor einer Woche war Markt.', 'the week of 12 November 2026'],
    ['Hace dos semanas.', 'the week of 5 November 2026'],
    ['We hiked last weekend.', 'the weekend of 14 November 2026'],
    ['I slept badly last night.', '18 November 2026'],
    ['上个月', 'October 2026'],
  ])('%s', (text, means) => {
    expect(readNamedTimes(text, NOW).map((time) => time.means)).toEqual([means]);
  });

  it('are not read into names and other words', () => {
    for (const text of ['I may march on.', 'My last name is Friday.', 'Friday is the robot.'])
      expect(readNamedTimes(text, NOW)).toEqual([]);
    expect(readAskedTimes('May I march?', NOW)).toEqual([]);
  });
});

describe('times that a question asks about', () => {
  it.each([
    ['What did I say on Tuesday?', '17 November 2026'],
    ['What did I say on Thursday?', '12 November 2026'],
    ['And in March?', 'March 2026'],
    ['What happened in December?', 'December 2025'],
    ['March 2025 was what?', 'March 2025'],
    ['What was on May 3rd?', '3 May 2026'],
    ['Was war am 24. Dezember?', '24 December 2025'],
    ['¿Qué dije el 3 de mayo de 2024?', '3 May 2024'],
    ['Where was I on 2026-05-03?', '3 May 2026'],
    ['Whom did I meet in 2025?', '2025'],
  ])('%s', (text, means) => {
    expect(readAskedTimes(text, NOW).map((time) => time.means)).toEqual([means]);
  });
});
