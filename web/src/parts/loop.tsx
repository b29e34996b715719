import type { ComponentChildren } from 'preact';
import { plural } from '../../../src/text/phrases.ts';
import type { Status, Today } from '../lib/api-shapes.ts';
import { count, toMs } from '../lib/format.ts';
import { linkTo } from '../lib/route.ts';

interface StepProps {
  readonly name: string;
  readonly href: string;
  readonly value: string;
  readonly unit: string;
  readonly children: ComponentChildren;
}

const Step = ({ name, href, value, unit, children }: StepProps) => (
  <li class="loop-step">
    <span class="loop-name">{name}</span>
    <a class="loop-value num" href={href}>
      {value}
      <span class="loop-unit"> {unit}</span>
    </a>
    <span class="loop-note">{children}</span>
  </li>
);

const many = (n: number, noun: string, nouns = `${noun}s`): string => (n === 1 ? noun : nouns);

/** How work becomes lessons and lessons reach the work, with the counts of today. Each count leads to what it counts. */
export function Loop({ today, status }: { readonly today: Today; readonly status: Status }) {
  const { failures, successes } = today.appraised;
  const states = status.library.lessons ?? {};
  const practised = today.practice?.sessions ?? 0;
  const from = toMs(today.from);
  return (
    <figure class="loop" aria-label="The loop, with the counts of today">
      <ol>
        <Step
          name="Work"
          href={linkTo(['sessions'], { from })}
          value={count(today.turns)}
          unit={many(today.turns, 'turn')}
        >
          in {plural(today.sessions, 'session')} today
        </Step>
        <Step
          name="Evidence"
          href={linkTo(['sessions'], { outcome: 'bad', from })}
          value={count(failures)}
          unit={many(failures, 'failure')}
        >
          <a href={linkTo(['sessions'], { outcome: 'good', from })}>
            {plural(successes, 'success', 'successes')}
          </a>
          , <a href={linkTo(['sessions'], { outcome: 'rated', from })}>{plural(today.feedback, 'rating')}</a>
        </Step>
        <Step
          name="Lessons"
          href={linkTo(['lessons'], { state: 'proposed' })}
          value={count(today.learned.length)}
          unit="new"
        >
          {states.proposed ?? 0} waiting,{' '}
          <a href={linkTo(['lessons'], { state: 'live' })}>{states.live ?? 0} live</a>,{' '}
          <a href={linkTo(['lessons'], { state: 'trial' })}>{states.trial ?? 0} on trial</a>
        </Step>
        <Step
          name="Shown"
          href={linkTo(['lessons'], { state: 'live' })}
          value={count(today.shown.lessons)}
          unit={many(today.shown.lessons, 'lesson')}
        >
          in {plural(today.shown.turns, 'turn')} today
        </Step>
      </ol>
      <figcaption class="loop-return">
        <span>
          the next request begins with what was learned;{' '}
          <a href={linkTo(['practice'])}>
            {practised === 0 ? 'practice' : plural(practised, 'practice session')}
          </a>{' '}
          and <a href={linkTo(['training'])}>training</a> run while you are away
        </span>
      </figcaption>
    </figure>
  );
}
