import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sparkline } from '../../../lab/report/bar-chart.ts';
import { html, toText } from '../../../lab/report/markup.ts';
import { questionJson } from '../../../lab/report/questions/question-json.ts';
import { makeQuestionReport } from '../../../lab/report/questions/question-report.ts';
import { countClosed } from './count-closed.ts';
import { graded, head, night } from './journals.ts';
import { questionPage, questionTable } from './render.ts';
import { simulateJournal } from './simulated-journal.ts';

const full = makeQuestionReport(simulateJournal({ ungraded: 0.004 }));

describe('the JSON report', () => {
  it('has the shape that scripts rely on, with intervals beside the figures', () => {
    const json = JSON.parse(JSON.stringify(questionJson(full)));
    expect(Object.keys(json.conditions)).toEqual(['baseline', 'skills', 'full']);
    expect([json.seeds, json.questions]).toEqual([3, 588]);
    let figures = 0;
    for (const name of ['baseline', 'skills', 'full']) {
      for (const measure of ['accuracy', 'completion', 'exact']) {
        const { [measure]: value, [`${measure}Interval`]: interval } = json.conditions[name];
        expect(interval.low).toBeLessThan(value);
        expect(interval.high).toBeGreaterThan(value);
        figures++;
      }
    }
    expect(figures).toBe(9);
    expect(json.differences[0]).toMatchObject({ of: 'skills', against: 'baseline', verdict: 'better' });
  });

  it('has null (not NaN, not a missing key) where nothing was graded', () => {
    const { conditions } = questionJson(
      makeQuestionReport({ head: head(), rows: [], lessons: [], nights: [] }),
    );
    expect(conditions.skills).toMatchObject({ accuracy: null, accuracyInterval: null, completion: null });
  });
});

describe('the terminal report', () => {
  it('is at most 100 wide, ends its last line, and has no escape code unless asked', () => {
    const text = questionTable(full);
    const lines = text.split('\n');
    expect(lines.length).toBeGreaterThan(80);
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(100);
    expect(text.endsWith('\n')).toBe(true);
    expect(text).not.toContain('\u001b');
    expect(questionTable(full, { colour: true })).toContain('\u001b[32mbetter\u001b[0m');
  });

  it('fits a narrower terminal too', () => {
    for (const line of questionTable(full, { width: 60 }).split('\n'))
      expect([...line].length).toBeLessThanOrEqual(60);
  });

  it('contains no control character from a name of a lesson, run or question', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
        const nasty = `${name}\u001b[2J\r\n\u202e`;
        const report = makeQuestionReport({
          head: head({ run: nasty, notes: [nasty] }),
          rows: [graded(1, { question: nasty, rules: [nasty] })],
          lessons: [
            { condition: 'skills', seed: 1, day: 0, id: 'l', name: nasty, state: nasty, teaches: [nasty] },
          ],
          nights: [night({ moves: [nasty] })],
        });
        expect(questionTable(report).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
      { numRuns: 30 },
    );
  });

  it('draws sparklines on one scale', () => {
    expect(sparkline([0, 0.5, 0.999, 1, undefined])).toBe('▁▅██·');
  });
});

/** Tags as a browser would open them. */
const tagsIn = (page: string): readonly string[] =>
  [...page.matchAll(/<([a-z!/][^\s>]*)/gi)].map((match) => match[1] ?? '');

describe('the page', () => {
  const page = questionPage(full);

  it('is one small page that loads no resource and runs no script', () => {
    expect(Buffer.byteLength(page)).toBeLessThan(300_000);
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|javascript:|https?:|@import|url\(/i);
    expect(page).toContain("default-src 'none'");
    expect(page).toContain('prefers-color-scheme: dark');
  });

  it('has a title on every chart, and the numbers of both plots as tables', () => {
    const drawings = page.match(/<svg[^>]*role="img"[^>]*>\s*<title/g) ?? [];
    expect(drawings.length).toBe((page.match(/role="img"/g) ?? []).length);
    expect(drawings.length).toBeGreaterThan(40);
    expect(page.match(/<summary>Numbers<\/summary>/g)).toHaveLength(2);
  });

  it('closes every tag it opens', () => {
    expect(countClosed(page)).toBeGreaterThan(500);
  });

  it('opens the same tags whatever a model calls its lessons: a lesson named <script> does not run', () => {
    const pageWith = (text: string): string =>
      questionPage(
        makeQuestionReport({
          head: head({
            run: text,
            policy: text,
            suite: text,
            options: { [text]: text },
            notes: [text],
            rules: [{ id: text, title: text, since: 0 }],
          }),
          rows: [
            graded(1, { question: text, rules: [text], arc: text }),
            graded(0, { question: text, condition: 'skills', rules: [text], broken: [text], arc: text }),
          ],
          lessons: [
            { condition: 'skills', seed: 1, day: 0, id: text, name: text, state: text, teaches: [text] },
          ],
          nights: [night({ moves: [text] })],
        }),
      );
    const expected = tagsIn(pageWith('harmless'));
    expect(expected.length).toBeGreaterThan(100);
    const fragments = fc.constantFrom(
      '<script>alert(1)</script>',
      '"',
      "'",
      '>',
      '<',
      '&',
      '-->',
      '</style>',
      '</title>',
      ' onload=',
      '`',
      '\u0000',
      '<svg/onload=x>',
      '\ud800',
      '$&',
      '$1',
    );
    const text = fc
      .array(fc.oneof(fragments, fc.string({ unit: 'binary', maxLength: 8 })), { minLength: 1, maxLength: 6 })
      .map((parts) => `x${parts.join('')}`);
    fc.assert(
      fc.property(text, (name) => {
        const got = pageWith(name);
        expect(tagsIn(got)).toEqual(expected);
        expect(got).not.toMatch(/<script/i);
      }),
      { numRuns: 30 },
    );
  });
});

describe('html', () => {
  it('escapes text in content and attributes, and leaves markup alone', () => {
    expect(
      toText(html`<a title="${'"x" & \'y\''}">${'<b>'}${html`<i>${1}</i>`}${[html`<u></u>`, '>']}</a>`),
    ).toBe('<a title="&quot;x&quot; &amp; &#39;y&#39;">&lt;b&gt;<i>1</i><u></u>&gt;</a>');
  });

  it('does not accept forged markup from a journal', () => {
    const forged = JSON.parse('{"markup":"<script>","Symbol(markup)":"<script>"}');
    expect(toText(html`${forged}`)).not.toContain('<script>');
  });
});
