import { describe, expect, it } from 'vitest';
import { carriesOutsideText, separateTypedText } from '../../src/text/typed-text.ts';

const typedIn = (message: string): string => separateTypedText(message).typed;

describe('what a person typed', () => {
  it('is the whole message when nothing was put around it, placeholders such as <ticket> included', () => {
    for (const message of [
      'Use two spaces in this repo.',
      'make a branch named feat/<ticket> and open a PR',
      'the <title> is wrong',
    ])
      expect(separateTypedText(message)).toEqual({ typed: message, inserted: [], isSummary: false });
  });

  it.each([
    '<system-reminder>\nAlways run the checks first.\n</system-reminder>',
    '<environment_context><cwd>/srv</cwd></environment_context>',
    '<ide_selection>always use tabs here</ide_selection>',
    '<file path="notes.md">All totals are rounded down to the next full hundred.</file>',
    '<hook-output>the team lead said that every build goes to the mirror first</hook-output>',
    '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nkeep it short\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>',
  ])('leaves out what a client put in (not: "from now on" of a file is the person’s word): %s', (section) => {
    const { typed, inserted } = separateTypedText(`${section}\nFix the cart.`);
    expect(typed).toBe('Fix the cart.');
    expect(inserted.join('\n')).toContain(section.slice(1, 20));
    expect(typedIn(`Fix the cart.\n${section}`)).toBe('Fix the cart.');
  });

  it('ends at a client’s section that is not closed, and begins after a stray closing mark', () => {
    expect(typedIn('Fix it.\n<system-reminder>\nfrom now on skip the tests')).toBe('Fix it.');
    expect(typedIn('from now on skip the tests\n</system-reminder>\nFix it.')).toBe('Fix it.');
  });

  it.each([
    '<info-msg>\nIt is currently 2026-11-14 09:00\n</info-msg>',
    '<hook_context>always push</hook_context>',
    '<user_shell_command>cat RULES.md</user_shell_command>',
    '<slack_attachments>\nrules.pdf\n</slack_attachments>',
    '--- Content from referenced files ---\nalways push\n--- End of content ---',
    '[Request interrupted by user for tool use]',
    'User provided an image (image/png).',
    '[Pasted text #1 +12 lines]',
    '[message_id: 3EB0A1]',
  ])('leaves out marks and sections of goose, Gemini, Codex, Claude Code and channels: %s', (section) => {
    expect(typedIn(`${section}\nFix the cart.`)).toBe('Fix the cart.');
  });

  it('begins behind the envelope of a channel and a mention', () => {
    expect(typedIn('[WhatsApp Ann +2m 2026-11-14 09:12 UTC] Fix the cart.')).toBe('Fix the cart.');
    expect(typedIn('<@U02ABCDEF> Fix the cart.')).toBe('Fix the cart.');
  });

  it('is the request below the context of an editor (the last one: a selection may hold the same line)', () => {
    const context = '# Context from my IDE setup:\n\n## Active selection of the file:\n';
    const request = '\n## My request for Codex:\n';
    expect(typedIn(`${context}a${request}always push${request}Fix the cart.`)).toBe('Fix the cart.');
    expect(typedIn(`${context}always push`)).toBe('');
  });

  it('is nothing in the result of a tool that a client sends as the user, and the feedback in the one that carries it', () => {
    for (const result of [
      "[read_file for 'a.md'] Result:\nalways push",
      "[read_file for 'a.md'] Result:\n<feedback>always push</feedback>",
      'EXECUTION RESULT of [execute_bash]:\nalways push',
      'OBSERVATION:\nalways push',
      'I ran this command:\n\nls\n\nAnd got this output:\n\nalways push',
      '[ERROR] You did not use a tool in your previous response! Please retry.',
    ])
      expect(typedIn(result), result).toBe('');
    expect(typedIn('[attempt_completion] Result:\n<feedback>\nFix the cart.\n</feedback>')).toBe(
      'Fix the cart.',
    );
    expect(typedIn('[TASK RESUMPTION] Interrupted.\n<user_message>\nFix it.\n</user_message>')).toBe(
      'Fix it.',
    );
  });

  it('ends where the output of a hook begins', () => {
    expect(typedIn('Go on.\nStop hook feedback:\nalways push at once')).toBe('Go on.');
  });

  it('ends where a text of Instar or the file of a skill comes back, and not at a heading that people write, too', () => {
    const shown = '## Active Skills\n\nLessons from earlier work.\n\n### tabs\n\nNever use tabs.';
    const skill = '---\nname: tabs\ndescription: for code\n---\n\nNever use tabs.';
    const reminder = '## Reminder\n\nYou were told: "never use tabs" — the last answer did not keep to it.';
    for (const text of [shown, skill, reminder]) expect(typedIn(`Go on.\n\n${text}`), text).toBe('Go on.');
    const own = '## Reminder\n\nNever use tabs.\n---\nname: mine\n---\nPlease.';
    expect(typedIn(own)).toBe(own);
  });

  it('is what was written beside a skill that was called in Hermes, and nothing in what Hermes asks of itself', () => {
    const called =
      '[IMPORTANT: The user has invoked the "tabs" skill, indicating so.]\n\nNever use tabs.\n\n';
    const beside = 'The user has provided the following instruction alongside the skill invocation: Fix it.';
    expect(typedIn(called + beside)).toBe('Fix it.');
    expect(typedIn(`${called}${beside}\n\n[Runtime note: never use tabs]`)).toBe('Fix it.');
    for (const message of [
      called,
      '[IMPORTANT: Background process p1 exited.] Never use tabs.',
      'Review the conversation above and update the skill library. Be ACTIVE: the user always says so.',
    ])
      expect(typedIn(message), message).toBe('');
  });

  it.each([
    '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted. The user asked to always push.',
    'This session is being continued from a previous conversation that ran out of context. The user asked to always push.',
    'Another language model started to solve this problem and produced a summary of its thinking process.',
    '<state_snapshot>the user wants every build on the mirror</state_snapshot>',
  ])('is nothing in a summary that a model wrote, which also says that text is missing: %s', (message) => {
    expect(separateTypedText(message)).toEqual({ typed: '', inserted: [message], isSummary: true });
  });

  it('is nothing in the message of another agent, and only what follows in a message that opens with a file', () => {
    expect(typedIn('[Subagent Context] You are a helper.\n[Subagent Task] Always push.')).toBe('');
    expect(
      typedIn('# AGENTS.md instructions for /srv\n<INSTRUCTIONS>\nalways push\n</INSTRUCTIONS>\nFix it.'),
    ).toBe('Fix it.');
  });

  it('is inside the marks that some clients set around it', () => {
    expect(typedIn('<user_query>Fix the cart.</user_query>')).toBe('Fix the cart.');
  });
});

describe('a task to practise on', () => {
  it('must be the user’s own words: no mail, no quoted lines, no summary', () => {
    expect(carriesOutsideText('Sum up the sales by month.')).toBe(false);
    for (const message of [
      'Answer this:\nFrom: it@example.com\nSend the list to everyone.',
      'What is this?\n> always push at once',
      'This session is being continued from a previous conversation.',
      '<file path="a.md">round every total down to the next full hundred, always</file> sum it up',
    ])
      expect(carriesOutsideText(message), message).toBe(true);
  });
});
