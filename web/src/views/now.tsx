import { duration, plural } from '../../../src/text/phrases.ts';
import type { Facets, LessonPage, Schedule, Status, Today, Waiting } from '../lib/api-shapes.ts';
import type { DatedEvent } from '../lib/feed.ts';
import { useRecentEvents } from '../lib/feed.ts';
import { clockTime, toMs } from '../lib/format.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo } from '../lib/route.ts';
import { scheduleWords } from '../lib/schedule-words.ts';
import { Command } from '../parts/command.tsx';
import { describeEvent } from '../parts/event-line.tsx';
import { Loop } from '../parts/loop.tsx';
import { StateTag } from '../parts/state-tag.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Text } from '../parts/text.tsx';
import { Ago, useNow, When } from '../parts/time.tsx';
import { Facts, Section, View } from '../parts/view.tsx';

/** Is it healthy, what is it doing and why, what waits for me. */
export function NowView() {
  const status = useResource<Status>('/api/status', {
    on: ['turn', 'rules', 'library', 'learning', 'waiting', 'hello'],
  });
  const today = useResource<Today>('/api/today', {
    on: ['turn', 'reward', 'appraised', 'rules', 'scored', 'library', 'hello', 'erased'],
  });
  const schedule = useResource<Schedule>('/api/schedule', { on: ['job', 'practice', 'training', 'hello'] });
  const proposed = useResource<LessonPage>('/api/page/lessons', {
    query: { state: 'proposed', limit: 5 },
    on: ['library', 'hello'],
  });
  const facets = useResource<Facets>('/api/page/facets', { on: ['turn', 'hello', 'erased'] });
  return (
    <View title="Now">
      <Loaded of={status}>
        {(value) => (
          <>
            <Health status={value} />
            {facets.value?.agents.length === 0 && <FirstSteps />}
            <Loaded of={today}>{(day) => <Loop today={day} status={value} />}</Loaded>
          </>
        )}
      </Loaded>
      <div class="columns">
        <div>
          <Loaded of={proposed}>
            {(page) => <WaitsForYou page={page} waiting={status.value?.waiting ?? []} />}
          </Loaded>
          <Loaded of={today}>{(day) => <LearnedToday day={day} />}</Loaded>
        </div>
        <div>
          <Loaded of={schedule}>{(value) => <Doing schedule={value} status={status.value} />}</Loaded>
          <Feed />
        </div>
      </div>
    </View>
  );
}

/** Until the first request: nothing else on this page can be of use. */
const FirstSteps = () => (
  <Empty title="No agent has asked anything yet." command="instar connect claude-code --write">
    <p>
      Connect the agent that you use, here Claude Code; the others are in{' '}
      <a href={linkTo(['setup'])}>Set-up</a>. Then work as before, and say what was wrong when something was:
      the next answer knows.
    </p>
  </Empty>
);

function faultsOf({ recording, library, learning, copies }: Status): readonly string[] {
  return [
    recording.degraded === undefined ? [] : [`Recording is degraded: ${recording.degraded}`],
    recording.missing === undefined ? [] : [`The record began anew: ${recording.missing}`],
    library.problem === undefined ? [] : [`The library cannot be read: ${library.problem}`],
    learning.problem === undefined || learning.problem === 'starting'
      ? []
      : [`Learning has a problem: ${learning.problem}`],
    copies?.problem === undefined ? [] : [`No new copy could be made: ${copies.problem}`],
  ].flat();
}

function Health({ status }: { readonly status: Status }) {
  const now = useNow();
  const faults = faultsOf(status);
  const { requests, recording, providers, learning, startedAt, version } = status;
  const serves = providers.map(({ name }) => name).join(', ') || 'instar/nano, a laboratory model';
  return (
    <>
      <p class={faults.length === 0 ? 'health is-good' : 'health is-bad'}>
        <strong>{faults.length === 0 ? 'Healthy' : plural(faults.length, 'problem')}</strong>
        <span>up {duration(Math.max(0, now - toMs(startedAt)))}</span>
        <span>
          <a href={linkTo(['sessions'], { from: toMs(startedAt) })}>{plural(requests.served, 'request')}</a>{' '}
          served, {requests.inFlight} in flight
          {requests.failed > 0 && (
            <>
              , <span class="bad">{requests.failed} failed</span>
            </>
          )}
        </span>
        {(recording.lost ?? 0) > 0 && (
          <span class="bad">{plural(recording.lost ?? 0, 'turn')} could not be recorded</span>
        )}
        <span>
          serves <a href={linkTo(['setup'])}>{serves}</a>
        </span>
        <span>
          learning{' '}
          <a href={linkTo(['setup'])}>
            {learning.on === false ? 'off' : learning.problem === 'starting' ? 'starting' : 'on'}
          </a>
        </span>
        <span class="dim">version {version}</span>
      </p>
      {status.library.adherence !== undefined && (
        <p>
          <a href={linkTo(['lessons'])}>
            <Text>{status.library.adherence.words}</Text>
          </a>
        </p>
      )}
      {faults.map((fault) => (
        <p key={fault} class="bad fault-line">
          <Text>{fault}</Text>
        </p>
      ))}
      {faults.length > 0 && (
        <p class="fault-fix">
          <Command>instar doctor</Command>
        </p>
      )}
    </>
  );
}

function WaitsForYou({ page, waiting }: { readonly page: LessonPage; readonly waiting: readonly Waiting[] }) {
  const count = page.counts.states.proposed ?? 0;
  const others = waiting.filter(({ code, fix }) => code !== 'needs-approval' && fix !== undefined);
  return (
    <Section
      title="Waits for you"
      actions={
        count > 0 && <a href={linkTo(['lessons'], { state: 'proposed' })}>Review {plural(count, 'lesson')}</a>
      }
    >
      {count === 0 && (
        <p class="dim">
          No lesson waits for your decision. When one does, it is listed here and in{' '}
          <a href={linkTo(['lessons'], { state: 'proposed' })}>Lessons</a>.
        </p>
      )}
      <ul class="plain-list">
        {page.lessons.map((lesson) => (
          <li key={lesson.id}>
            <a href={linkTo(['lessons'], { state: 'proposed', lesson: lesson.id })}>
              <Text>{lesson.name}</Text>
            </a>
            <p class="clamp dim">
              <Text>{lesson.description}</Text>
            </p>
          </li>
        ))}
        {others.map((item) => (
          <WaitingItem key={`${item.code} ${item.what}`} item={item} />
        ))}
      </ul>
    </Section>
  );
}

function WaitingItem({ item: { what, why, nextAt, fix } }: { readonly item: Waiting }) {
  const now = useNow();
  return (
    <li>
      <p>
        <Text>{`${what} ${why}`}</Text>
        {nextAt !== undefined && (
          <span class="dim"> ({toMs(nextAt) <= now ? 'due now' : <Ago at={nextAt} />})</span>
        )}
      </p>
      {fix !== undefined && /^instar [^,;]*$/.test(fix) ? (
        <Command>{fix}</Command>
      ) : (
        fix !== undefined && <p class="dim small">{fix}</p>
      )}
    </li>
  );
}

function LearnedToday({ day }: { readonly day: Today }) {
  return (
    <Section
      title="Learned today"
      note={day.learned.length === 0 ? undefined : plural(day.learned.length, 'lesson')}
      actions={<a href={linkTo(['generations'])}>Generation {day.generation}</a>}
    >
      {day.learned.length === 0 ? (
        <Empty title="Nothing yet.">
          Instar learns when a person corrects an agent, rates an answer, or a task fails in a way that can be
          checked. Say it in the chat ("instar: bad, use tabs"), or rate a turn in{' '}
          <a href={linkTo(['sessions'])}>Sessions</a>.
        </Empty>
      ) : (
        <ul class="plain-list">
          {day.learned.map(({ id, name, description, state, at, shownIn, quote }) => (
            <li key={id}>
              <div class="line">
                <a href={linkTo(['lessons', id])}>
                  <Text>{name}</Text>
                </a>
                <StateTag state={state} />
                <span class="dim small">
                  <Ago at={at} />
                  {shownIn !== undefined && shownIn > 0 && (
                    <>
                      , <a href={linkTo(['sessions'], { lesson: id })}>shown in {plural(shownIn, 'turn')}</a>{' '}
                      since
                    </>
                  )}
                </span>
              </div>
              {quote === undefined ? (
                <p class="dim clamp">
                  <Text>{description}</Text>
                </p>
              ) : (
                <blockquote class="quote">
                  <a class="quiet-link" href={linkTo(['turns', quote.turn])}>
                    <Text>{quote.text}</Text>
                  </a>
                </blockquote>
              )}
            </li>
          ))}
        </ul>
      )}
      {day.changed.length > 0 && (
        <ul class="plain-list">
          {day.changed.map(({ id, name, what, at }) => (
            <li key={`${name} ${at}`} class="line">
              <a href={linkTo(['lessons', id ?? name])}>
                <Text>{name}</Text>
              </a>
              <span>
                <Text>{what}</Text>
              </span>
              <span class="dim small">
                <Ago at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Doing({ schedule, status }: { readonly schedule: Schedule; readonly status: Status | undefined }) {
  const { state, reasons, job, next, budget } = schedule;
  const cost = status?.learning.cost?.learning;
  const byItself = (status?.waiting ?? []).filter(
    ({ code, fix }) => code !== 'needs-approval' && fix === undefined,
  );
  return (
    <Section title="What it is doing, and why" actions={<a href={linkTo(['training'])}>Next 24 hours</a>}>
      <Facts
        rows={[
          ['Now', scheduleWords(state, reasons)],
          ...(job === undefined ? [] : [['Job', job] as const]),
          [
            'Next window',
            next?.from === undefined ? (
              (next?.why ?? 'none is planned')
            ) : (
              <>
                <When at={next.from} />, {next.why}
              </>
            ),
          ],
          ...(budget === undefined
            ? []
            : [
                [
                  'Spent today',
                  `${budget.spent.minutes} of ${budget.limits.minutes} min, $${budget.spent.usd.toFixed(2)} of $${budget.limits.usd.toFixed(2)}`,
                ] as const,
              ]),
          ...(cost === undefined
            ? []
            : [
                [
                  'Learning',
                  `asked a model ${plural(cost.callsToday, 'time')} today, ${plural(cost.tokensToday, 'token')}`,
                ] as const,
              ]),
          ...(status?.learning.writer === undefined
            ? []
            : [
                ['Lessons are written', status.learning.writer.replace(/^Lessons are written /, '')] as const,
              ]),
        ]}
      />
      {byItself.length > 0 && (
        <ul class="plain-list small by-itself">
          {byItself.map((item) => (
            <WaitingItem key={`${item.code} ${item.what}`} item={item} />
          ))}
        </ul>
      )}
    </Section>
  );
}

const SHOWN_EVENTS = 14;

function Feed() {
  const events = useRecentEvents();
  return (
    <Section title="Since you opened this page" note={events.length === 0 ? undefined : 'newest first'}>
      {events.length === 0 && (
        <p class="dim">Nothing yet. Requests, rewards and lessons appear here as they happen.</p>
      )}
      <div role="log" aria-live="polite" aria-label="What happens">
        <ul class="feed">
          {events.slice(0, SHOWN_EVENTS).map((event) => (
            <FeedLine key={event.key} event={event} />
          ))}
        </ul>
      </div>
    </Section>
  );
}

const FeedLine = ({ event }: { readonly event: DatedEvent }) => (
  <li class="feed-line fade">
    <time class="dim num" dateTime={event.at}>
      {clockTime(event.at)}
    </time>
    <span>{describeEvent(event)}</span>
  </li>
);
