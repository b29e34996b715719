import type { NewFact } from '../../src/core/store.ts';

/** A skill as the evolver's model writes it. */
export const SKILL = {
  name: 'state-the-unit',
  description: 'When you write amounts of money into a report.',
  content: [
    '1. Find every amount in what you write.',
    '2. Put the unit behind the number, with one space.',
    '3. Read the file once more before you say that you are done.',
    'Example: 12.50 EUR',
    'Anti-pattern: a bare 12.50, which nobody can book.',
    'Check the totals too.',
  ].join('\n'),
  category: 'productivity',
};

/** Episodes of one agent that a person called failures: enough to start the evolver. */
export const failedEpisodes = (agent: string, count = 3): readonly NewFact[] =>
  Array.from({ length: count }, (_, nth) => `${agent}-${nth}`).flatMap((session): NewFact[] => {
    const report = (kind: string, data: Record<string, string | boolean>): NewFact => ({
      at: 1_000,
      fact: { type: 'event-reported', kind, agent, session, data },
    });
    return [
      report('episode_start', { task: 'Write the invoice amounts into report.md' }),
      report('episode_attempt', { action: 'wrote report.md', result: '12.50', ok: true }),
      report('episode_end', { outcome: 'failure' }),
      {
        at: 1_000,
        fact: {
          type: 'reward-given',
          session,
          source: 'person',
          score: -1,
          note: 'Put the unit behind every amount, such as 12.50 EUR.',
        },
      },
    ];
  });
