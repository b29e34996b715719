import { plural } from '../../../src/text/phrases.ts';
import type { PracticeReport } from '../lib/api-shapes.ts';
import { Table } from './table.tsx';
import { LongText, Text } from './text.tsx';
import { Section } from './view.tsx';

type Group = NonNullable<PracticeReport['perTask']>[number];

/** The attempts at each task with their rewards: the contrast that lessons are drawn from. */
export const PracticeGroups = ({ groups }: { readonly groups: readonly Group[] }) => (
  <Section
    title="Groups of attempts"
    note={`${plural(groups.length, 'task')}; each dot is an attempt, from 0 to 1`}
  >
    {groups.length === 0 ? (
      <p class="dim">No attempt is recorded yet.</p>
    ) : (
      <Table
        label="Attempts at each task"
        rows={groups}
        keyOf={({ id }) => id}
        columns={[
          {
            head: 'Task',
            is: 'fill',
            cell: ({ prompt, id, outputs = [], parts = [] }) => (
              <>
                <span class="clamp">
                  <Text>{prompt ?? id}</Text>
                </span>
                {outputs.length > 0 && (
                  <details>
                    <summary>{plural(outputs.length, 'answer')}</summary>
                    {outputs.map((output, index) => (
                      <>
                        {parts.length === outputs.length && <p class="dim">{parts[index]}</p>}
                        <LongText key={index} isCode>
                          {output}
                        </LongText>
                      </>
                    ))}
                  </details>
                )}
              </>
            ),
          },
          { head: 'Rewards', is: 'tight', cell: ({ rewards }) => <Dots rewards={rewards} /> },
          {
            head: 'Spread',
            is: 'number',
            cell: ({ rewards }) =>
              rewards.length === 0 ? '–' : (Math.max(...rewards) - Math.min(...rewards)).toFixed(2),
          },
          { head: 'Faults', is: 'number wide', cell: ({ failed }) => failed },
        ]}
      />
    )}
  </Section>
);

const WIDTH = 140;
const PAD = 5;

function Dots({ rewards }: { readonly rewards: readonly number[] }) {
  return (
    <svg
      class="dots"
      width={WIDTH}
      height={16}
      role="img"
      aria-label={rewards.map((reward) => reward.toFixed(2)).join(', ') || 'none'}
    >
      <line x1={PAD} x2={WIDTH - PAD} y1={8} y2={8} />
      {rewards.map((reward, index) => (
        <circle key={index} cx={PAD + reward * (WIDTH - 2 * PAD)} cy={8} r={4} />
      ))}
    </svg>
  );
}
