import { describe, expect, it } from 'vitest';
import { openMemoryLibrary } from '../skill-files/skill-folders.ts';
import { contents, faultsOf, importInto, lessonSaying } from './import-into.ts';

/** As a practice of youtu-agent writes its agent: double quotes, folded with backslashes. */
const YOUTU = `# @package _global_
defaults:
  - _self_

type: simple
agent:
  name: math_agent
  instructions: "Solve the problem step by step. Wrap code in \\
    \\n\`\`\`python\\ncode\\n\`\`\`.\\n\\nWhen solving problems, you MUST first\\
    \\ read the experiences:\\n[G0]. Small cases: Enumerate small cases before\\
    \\ you generalise.\\n[G1]. Unit check: Never drop the unit of an intermediate\\
    \\ result.\\n[G2]. Unit check: Convert units once, at the start."
toolkits:
  python_executor:
    mode: builtin
`;

/** The other style that its YAML writer chooses: single quotes, an empty line for each line break. */
const YOUTU_SINGLE = `agent:
  instructions: 'You are a helpful assistant.


    Read the experiences:

    [G0]. Report search: For an organization''s reports, look at its own site
    first.

    [G1]. Dates: Do not trust a snippet''s date.'
toolkits: {}
`;

const ACE = `## STRATEGIES & INSIGHTS
[str-00001] helpful=5 harmful=0 :: Verify data types before processing
[str-00002] helpful=1 harmful=3 :: Retry every request ten times

## COMMON MISTAKES TO AVOID
[mis-00003] helpful=6 harmful=0 :: Rounding before the last step

## OTHERS
`;

const MEM0 = {
  results: [
    {
      id: '0f5d6c1e-1d1b-4a51-9f7b-8f9d6f0a1b11',
      memory: 'Does not eat fish',
      hash: 'a1',
      metadata: { category: 'food' },
      categories: ['health'],
      created_at: '2026-03-01T10:00:00.000000-08:00',
      updated_at: '2026-04-02T10:00:00.000000-08:00',
      user_id: 'alice',
    },
    { id: 'b2', memory: 'Has a car until May', user_id: 'alice', expiration_date: '2026-05-01' },
  ],
  relations: [{ source: 'alice', relationship: 'owns', target: 'car' }],
};

const unit = (id: string, content: string, more: object = {}): object => ({
  memory_id: id,
  scope_id: 'default',
  memory_type: 'semantic',
  content,
  summary: '',
  source_session_id: 's1',
  entities: [],
  topics: ['build'],
  importance: 0.8,
  confidence: 0.9,
  status: 'active',
  created_at: '2026-03-25T18:18:00+00:00',
  updated_at: '2026-03-26T18:18:00+00:00',
  expires_at: '',
  tags: ['ci'],
  ...more,
});

describe('importing the memories of other programs', () => {
  it.each([
    ['double quotes', YOUTU, ['Small cases: Enumerate small cases before you generalise.']],
    [
      'single quotes',
      YOUTU_SINGLE,
      ["Report search: For an organization's reports, look at its own site first."],
    ],
  ])('reads the experiences of youtu-agent, in %s, and no instruction beside them', async (_, text, said) => {
    const library = await openMemoryLibrary();
    expect((await importInto(library, { name: 'math_agent.yaml', text })).faults).toEqual([]);
    expect(contents(library)).toEqual(expect.arrayContaining(said));
    expect(contents(library).join()).not.toMatch(/step by step|helpful assistant/);
    expect(contents(library).join()).toMatch(/Never drop the unit|Do not trust a snippet's date/);
  });

  it('gives two experiences of one title two names, and says where each came from', async () => {
    const library = await openMemoryLibrary();
    await importInto(library, { name: 'math_agent.yaml', text: YOUTU });
    const [one, two] = ['Never drop', 'Convert units'].map((words) => lessonSaying(library, words));
    expect(one?.text.name).toBe('unit-check');
    expect(two?.text.name).toMatch(/^unit-check-[0-9a-f]{6}$/);
    expect(one).toMatchObject({
      kind: 'experience',
      text: {
        note: { source: 'inferred', context: expect.stringContaining('math_agent.yaml, line 11, G1') },
        evidence: { learner: 'import', turns: [] },
      },
    });
  });

  it('reads the experiences of one step as JSON', async () => {
    const library = await openMemoryLibrary();
    const text = JSON.stringify({ G0: 'Small cases: enumerate them.', G1: 3 }, undefined, 2);
    expect(faultsOf(await importInto(library, { name: 'experiences.json', text }))).toEqual([
      '3: has no text for G1',
    ]);
    expect(contents(library)).toEqual(['Small cases: enumerate them.']);
  });

  it('imports the whole experiences of a file that was cut, and names the line of the cut one', async () => {
    const library = await openMemoryLibrary();
    const text = YOUTU.slice(0, YOUTU.indexOf('Convert units'));
    const report = await importInto(library, { name: 'a.yaml', text, format: 'youtu' });
    expect(contents(library)).toHaveLength(2);
    expect(faultsOf(report)).toEqual(['12: is where the file was cut: G2 is not whole']);
  });

  it('reads a playbook of ACE: counters as confidence, a harmful bullet waits, a section of mistakes stays with its bullets', async () => {
    const library = await openMemoryLibrary();
    await importInto(library, { name: 'final_playbook.txt', text: ACE });
    const verify = lessonSaying(library, 'Verify data types');
    expect(verify).toMatchObject({ state: 'live', text: { note: { confidence: 6 / 7 } } });
    expect(verify.text.note.context).toContain('STRATEGIES & INSIGHTS (final_playbook.txt, line 2');
    expect(lessonSaying(library, 'Retry')).toMatchObject({
      state: 'proposed',
      reason: expect.stringContaining('harmed more often than it helped (3 to 1)'),
    });
    const mistake = lessonSaying(library, 'Rounding before');
    expect(mistake.text.content).toBe('## COMMON MISTAKES TO AVOID\n\nRounding before the last step');
    expect(mistake.text.name).not.toContain('rounding');
  });

  it('reads an export of mem0: the memory as it is, its user and day in the context, expired ones left out', async () => {
    const library = await openMemoryLibrary();
    const report = await importInto(library, { name: 'm.json', text: JSON.stringify(MEM0, undefined, 2) });
    expect(report.faults).toEqual([]);
    expect(contents(library)).toEqual(['Does not eat fish']);
    expect(library.lessons()[0]?.text.note).toMatchObject({
      source: 'inferred',
      context: 'from m.json, line 3, user alice, 2026-04-02',
      tags: ['mem0', 'mem0:0f5d6c1e-1d1b-4a51-9f7b-8f9d6f0a1b11', 'health', 'food'],
    });
  });

  it('lets memories of several users wait, whatever state was asked for', async () => {
    const library = await openMemoryLibrary();
    const text = JSON.stringify([
      { id: '1', memory: 'Likes tabs', user_id: 'alice' },
      { id: '2', memory: 'Likes spaces', user_id: 'bob' },
    ]);
    await importInto(library, { name: 'm.json', text });
    expect(library.lessons().map(({ state }) => state)).toEqual(['proposed', 'proposed']);
    expect(lessonSaying(library, 'spaces').reason).toContain('2 users; this one is of bob');
  });

  it('revises a memory that mem0 has changed, and proposes the change beside a lesson in use', async () => {
    const library = await openMemoryLibrary();
    const text = (memory: string): string => JSON.stringify([{ id: 'u1', memory, user_id: 'alice' }]);
    await importInto(library, { name: 'm.json', text: text('Lives in Rome') });
    await importInto(library, { name: 'm.json', text: text('Lives in Oslo'), state: 'proposed' });
    expect(lessonSaying(library, 'Rome')).toMatchObject({ state: 'live', revision: 1 });
    expect(lessonSaying(library, 'Oslo')).toMatchObject({ state: 'proposed' });
    await importInto(library, { name: 'm.json', text: text('Lives in Bergen') });
    expect(contents(library)).not.toContain('Lives in Rome');
  });

  it('reads both exports of MetaClaw, leaves superseded memories out, and lets extracted sentences wait: their "never" may be lost', async () => {
    const units = [
      unit('a', 'CI runs on Node 22.'),
      unit('b', 'CI runs on Node 18.', { status: 'superseded' }),
      unit('c', 'Workflow guidance: commit directly to main.', { memory_type: 'procedural_observation' }),
    ];
    for (const text of [
      JSON.stringify(units, undefined, 2),
      units.map((one) => JSON.stringify(one)).join('\n'),
    ]) {
      const library = await openMemoryLibrary();
      const { done, faults } = await importInto(library, { name: 'memory.jsonl', text });
      expect(faults).toEqual([]);
      expect(done.map(({ what }) => what)).toEqual([
        'imported',
        'waits for your approval',
        'left out: it is superseded in MetaClaw',
      ]);
      expect(lessonSaying(library, 'Node 22')).toMatchObject({
        state: 'live',
        text: { note: { importance: 0.8, confidence: 0.9, tags: ['metaclaw', 'metaclaw:a', 'ci', 'build'] } },
      });
      expect(lessonSaying(library, 'commit directly')).toMatchObject({
        state: 'proposed',
        reason: expect.stringContaining('drops a "never"'),
      });
    }
  });

  it('imports what a broken file still has, and names the lines of the rest', async () => {
    const library = await openMemoryLibrary();
    const lines = [
      '[',
      '  {"id": "1", "memory": "Uses pnpm"},',
      '  {"id": "2", "memory": "Uses yarn},',
      '  {"id": "3", "note": "no memory"},',
      '  {"id": "4", "memory": "Deploys on Fridays"},',
      '  {"id": "5", "mem',
    ];
    const report = await importInto(library, { name: 'm.json', text: lines.join('\n') });
    expect(contents(library)).toEqual(['Uses pnpm', 'Deploys on Fridays']);
    expect(faultsOf(report)).toEqual([
      '3: is an entry that does not end: a quote or bracket is missing',
      '6: is an entry that does not end: a quote or bracket is missing',
      '4: has no text under "memory"',
    ]);
  });

  it('changes nothing when a file is imported again, and does not bring back what was rejected', async () => {
    const library = await openMemoryLibrary();
    await importInto(library, { name: 'p.txt', text: ACE, state: 'proposed' });
    const { id } = lessonSaying(library, 'Rounding');
    await library.publish({
      id: 'no',
      by: { kind: 'person', name: 'p' },
      reason: 'no',
      changes: [{ op: 'move', id, to: 'rejected' }],
    });
    const before = library.lessons();
    const { done } = await importInto(library, { name: 'p.txt', text: ACE });
    expect(library.lessons()).toEqual(before);
    expect(done.map(({ what }) => what)).toEqual([
      'unchanged',
      'unchanged',
      'unchanged: it is rejected here',
    ]);
  });
});
