import { describe, expect, it } from 'vitest';
import { readQuery } from '../../../src/lessons/recall/clean-query.ts';
import { findRequest } from '../../../src/lessons/recall/find-request.ts';

const log = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `2026-11-01T08:00:${String(at % 60).padStart(2, '0')}Z [${at}] LOG: duration: ${at} ms`,
  ).join('\n');

describe('the request in a message that is mostly pasted', () => {
  it.each([
    ['before', `why is checkout failing at noon?\n\n${log(60)}`],
    ['after', `${log(60)}\n\nwhy is checkout failing at noon?`],
    ['within', `${log(30)}\n\nwhy is checkout failing at noon?\n\n${log(30)}`],
  ])('is found %s a log (not the first lines of the log)', (_, message) => {
    expect(findRequest(message)?.request).toBe('why is checkout failing at noon?');
    expect(readQuery(message).meant).toBe('why is checkout failing at noon?');
  });

  it('comes with the line that names the error, without its time', () => {
    const trace = [
      'Traceback (most recent call last):',
      '  File "/srv/app/views.py", line 12, in get',
      '    return self.handler(request)',
      '  File "/srv/app/db.py", line 90, in run',
      '    raise TimeoutError(name)',
      "TimeoutError: pool 'main' is exhausted",
    ].join('\n');
    expect(readQuery(`${trace}\n\nwhat now`).meant).toBe("what now\nTimeoutError: pool 'main' is exhausted");
  });

  it('is the person’s sentence, not those of the mail that they pasted', () => {
    const mail = [
      'From: Petra Klein <petra@example.org>',
      'To: office@example.com',
      'Subject: Re: the order',
      '',
      '> Could you please send us the offer again?',
      '> We would be glad to hear from you.',
      '',
      'Why did nobody answer my last mail? Please call me.',
      '',
      'Kind regards',
      'Petra Klein',
    ].join('\n');
    expect(findRequest(`${mail}\n\ntranslate this into Italian`)?.request).toBe(
      'translate this into Italian',
    );
    expect(findRequest(`how do we answer this\n\n${mail}`)?.request).toBe('how do we answer this');
  });

  it('is found around fenced code and in other languages', () => {
    const code = `\`\`\`ts\n${'const the = a.is(it);\nfoo();\n'.repeat(10)}\`\`\``;
    expect(findRequest(`${code}\nkannst du das bitte kürzer machen`)?.request).toBe(
      'kannst du das bitte kürzer machen',
    );
    expect(findRequest(`${code}\n请帮我把这个函数写短一点`)?.request).toBe('请帮我把这个函数写短一点');
  });

  it('is not looked for in a message that a person typed, also with a list', () => {
    expect(
      findRequest('please do three things:\n- add a test\n- fix the button\n- write the docs'),
    ).toBeUndefined();
    expect(findRequest('why is the sky blue')).toBeUndefined();
    expect(findRequest(log(40))).toBeUndefined();
  });

  it('takes linear time for a megabyte of anything', () => {
    for (const piece of ['a ', '> ', 'From: x\n', 'the\n', '[', 'error: ', 'x=', '请\n', '```\n'])
      expect(readQuery(piece.repeat(1_000_000 / piece.length)).meant.length).toBeLessThan(1000);
  });
});
