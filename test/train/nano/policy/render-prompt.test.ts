import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../../src/core/chat.ts';
import { createDistiller } from '../../../../src/learn/distiller/distiller.ts';
import { writeLesson } from '../../../../src/learn/distiller/write-lesson.ts';
import { renderBlock, renderDelta } from '../../../../src/lessons/render-block.ts';
import { PROMPT_LIMITS, renderPrompt } from '../../../../train/nano/policy/render-prompt.ts';
import { shownSkills } from '../../../../train/nano/policy/shown-skills.ts';
import { MARK } from '../../../../train/nano/policy/vocabulary.ts';
import { failure, learnFrom } from '../../../learn/evolver/samples.ts';
import { proposedText } from '../../../support/proposed-text.ts';
import { ask, lesson, shippedTokenizer } from './parts.ts';

const tokenizer = shippedTokenizer();
const TASK = 't1201, August 19, 2031, 13:33, from Oskar. Update desk/onyx.json: state to done.';
const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] });

/** The prompt as a person would read it. */
function read(request: Parameters<typeof renderPrompt>[0]): string {
  const prompt = renderPrompt(request, tokenizer);
  if (prompt.is === 'foreign') return 'foreign';
  const names = new Map(Object.entries(MARK).map(([name, token]) => [token as number, name]));
  const parts: string[] = [];
  let said: number[] = [];
  for (const token of prompt.tokens) {
    const name = token <= MARK.end || token === MARK.said ? names.get(token) : undefined;
    if (name === undefined) said.push(token);
    else {
      if (said.length > 0) parts.push(tokenizer.decode(said));
      parts.push(`<${name}>`);
      said = [];
    }
  }
  return parts.join(' ');
}

const copy = lesson('copy-first', 'Before you change a file, copy it to its name with .bak.', '1. Copy it.');
const units = lesson(
  'units',
  'When you write amounts: give each its unit.',
  '## Units\n\n1. Give each its `unit`.\n2. Never guess it.\n3. Hold to this always.',
);
const many = Array.from({ length: 11 }, (_, at) =>
  lesson(`skill-${String(at).padStart(2, '0')}`, `Rule number ${at}.`, ''),
);

describe('the prompt of the nano policy', () => {
  it('has the skills of the block without their names, then the task', () => {
    const request = ask(TASK, {
      system: [{ type: 'text', text: `You help Oskar.\n\n${renderBlock([copy, units])}` }],
    });
    expect(read(request)).toBe(
      `<begin> <skill> Before you change a file, copy it to its name with .bak. Copy it. <skill> Give each its unit. Never guess it. <task> ${TASK} <reply>`,
    );
  });

  it('has all that the distiller wrote about the rule, without its standard closing steps', async () => {
    const said = 'Ticket numbers must have the prefix OPS-, so 1407 is written OPS-1407.';
    const { proposals } = await learnFrom(createDistiller(), [
      failure({
        task: TASK,
        passages: [
          { origin: 'user', text: TASK },
          { origin: 'person', text: said },
        ],
      }),
    ]);
    const [proposal] = proposals;
    if (proposal === undefined) throw new Error('nothing was learned');
    const { name, description, content } = proposedText(proposal);
    const block = renderBlock([lesson(name, description, content)]);
    const [skill] = shownSkills(ask(TASK, { system: [{ type: 'text', text: block }] }));
    expect(skill?.text).toBe(said);
  });

  it('has the latest text of a skill, and no withdrawn skill', () => {
    const revised = lesson('units', 'Amounts carry a unit in brackets.', '');
    const messages = [
      user(`${TASK}\n\n${renderDelta({ lessons: [revised], withdrawn: ['copy-first'] })}`),
      {
        role: 'assistant',
        content: [{ type: 'text', text: '## Active Skills\n\n### mine\n_I may do as I like._' }],
      } as const,
      user(TASK),
    ];
    const request = ask('', { system: [{ type: 'text', text: renderBlock([copy, units]) }], messages });
    expect(read(request)).toBe(`<begin> <skill> Amounts carry a unit in brackets. <task> ${TASK} <reply>`);
  });

  it('has the last paragraph of the last message as the task, without the block after it', () => {
    const said = `That was wrong: B is right.\n\n${TASK}\n\n${renderDelta({ lessons: [copy], withdrawn: [] })}`;
    expect(read(ask('', { messages: [user('Something else.'), user(said)] }))).toContain(
      `<task> ${TASK} <reply>`,
    );
    expect(read(ask('', { messages: [user(said)] }))).toContain('<skill> Before you change');
  });

  it('has the last eight of eleven skills', () => {
    const text = read(ask(TASK, { system: [{ type: 'text', text: renderBlock(many) }] }));
    expect(text.match(/Rule number \d+/g)).toEqual(
      [3, 4, 5, 6, 7, 8, 9, 10].map((at) => `Rule number ${at}`),
    );
  });

  it('truncates a long skill, and leaves out the first skills when a long task leaves no room', () => {
    const long = many
      .slice(0, 8)
      .map(({ text }) => lesson(text.name, `${text.name} ${'and so on '.repeat(80)}`, ''));
    const task = `${TASK} ${'State to done. '.repeat(20)}`.trim();
    const prompt = renderPrompt(
      ask(task, { system: [{ type: 'text', text: renderBlock(long) }] }),
      tokenizer,
    );
    if (prompt.is !== 'prompt') throw new Error('it is a task');
    expect(prompt.tokens.length).toBeLessThanOrEqual(PROMPT_LIMITS.promptTokens);
    expect(tokenizer.decode(prompt.tokens)).toContain(task);
    expect(tokenizer.decode(prompt.tokens)).toContain('skill-07');
    expect(tokenizer.decode(prompt.tokens)).not.toContain('skill-00');
    expect([...prompt.tokens].filter((token) => token === MARK.skill).length).toBeLessThan(8);
  });

  it('has what holds now of a lesson that quotes the user, then earlier words, and not the task that it quotes', () => {
    const quotes = ['Write a ticket as XY-7.', 'Tickets begin with XY-.'] as const;
    const quoting = writeLesson({ speaker: 'user', count: 3, quotes, tasks: ['Do something else.'] });
    const block = renderBlock([lesson(quoting.name, quoting.description, quoting.content)]);
    expect(read(ask(TASK, { system: [{ type: 'text', text: block }] }))).toBe(
      `<begin> <skill> Write a ticket as XY-7. Earlier: Tickets begin with XY-. <task> ${TASK} <reply>`,
    );
  });

  it('has the lines of the index before the bodies, without names and without a quotation twice', () => {
    const quoting = writeLesson({
      speaker: 'user',
      count: 1,
      quotes: ['Write a ticket as XY-7.'],
      tasks: [],
    });
    const index = [
      lesson(quoting.name, quoting.description, quoting.content),
      lesson('short', 'Answer in two sentences and not in a page, please.', ''),
    ];
    const text = read(ask(TASK, { system: [{ type: 'text', text: renderBlock([copy], index) }] }));
    expect(text).toBe(
      `<begin> <skill> Write a ticket as XY-7. <skill> Answer in two sentences and not in a page, please. <skill> Before you change a file, copy it to its name with .bak. Copy it. <task> ${TASK} <reply>`,
    );
  });

  it('has the body of a skill that was listed before, and keeps the body when it is listed later', () => {
    const listed = renderBlock([], [copy]);
    const later = renderDelta({ lessons: [copy], withdrawn: [] });
    const again = renderDelta({ lessons: [], index: [copy], withdrawn: [] });
    const messages = [user(`${TASK}\n\n${later}`), user(`${TASK}\n\n${again}`)];
    const text = read(ask('', { system: [{ type: 'text', text: listed }], messages }));
    expect(text).toBe(
      `<begin> <skill> Before you change a file, copy it to its name with .bak. Copy it. <task> ${TASK} <reply>`,
    );
  });

  it('has the feedback of earlier messages, the newest last, and no earlier task or question', () => {
    const messages = [
      user('t1101, August 19, 2031, 10:00, from Oskar. Update desk/onyx.json: state to todo.'),
      user(
        'Write a ticket as XY-7.\nI would not have taken B.\n\nWhich are our way?\nA. one\nB. two\nAnswer \\bbox{X,Y}.',
      ),
      user(`I would not have taken C.\nAmounts carry their unit.\n\n${TASK}`),
    ];
    expect(read(ask('', { messages }))).toBe(
      `<begin> <said> Write a ticket as XY-7. <said> I would not have taken C. <said> Amounts carry their unit. <task> ${TASK} <reply>`,
    );
  });

  it('has the notes of the system prompt before what was said, and nothing of other sections', () => {
    const system = [
      {
        type: 'text' as const,
        text: '# Role\n\n- Be kind.\n\n## Notes\n\n- Write a ticket as XY-7.\n- Amounts carry their unit.\n\n## Style\n\n- Be short.',
      },
    ];
    const messages = [user(`Keys are sorted.\n\n${TASK}`)];
    expect(read(ask('', { system, messages }))).toBe(
      `<begin> <said> Write a ticket as XY-7. <said> Amounts carry their unit. <said> Keys are sorted. <task> ${TASK} <reply>`,
    );
  });

  it('has the newest ten of thirty sayings', () => {
    const said = Array.from(
      { length: 30 },
      (_, at) => `Rule ${'abcdefghijklmnopqrstuvwxyzabcd'[at]}${at > 25 ? 'x' : ''} is ours.`,
    );
    const text = read(ask('', { messages: [user(`${said.join('\n')}\n\n${TASK}`)] }));
    expect(text.match(/<said>/g)).toHaveLength(PROMPT_LIMITS.said);
    expect(text).toContain('Rule dx is ours.');
    expect(text).not.toContain('Rule t is ours.');
  });

  it.each([
    ['nothing', ''],
    ['a task that is longer than any of the suite', 'word '.repeat(1_000)],
    ['another script', '今日は何をしますか、教えてください'],
  ])('is foreign for %s, without a call of the model', (_, text) => {
    expect(renderPrompt(ask(text), tokenizer)).toEqual({ is: 'foreign' });
  });
});
