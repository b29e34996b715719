import type { ComponentChildren } from 'preact';
import { plural } from '../../../src/text/phrases.ts';
import { shortId } from '../../../src/text/short-id.ts';
import type { DatedEvent } from '../lib/feed.ts';
import { milliseconds, signed } from '../lib/format.ts';
import { linkTo } from '../lib/route.ts';
import { Text } from './text.tsx';

const Session = ({ id, turn }: { readonly id: string; readonly turn?: string }) => (
  <a href={linkTo(['sessions', id], turn === undefined ? {} : { turn })}>
    <Text>{shortId(id)}</Text>
  </a>
);

/** One event of the feed as a sentence with links to what it is about. */
export function describeEvent(event: DatedEvent): ComponentChildren {
  switch (event.type) {
    case 'turn':
      return (
        <>
          <Text>{event.agent}</Text> got an answer in <Session id={event.session} turn={event.turn} />
          {event.ms !== undefined && `, ${milliseconds(event.ms)}`}
          {event.status !== 'complete' && <span class="warn">, {event.status}</span>}
        </>
      );
    case 'reward':
      return (
        <>
          {event.source} rated {event.session === undefined ? 'a turn' : <Session id={event.session} />}{' '}
          <span class={event.score < 0 ? 'bad num' : 'good num'}>{signed(event.score, 1)}</span>
        </>
      );
    case 'appraised':
      return (
        <>
          A turn of <Session id={event.session} turn={event.turn} /> is a{' '}
          <span
            class={event.verdict === 'failure' ? 'bad' : event.verdict === 'success' ? 'good' : undefined}
          >
            {event.verdict}
          </span>
        </>
      );
    case 'rules':
      return (
        <>
          {ruleWords(event)} in <Session id={event.session} turn={event.turn} />
        </>
      );
    case 'scored':
      return (
        <>
          <Session id={event.session} /> is scored <span class="num">{event.score.toFixed(2)}</span>
        </>
      );
    case 'library':
      return (
        <>
          <a href={linkTo(['generations'])}>Generation {event.generation}</a>: <Text>{event.reason}</Text>
        </>
      );
    case 'learning':
      if (event.on !== undefined) return event.on ? 'Learning is on' : 'Learning is off';
      return (
        <>
          {event.learner} ended: {event.outcome}
          {(event.lessons ?? []).map(({ id, name, outcome }) => (
            <span key={id}>
              {', '}
              <a href={linkTo(['lessons', id])}>
                <Text>{name}</Text>
              </a>{' '}
              {outcome}
            </span>
          ))}
        </>
      );
    case 'practice':
      return (
        <>
          <a href={linkTo(['practice', event.run])}>Practice</a>: <Text>{event.step}</Text>
        </>
      );
    case 'training':
      return (
        <>
          <a href={linkTo(['training'])}>Training</a>: <Text>{event.step}</Text>
        </>
      );
    case 'policy':
      return (
        <>
          <a href={linkTo(['training'])}>Weights {event.version}</a> are {event.to}: <Text>{event.why}</Text>
        </>
      );
    case 'job':
      return `Job ${event.job} ${event.end ?? 'began'}`;
    case 'event':
      return (
        <>
          <a href={linkTo(['adaptation'])}>Event</a> <Text>{event.kind}</Text>
          {event.agent !== undefined && (
            <>
              {' of '}
              <Text>{event.agent}</Text>
            </>
          )}
        </>
      );
    case 'erased':
      return (
        <>
          Session <Text>{shortId(event.session)}</Text> was erased
        </>
      );
  }
}

function ruleWords({ kept, broken, toldAgain }: Extract<DatedEvent, { readonly type: 'rules' }>): string {
  return [
    ...(toldAgain > 0 ? [`${plural(toldAgain, 'rule')} told again`] : []),
    ...(broken > 0 ? [`${plural(broken, 'rule')} broken`] : []),
    ...(kept > 0 ? [`${plural(kept, 'rule')} kept`] : []),
  ].join(', ');
}
