import { dollars, plural } from '../../../src/text/phrases.ts';
import type { Lesson, Scope } from '../lib/api-shapes.ts';
import { linkWords, toMs } from '../lib/format.ts';
import { linkTo } from '../lib/route.ts';
import { Text } from './text.tsx';
import { Ago } from './time.tsx';
import { Facts, Section } from './view.tsx';

/** Whose words a lesson rests on, each with its turn. */
export function LessonEvidence({
  lesson: { evidence, origin, writtenBy, cost, sessions = [] },
}: {
  readonly lesson: Lesson;
}) {
  const sessionOf = new Map(sessions.map(({ turn, session }) => [turn, session]));
  const href = (turn: string): string => {
    const session = sessionOf.get(turn);
    return session === undefined ? linkTo(['turns', turn]) : linkTo(['sessions', session], { turn });
  };
  const quoted = new Set(evidence.quotes.map(({ turn }) => turn));
  const others = evidence.turns.filter((turn) => !quoted.has(turn));
  return (
    <Section
      title="Evidence"
      note={`written by ${writtenBy}${cost?.usd === undefined ? '' : ` for ${dollars(cost.usd)}`}`}
    >
      {evidence.quotes.length === 0 && (
        <p>
          <Text>{origin}</Text>
        </p>
      )}
      {evidence.quotes.length === 0 && others.length === 0 && (
        <p class="dim">No turn of the record: it was imported or written by hand.</p>
      )}
      {evidence.quotes.map(({ turn, text, by, at }) => (
        <blockquote key={`${turn} ${text}`} class="quote">
          <p>
            <Text>{text}</Text>
          </p>
          <p class="dim small">
            {by ?? 'recorded'}
            {at !== undefined && (
              <>
                , <Ago at={at} />
              </>
            )}
            , <a href={href(turn)}>the turn</a>
          </p>
        </blockquote>
      ))}
      {others.length > 0 && (
        <p class="small">
          <span class="dim">
            {quoted.size === 0 ? 'It rests on ' : 'It also rests on '}
            {plural(others.length, 'turn')}:{' '}
          </span>
          {others.slice(0, 12).map((turn, index) => (
            <span key={turn}>
              {index > 0 && ', '}
              <a href={href(turn)}>{index + 1}</a>
            </span>
          ))}
        </p>
      )}
    </Section>
  );
}

/** In how many conversations agents kept to it, and where they did not. */
export function RuleAdherence({
  lesson: { adherence, brokenIn = [], cannotCheck },
}: {
  readonly lesson: Lesson;
}) {
  return (
    <Section title="Kept">
      <p class={adherence.shown === 0 ? 'dim' : ''}>
        <Text>{adherence.words}</Text>
      </p>
      {cannotCheck !== undefined && <p class="small">Not checked: {cannotCheck}</p>}
      {brokenIn.length > 0 && (
        <p class="small">
          <span class="dim">Broken last </span>
          {brokenIn.map(({ session, turn, at }, index) => (
            <span key={turn}>
              {index > 0 && ', '}
              <a href={linkTo(['sessions', session], { turn })}>
                <Ago at={at} />
              </a>
            </span>
          ))}
        </p>
      )}
    </Section>
  );
}

export function MeasuredEffect({
  lesson: { id, state, effect, revisions = [] },
}: {
  readonly lesson: Lesson;
}) {
  if (effect === undefined) return null;
  // A new text is measured anew.
  const revised = toMs(revisions.at(-1)?.at);
  const since = Number.isFinite(revised) ? revised : undefined;
  const side = (arm: 'with' | 'without') =>
    effect[arm] === 0 ? (
      'no session yet'
    ) : (
      <a href={linkTo(['sessions'], { lesson: id, arm, since })}>{plural(effect[arm], 'session')}</a>
    );
  return (
    <Section
      title="Measured effect"
      note={
        state !== 'proposed' &&
        state !== 'rejected' && <a href={linkTo(['sessions'], { lesson: id })}>sessions that were shown it</a>
      }
    >
      <Facts
        rows={[
          ['In words', <Text>{effect.words}</Text>],
          ['With it', side('with')],
          ['Without it', side('without')],
        ]}
      />
    </Section>
  );
}

/** `agent cody, project shop`, or everything. */
export const scopeWords = (scope: Scope, project?: string): string =>
  Object.entries(scope)
    .map(([name, value]) => `${name} ${name === 'project' ? (project ?? value) : value}`)
    .join(', ') || 'everything';

export function AboutLesson({ lesson }: { readonly lesson: Lesson }) {
  const { note, scope, project, reason, linked = [], createdAt, changedAt } = lesson;
  return (
    <Section title="About it">
      <Facts
        rows={[
          ['Applies to', <Text>{scopeWords(scope, project)}</Text>],
          ...(reason === undefined ? [] : [['Reason', <Text>{reason}</Text>] as const]),
          ...(note?.context === undefined ? [] : [['Learned while', <Text>{note.context}</Text>] as const]),
          ...(linked.length === 0
            ? []
            : [
                [
                  'Links',
                  linked.map(({ type, id, title, state }, index) => (
                    <span key={`${type} ${id}`}>
                      {index > 0 && ', '}
                      {linkWords(type)}{' '}
                      <a href={linkTo(['lessons', id])}>
                        <Text>{title}</Text>
                      </a>
                      {(state === 'retired' || state === 'rejected') && ` (${state})`}
                    </span>
                  )),
                ] as const,
              ]),
          [
            'Learned',
            <>
              <Ago at={createdAt} />, changed <Ago at={changedAt} />
            </>,
          ],
        ]}
      />
    </Section>
  );
}
