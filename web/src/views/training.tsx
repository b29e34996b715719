import { plural } from '../../../src/text/phrases.ts';
import { act } from '../lib/act.ts';
import type { PolicyStage, Training, TrainingStep } from '../lib/api-shapes.ts';
import { count, signed } from '../lib/format.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo } from '../lib/route.ts';
import { scheduleWords } from '../lib/schedule-words.ts';
import { Chart } from '../parts/chart.tsx';
import { Command } from '../parts/command.tsx';
import { DayStrip } from '../parts/day-strip.tsx';
import { Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { Facts, Section, Tag } from '../parts/view.tsx';

/** The weights: what there is to train on, how training goes, which version serves, and when it runs next. */
export function TrainingPart() {
  const training = useResource<Training>('/api/page/training', {
    on: ['training', 'policy', 'job', 'practice'],
  });
  return (
    <Loaded of={training}>
      {(value) => (
        <>
          <p class="lead">
            A model of your own is trained on graded attempts. New weights serve only after they beat the old
            ones on tasks that training never saw.
          </p>
          <Weights training={value} onDone={training.reload} />
          <Section
            title="Next 24 hours"
            note={
              value.schedule === undefined
                ? undefined
                : scheduleWords(value.schedule.state, value.schedule.reasons)
            }
          >
            <DayStrip windows={value.windows ?? []} />
          </Section>
          <Steps steps={value.steps ?? []} />
          <Moves moves={value.moves ?? []} />
        </>
      )}
    </Loaded>
  );
}

const isReady = ({ supply }: Training): boolean => (supply?.ready ?? []).length > 0;

function WeightButtons({ training, onDone }: { readonly training: Training; readonly onDone: () => void }) {
  const send = async (operation: string, done: string): Promise<void> => {
    const answer = await act(`/api/train/${operation}`, { done });
    if (answer !== undefined) onDone();
  };
  const { versions } = training;
  const { live } = training.supply ?? {};
  const setLive = async (value: boolean): Promise<void> => {
    const done = value ? 'Live traffic trains too.' : 'Live traffic no longer trains, from the next step on.';
    if ((await act('/api/config', { body: { path: 'train.live', value }, done })) !== undefined) onDone();
  };
  return (
    <>
      {live !== undefined && (
        <button type="button" role="switch" aria-checked={live.isOn} onClick={() => setLive(!live.isOn)}>
          {live.isOn ? 'Stop training on live traffic' : 'Train on live traffic too'}
        </button>
      )}
      {(versions?.waiting ?? versions?.onTrial) !== undefined && (
        <button
          type="button"
          class="primary"
          onClick={() => send('promote', 'The weights moved one stage on.')}
        >
          Promote
        </button>
      )}
      {versions?.previous !== undefined && (
        <button type="button" onClick={() => send('rollback', 'The previous weights serve again.')}>
          Roll back
        </button>
      )}
      <button
        type="button"
        disabled={!isReady(training) || training.window?.isRunning === true}
        onClick={() => send('run', 'A training window was asked for.')}
      >
        Train now
      </button>
    </>
  );
}

const stageWords = ({ version, stage, tasks, sessions }: PolicyStage): string =>
  `version ${version}, ${stage}: compared on ${plural(tasks, 'task')}, ${plural(sessions, 'session')}`;

/** Both attempted the same tasks, which training never saw. */
const comparedWords = ({
  count: attempts,
  candidate,
  live,
}: NonNullable<NonNullable<Training['window']>['pairs']>): string =>
  `new weights did ${percent(candidate)}, the ones that serve ${percent(live)}, on ${plural(attempts, 'attempt')} at tasks of yours`;
const percent = (share: number): string => `${Math.round(100 * share)} %`;

function Weights({ training, onDone }: { readonly training: Training; readonly onDone: () => void }) {
  const { versions, buffer, supply, window } = training;
  const missing = supply?.missing ?? [];
  return (
    <Section title="Weights" actions={<WeightButtons training={training} onDone={onDone} />}>
      <Facts
        rows={[
          ['Serves', <code>{training.policy}</code>],
          ...(training.remembers === undefined ? [] : [['Remembers', training.remembers] as const]),
          ...(window?.pairs === undefined ? [] : [['Old and new', comparedWords(window.pairs)] as const]),
          ...(versions?.onTrial === undefined ? [] : [['On trial', stageWords(versions.onTrial)] as const]),
          ...(versions?.waiting === undefined
            ? []
            : [['Needs your decision', stageWords(versions.waiting)] as const]),
          ...(versions?.previous === undefined ? [] : [['Before', `version ${versions.previous}`] as const]),
          [
            'Buffer',
            <>
              {plural(buffer.query, 'turn')} to train on; {buffer.support} that taught lessons are{' '}
              <a href={linkTo(['sessions'], { outcome: 'bad' })}>never trained on</a>
            </>,
          ],
          ...(supply?.live === undefined
            ? []
            : [
                [
                  'Live traffic',
                  `${supply.live.isOn ? 'trains too' : 'does not train'}: ${plural(supply.live.turns, 'turn')} rated by a verifier, by you, by the check of a rule, or by a judge that agrees with you`,
                ] as const,
              ]),
          [
            'Engine',
            `${training.engine}, ${training.engineState ?? 'unknown'}${training.problem === undefined ? '' : `: ${training.problem}`}`,
          ],
          ...(isReady(training)
            ? []
            : [
                [
                  'Train now',
                  'not yet: there is too little to train on, or nothing to measure it with',
                ] as const,
              ]),
          ...(window === undefined
            ? []
            : [
                [
                  'Window',
                  `${window.isRunning ? 'running' : 'last one'}: ${window.done} of ${plural(window.steps, 'step')}${window.problem === undefined ? '' : `, ${window.problem}`}`,
                ] as const,
              ]),
        ]}
      />
      {missing.length > 0 && (
        <ul class="plain-list missing">
          {missing.map(({ what, fix }) => (
            <li key={what}>
              <Text>{what}</Text>{' '}
              {fix?.startsWith('instar ') ? <Command>{fix}</Command> : <span class="dim">{fix}</span>}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

type Measure = 'loss' | 'reward' | 'kl' | 'ratio' | 'entropy' | 'gradNorm';

/** What an engineer of the field looks at; for others the reward says it. */
const MEASURES: readonly (readonly [key: Measure, title: string, digits: number])[] = [
  ['loss', 'Loss', 3],
  ['kl', 'KL to the weights that sampled', 4],
  ['ratio', 'Importance ratio', 2],
  ['entropy', 'Entropy', 2],
  ['gradNorm', 'Gradient norm', 2],
];

function Steps({ steps }: { readonly steps: readonly TrainingStep[] }) {
  if (steps.length === 0) return null;
  const shown = MEASURES.filter(([key]) => steps.some((step) => step[key] !== undefined));
  const tokens = steps.reduce((sum, step) => sum + (step.tokens ?? 0), 0);
  return (
    <Section title="Reward of the attempts" note={`${plural(steps.length, 'step')}, ${count(tokens)} tokens`}>
      <StepChart steps={steps} measure={['reward', 'Mean reward', 2]} />
      <details>
        <summary>Loss, KL and the other measures</summary>
        <div class="chart-pair">
          {shown.map((measure) => (
            <figure key={measure[0]}>
              <figcaption class="small dim">{measure[1]}</figcaption>
              <StepChart steps={steps} measure={measure} />
            </figure>
          ))}
        </div>
      </details>
      <details>
        <summary>The same as a table</summary>
        <Table
          label="Training steps"
          rows={steps.slice(-50).toReversed()}
          keyOf={({ n }) => n}
          columns={[
            { head: 'Step', is: 'number', cell: ({ n }) => n },
            { head: 'Outcome', is: 'tight', cell: ({ outcome }) => outcome },
            { head: 'Reward', is: 'number', cell: ({ reward }) => signed(reward) },
            { head: 'Loss', is: 'number', cell: ({ loss }) => loss?.toFixed(3) ?? '–' },
            { head: 'KL', is: 'number', cell: ({ kl }) => kl?.toFixed(4) ?? '–' },
            { head: 'Tokens', is: 'number', cell: ({ tokens: used }) => count(used) },
            { head: 'Why', is: 'fill', cell: ({ why }) => <Text>{why ?? ''}</Text> },
          ]}
        />
      </details>
    </Section>
  );
}

interface StepChartProps {
  readonly steps: readonly TrainingStep[];
  readonly measure: readonly [key: Measure, title: string, digits: number];
}

function StepChart({ steps, measure: [name, title, digits] }: StepChartProps) {
  const format = (value: number): string => value.toFixed(Math.min(digits, 2));
  return (
    <Chart
      label={`${title} by step`}
      lines={[{ label: title.toLowerCase(), values: steps.map((step) => step[name] ?? null) }]}
      height={140}
      format={format}
      nameOf={(index) => `step ${steps[index]?.n ?? ''}`}
      say={(index) =>
        `step ${steps[index]?.n ?? ''}: ${steps[index]?.[name]?.toFixed(digits) ?? 'not measured'}`
      }
    />
  );
}

function Moves({ moves }: { readonly moves: NonNullable<Training['moves']> }) {
  return (
    <Section title="Promotions">
      {moves.length === 0 ? (
        <p class="dim">Still using the original weights.</p>
      ) : (
        <Table
          label="How weights moved between stages"
          rows={moves.toReversed()}
          keyOf={({ at, version, to }) => `${at} ${version} ${to}`}
          columns={[
            { head: 'When', is: 'tight', cell: ({ at }) => <Ago at={at} /> },
            { head: 'Version', is: 'number', cell: ({ version }) => version },
            {
              head: 'Moved',
              is: 'tight',
              cell: ({ from, to }) => (
                <>
                  {from !== undefined && `${from} → `}
                  <Tag tone={to === 'live' ? 'good' : 'plain'}>{to}</Tag>
                </>
              ),
            },
            { head: 'By', is: 'tight wide', cell: ({ by }) => by },
            { head: 'Why', is: 'fill', cell: ({ why }) => <Text>{why}</Text> },
          ]}
        />
      )}
    </Section>
  );
}
