import { useEffect, useRef, useState } from 'preact/hooks';
import { dollars, duration, plural } from '../../../src/text/phrases.ts';
import { whoOf } from '../../../src/text/who.ts';
import { act } from '../lib/act.ts';
import type { Thread } from '../lib/api-shapes.ts';
import { count, percent, signed, toMs } from '../lib/format.ts';
import { useKeys } from '../lib/keys.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, type ViewRoute } from '../lib/route.ts';
import { CopyButton } from '../parts/command.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Empty, Fault, Loaded } from '../parts/states.tsx';
import { Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { TurnBlock } from '../parts/turn-block.tsx';
import { Facts, Tag, View } from '../parts/view.tsx';

const PAGE = 30;

/** One conversation as a thread. */
export function SessionView({ route }: ViewRoute) {
  const id = route.path[1] ?? '';
  const path = `/api/page/sessions/${encodeURIComponent(id)}`;
  const wanted = route.query.turn;
  // A link to a turn opens the part of the conversation that has it, until another part is asked for.
  const [place, setPlace] = useState<{ readonly from: number; readonly of: string | undefined }>();
  const from = place?.of === wanted ? place?.from : undefined;
  const setFrom = (next: number | undefined): void =>
    setPlace(next === undefined ? undefined : { from: next, of: wanted });
  const [withAux, setAux] = useState(false);
  const thread = useResource<Thread>(path, {
    query: {
      from,
      turn: from === undefined ? wanted : undefined,
      limit: PAGE,
      aux: withAux ? 'true' : undefined,
    },
    on: ['turn', 'reward', 'appraised', 'scored', 'erased'],
  });
  return (
    <Loaded of={thread} title="Session">
      {(value) => (
        <View
          title={value.asked ?? `Session of ${value.agent}`}
          above={
            <>
              <a href={linkTo(['sessions'])}>Sessions</a> /{' '}
              <a href={linkTo(['sessions'], { agent: value.agent })}>
                <Text>{value.agent}</Text>
              </a>
            </>
          }
          actions={<SessionActions thread={value} onDone={thread.reload} />}
        >
          <Header thread={value} />
          {wanted !== undefined && from === undefined && value.at === undefined && value.erased !== true && (
            <Fault message={`The turn ${wanted} is not in this session. These are its last turns.`} />
          )}
          {value.erased === true ? (
            <Empty title="This session is erased.">
              Its words, and what was learned from them alone, are gone for good. Only the fact that it took
              place stays.
            </Empty>
          ) : (
            <>
              <div class="thread-more">
                {value.earlier !== undefined && (
                  <button type="button" onClick={() => setFrom(value.earlier)}>
                    Earlier turns
                  </button>
                )}
                {value.hidden !== undefined && value.hidden > 0 && (
                  <button type="button" class="quiet" onClick={() => setAux(true)}>
                    Show {plural(value.hidden, 'auxiliary call')}
                  </button>
                )}
              </div>
              <Turns thread={value} wanted={wanted} onChanged={thread.reload} />
              {value.later !== undefined && (
                <div class="thread-more">
                  <button type="button" onClick={() => setFrom(value.later)}>
                    Later turns
                  </button>
                </div>
              )}
            </>
          )}
        </View>
      )}
    </Loaded>
  );
}

function Header({ thread }: { readonly thread: Thread }) {
  const { totals, rewards, score, marked } = thread;
  const input = totals.inputTokens;
  const length = toMs(thread.lastAt) - toMs(thread.startedAt);
  return (
    <Facts
      rows={[
        [
          'When',
          <>
            <Ago at={thread.startedAt} />
            {length >= 1000 && `, ${duration(length)} long`}
          </>,
        ],
        ['Who', <Who key="who" thread={thread} />],
        [
          'Used',
          `${plural(thread.turnCount, 'turn')}, ${count(input)} input tokens (${percent(input === 0 ? undefined : totals.cacheReadTokens / input)} from cache), ${count(totals.outputTokens)} output, ${
            totals.isPriced ? dollars(totals.usd) : 'price unknown'
          }, ${duration(totals.ms)} of answers`,
        ],
        ...(score === undefined
          ? []
          : [['Score', `${score.toFixed(2)}, from 0 to 1: the mean reward of its turns`] as const]),
        ...(rewards.length === 0 ? [] : [['Rated', <Ratings key="ratings" rewards={rewards} />] as const]),
        ...(marked === undefined
          ? []
          : [
              [
                'Practice',
                <>
                  <Tag tone="accent">worth practising</Tag> <Text>{marked}</Text>
                </>,
              ] as const,
            ]),
        [
          'Id',
          <>
            <code>
              <Text>{thread.id}</Text>
            </code>{' '}
            <CopyButton text={thread.id} />
          </>,
        ],
      ]}
    />
  );
}

const Who = ({ thread }: { readonly thread: Thread }) => (
  <>
    <Text>{thread.agent}</Text>
    {thread.project !== undefined && thread.project.label !== '' && (
      <>
        {' in '}
        <Text>{thread.project.label}</Text>
      </>
    )}
    {thread.client !== undefined && thread.client !== thread.agent && (
      <span class="dim">
        {' with '}
        <Text>{thread.client}</Text>
      </span>
    )}
  </>
);

const Ratings = ({ rewards }: Pick<Thread, 'rewards'>) => (
  <>
    {rewards.map(({ source, score: given, note, at }) => (
      <div key={`${source} ${at ?? ''}`}>
        <span class={given < 0 ? 'bad num' : 'good num'}>{signed(given, 1)}</span> by {whoOf(source)}
        {note !== undefined && (
          <>
            {': '}
            <Text>{note}</Text>
          </>
        )}
      </div>
    ))}
  </>
);

function SessionActions({ thread, onDone }: { readonly thread: Thread; readonly onDone: () => void }) {
  const [isErasing, setErasing] = useState(false);
  const path = `/api/page/sessions/${encodeURIComponent(thread.id)}`;
  if (thread.erased === true) return null;
  const mark = async (): Promise<void> => {
    await act(`${path}/mark`, { body: { shown: thread.hash }, done: 'Marked: practice will attempt it.' });
    onDone();
  };
  const erase = async (): Promise<void> => {
    const report = await act<{
      readonly erased: number;
      readonly lessons?: { readonly retired: readonly unknown[] };
    }>(`${path}/erase`, { body: { shown: thread.hash }, done: 'Erased.' });
    if (report !== undefined) onDone();
  };
  return (
    <>
      {thread.marked === undefined && (
        <button type="button" onClick={mark}>
          Mark for practice
        </button>
      )}
      <button type="button" class="danger" onClick={() => setErasing(true)}>
        Erase
      </button>
      {isErasing && (
        <Confirm
          title="Erase this session?"
          act="Erase for good"
          isDangerous
          onAct={erase}
          onClose={() => setErasing(false)}
        >
          <p>
            {plural(thread.turnCount, 'turn')} of <Text>{thread.agent}</Text> are erased from the record and
            its copies. Lessons that rest on this session alone are dropped. This cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface TurnsProps {
  readonly thread: Thread;
  readonly wanted: string | undefined;
  readonly onChanged: () => void;
}

function Turns({ thread, wanted, onChanged }: TurnsProps) {
  const chosen = useRef(-1);
  const { turns } = thread;
  const hasWanted = turns.some(({ id }) => id === wanted);
  // The turn of the address is where reading begins, also with a screen reader.
  useEffect(() => {
    if (wanted === undefined || !hasWanted) return;
    chosen.current = turns.findIndex(({ id }) => id === wanted);
    const element = document.getElementById(`turn-${wanted}`);
    element?.scrollIntoView({ block: 'start' });
    element?.focus({ preventScroll: true });
  }, [wanted, hasWanted]);
  const move = (step: number): void => {
    const next = Math.min(turns.length - 1, Math.max(0, chosen.current + step));
    chosen.current = next;
    const element = document.getElementById(`turn-${turns[next]?.id ?? ''}`);
    element?.scrollIntoView({ block: 'nearest' });
    element?.focus({ preventScroll: true });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  if (turns.length === 0) return <Empty title="This session has no turns yet." />;
  let shown = '';
  return (
    <ol class="thread" aria-label="Turns">
      {turns.map((turn) => {
        const lessons = turn.lessons.map(({ id }) => id).join(' ');
        const isSame = lessons === shown;
        shown = lessons;
        return (
          <TurnBlock
            key={turn.id}
            turn={turn}
            isWanted={turn.id === wanted}
            hasSameLessons={isSame}
            onChanged={onChanged}
          />
        );
      })}
    </ol>
  );
}

/** `#/turns/ID`: the turn in its session. */
export function TurnView({ route }: ViewRoute) {
  const id = route.path[1] ?? '';
  const turn = useResource<{ readonly session: string }>(`/api/turns/${encodeURIComponent(id)}`);
  const session = turn.value?.session;
  useEffect(() => {
    if (session !== undefined) location.replace(linkTo(['sessions', session], { turn: id }));
  }, [session, id]);
  return (
    <View title="Turn">
      <Loaded of={turn}>{() => null}</Loaded>
    </View>
  );
}
