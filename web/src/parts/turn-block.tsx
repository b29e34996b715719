import { useState } from 'preact/hooks';
import { dollars, plural } from '../../../src/text/phrases.ts';
import { sayRules } from '../../../src/text/say-rules.ts';
import { whoOf } from '../../../src/text/who.ts';
import { act } from '../lib/act.ts';
import type { ReplyPart, ThreadMessage, ThreadTurn, TurnReasons } from '../lib/api-shapes.ts';
import { clockTime, count, milliseconds, signed } from '../lib/format.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo } from '../lib/route.ts';
import { Markdown } from './markdown.tsx';
import { Loaded } from './states.tsx';
import { Table } from './table.tsx';
import { LongText, Text } from './text.tsx';
import { Tag, type Tone } from './view.tsx';

interface TurnBlockProps {
  readonly turn: ThreadTurn;
  readonly isWanted: boolean;
  readonly hasSameLessons: boolean;
  readonly onChanged: () => void;
}

/** One turn: what came, what was answered, how it was judged, what it cost, and which lessons it was shown. */
export function TurnBlock({ turn, isWanted, hasSameLessons, onChanged }: TurnBlockProps) {
  return (
    <li
      id={`turn-${turn.id}`}
      class={isWanted ? 'turn is-wanted' : 'turn'}
      tabIndex={-1}
      aria-label={`Turn ${turn.n}`}
    >
      <div class="turn-side">
        <a href={linkTo(['turns', turn.id])} class="num" title="Link to this turn">
          #{turn.n}
        </a>
        <time dateTime={turn.startedAt} class="dim small">
          {clockTime(turn.startedAt)}
        </time>
        {turn.role !== 'main' && (
          <span class="dim small">{turn.role === 'side' ? 'sub-agent' : 'auxiliary'}</span>
        )}
      </div>
      <div class="turn-body">
        {turn.missing !== undefined && <p class="dim">{turn.missing}</p>}
        {(turn.messages ?? []).map((message, index) => (
          <Message key={index} message={message} />
        ))}
        {(turn.reply ?? []).map((part, index) => (
          <Reply key={index} part={part} />
        ))}
        {turn.status !== 'complete' && (
          <p>
            <Tag tone="warn">{turn.status}</Tag> {turn.failure !== undefined && <Text>{turn.failure}</Text>}
          </p>
        )}
        <Judgement turn={turn} />
        <Lessons turn={turn} hasSame={hasSameLessons} />
        <div class="turn-foot">
          <span class="dim small num">
            {turn.policy} ·{' '}
            <a
              href={linkTo(['generations'], { from: Math.max(0, turn.generation - 1), to: turn.generation })}
            >
              generation {turn.generation}
            </a>
            {numbersOf(turn)}
          </span>
          <Rate turn={turn} onChanged={onChanged} />
        </div>
      </div>
    </li>
  );
}

const WHO: Readonly<Record<string, string>> = {
  user: 'Asked',
  assistant: 'Earlier answer',
  system: 'System',
};

function Message({ message: { role, text, isError } }: { readonly message: ThreadMessage }) {
  if (role === 'tool')
    return (
      <div class="message is-tool">
        <span class={isError === true ? 'message-who bad' : 'message-who'}>
          Tool result{isError === true && ', an error'}
        </span>
        <LongText isCode>{text}</LongText>
      </div>
    );
  if (role === 'user')
    return (
      <div class="message is-user">
        <span class="message-who">{WHO.user}</span>
        <LongText>{text}</LongText>
      </div>
    );
  return (
    <details class="message">
      <summary>
        {WHO[role] ?? role}, {plural(text.length, 'character')}
      </summary>
      <LongText>{text}</LongText>
    </details>
  );
}

function Reply({ part }: { readonly part: ReplyPart }) {
  if (part.type === 'tool-call')
    return (
      <div class="message is-call">
        <span class="message-who">
          Called{' '}
          <code>
            <Text>{part.name}</Text>
          </code>
        </span>
        <LongText isCode>{pretty(part.arguments)}</LongText>
      </div>
    );
  if (part.type === 'reasoning')
    return (
      <details class="message">
        <summary>Reasoning, {plural(part.text.length, 'character')}</summary>
        <LongText>{part.text}</LongText>
      </details>
    );
  return (
    <div class="message is-answer">
      <span class="message-who">Answered</span>
      <Markdown>{part.text}</Markdown>
    </div>
  );
}

const ONE_LINE = 100;

function pretty(json: string): string {
  if (json.length <= ONE_LINE) return json;
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

const VERDICTS: Readonly<Record<string, string>> = {
  success: 'went well',
  failure: 'went badly',
  infrastructure: 'broken by the connection or the provider',
  ambiguous: 'undecided',
};
const TONES: Readonly<Record<string, Tone>> = { success: 'good', failure: 'bad' };

function Judgement({
  turn: { verdict, reward, judgedBy, reasons = [], rewards, parts = [], rules = [] },
}: {
  readonly turn: ThreadTurn;
}) {
  const kept = sayRules(rules);
  if (verdict === undefined && rewards.length === 0 && kept === undefined) return null;
  return (
    <div class="judgement">
      {verdict !== undefined && (
        <p>
          <Tag tone={TONES[verdict] ?? 'plain'}>{VERDICTS[verdict] ?? verdict}</Tag>{' '}
          {reward !== undefined && <span class="num">{signed(reward)} </span>}
          <span class="dim">
            {judgedBy !== undefined && `according to ${whoOf(judgedBy)}`}
            {reasons.length > 0 && (
              <>
                {': '}
                <Text>{reasons.join('; ')}</Text>
              </>
            )}
          </span>
        </p>
      )}
      {(parts.length > 1 || kept !== undefined) && (
        <p class="dim small">
          {[
            ...parts.map(
              ({ source, score }) =>
                `${source} ${signed(score)}${source === judgedBy ? '' : ' (not counted)'}`,
            ),
            ...(kept === undefined ? [] : [kept]),
          ].join(', ')}
        </p>
      )}
      {rewards.map(({ source, score, note, at }) => (
        <p key={`${source} ${at ?? ''} ${score}`}>
          <span class={score < 0 ? 'bad num' : 'good num'}>{signed(score, 1)}</span> by {whoOf(source)}
          {note !== undefined && (
            <>
              {': '}
              <Text>{note}</Text>
            </>
          )}
        </p>
      ))}
    </div>
  );
}

function Lessons({ turn, hasSame }: { readonly turn: ThreadTurn; readonly hasSame: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { lessons } = turn;
  if (lessons.length === 0 && turn.role === 'aux') return null;
  return (
    <div class="turn-lessons small">
      <span class="dim">
        {lessons.length === 0
          ? 'No lesson was shown.'
          : hasSame
            ? `The same ${plural(lessons.length, 'lesson')} as before.`
            : 'Shown:'}
      </span>
      {!hasSame &&
        lessons.map(({ id, title }) => (
          <a key={id} href={linkTo(['lessons', id])}>
            <Text>{title || id}</Text>
          </a>
        ))}
      <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Why
      </button>
      {isOpen && <Why turn={turn.id} />}
    </div>
  );
}

function Why({ turn }: { readonly turn: string }) {
  const reasons = useResource<TurnReasons>(`/api/turns/${encodeURIComponent(turn)}/why`);
  return (
    <div class="why">
      <Loaded of={reasons}>
        {({ note, lessons, ranking, choices, route }) => (
          <>
            {note !== undefined && <p>{note}</p>}
            {route !== undefined && (
              <p>
                The router chose {route.tier}
                {route.target !== undefined && ` (${route.target})`}: {route.reason}
              </p>
            )}
            {ranking.length + lessons.length > 0 && (
              <Table
                label="What stands in the prompt, the best fitting first, and what does not"
                rows={rankRows({ ranking, lessons })}
                keyOf={({ id, title, because }) => id ?? `${title} ${because}`}
                columns={[
                  {
                    head: 'Lesson',
                    cell: ({ id, title, session }) => (
                      <a
                        href={
                          id === undefined ? linkTo(['sessions', session ?? '']) : linkTo(['lessons', id])
                        }
                      >
                        <Text>{title}</Text>
                      </a>
                    ),
                  },
                  {
                    head: 'Action',
                    is: 'tight bare',
                    cell: ({ verdict }) => <Tag tone={verdict === 'shown' ? 'good' : 'plain'}>{verdict}</Tag>,
                  },
                  { head: 'Because', is: 'fill', cell: ({ because }) => <Text>{because}</Text> },
                ]}
              />
            )}
            {choices.map(({ text }) =>
              text === undefined ? null : (
                <details key={text}>
                  <summary>The text that was added to the prompt</summary>
                  <LongText isCode>{text}</LongText>
                </details>
              ),
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}

/** What stands in the prompt, the best fitting first; then what does not. */
const rankRows = ({ ranking, lessons }: Pick<TurnReasons, 'ranking' | 'lessons'>): TurnReasons['ranking'] => [
  ...ranking,
  ...lessons.filter((one) => !ranking.some(({ id }) => id === one.id)),
];

function numbersOf({ usage, usd, firstByteMs, totalMs }: ThreadTurn): string {
  const cached = usage?.cacheReadTokens ?? 0;
  return [
    '',
    ...(usage === undefined
      ? []
      : [
          `${count(usage.inputTokens)} in${cached > 0 ? ` (${count(cached)} cached)` : ''}`,
          `${count(usage.outputTokens)} out`,
        ]),
    ...(usd === undefined ? [] : [dollars(usd)]),
    ...(firstByteMs === undefined ? [] : [`first byte ${milliseconds(firstByteMs)}`]),
    ...(totalMs === undefined ? [] : [milliseconds(totalMs)]),
  ].join(' · ');
}

function Rate({ turn, onChanged }: { readonly turn: ThreadTurn; readonly onChanged: () => void }) {
  const [score, setScore] = useState<number>();
  const [note, setNote] = useState('');
  if (turn.role === 'aux') return null;
  const send = async (): Promise<void> => {
    const body = { score, ...(note.trim() === '' ? {} : { note: note.trim() }) };
    const done = `Rated turn ${turn.n} ${score === 1 ? 'good' : 'bad'}.`;
    const given = await act(`/api/page/turns/${encodeURIComponent(turn.id)}/rate`, { body, done });
    if (given === undefined) return;
    setScore(undefined);
    setNote('');
    onChanged();
  };
  return (
    <form
      class="rate"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <button
        type="button"
        class="small-button"
        aria-pressed={score === 1}
        onClick={() => setScore(score === 1 ? undefined : 1)}
      >
        Good
      </button>
      <button
        type="button"
        class="small-button"
        aria-pressed={score === -1}
        onClick={() => setScore(score === -1 ? undefined : -1)}
      >
        Bad
      </button>
      {score !== undefined && (
        <>
          <input
            aria-label="What should be different (optional)"
            placeholder="What should be different?"
            value={note}
            maxLength={2000}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
          <button type="submit" class="primary">
            Rate
          </button>
        </>
      )}
    </form>
  );
}
