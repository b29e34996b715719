import { useEffect, useRef, useState } from 'preact/hooks';
import type { Lesson } from '../lib/api-shapes.ts';
import { type Changed, changeLesson, type LessonAct } from '../lib/change-lesson.ts';
import { useKeys } from '../lib/keys.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo } from '../lib/route.ts';
import { Diff } from './diff.tsx';
import { LessonEditor } from './lesson-editor.tsx';
import { AboutLesson, LessonEvidence, MeasuredEffect, RuleAdherence } from './lesson-facts.tsx';
import { LessonHistory } from './lesson-history.tsx';
import { Markdown } from './markdown.tsx';
import { StateTag } from './state-tag.tsx';
import { Loaded } from './states.tsx';
import { LongText, Text } from './text.tsx';
import { Ago } from './time.tsx';
import { Section, Tag } from './view.tsx';

interface LessonPaneProps {
  readonly id: string;
  /** In the queue: the buttons stand first, and what follows a decision is the next lesson. */
  readonly isQueue?: boolean;
  readonly onDecided?: () => void;
}

/** A lesson in full, and what may be decided about it. */
export function LessonPane({ id, isQueue, onDecided }: LessonPaneProps) {
  const resource = useResource<Lesson>(`/api/page/lessons/${encodeURIComponent(id)}`, {
    on: ['library', 'rules', 'scored'],
  });
  // What is decided is what is shown: a newer text from the feed is shown only when the person asks for it.
  const [shown, setShown] = useState<Lesson>();
  const newest = resource.value;
  const superseded = useRef(new Set<string>());
  const showNext = (next: Lesson): void => {
    if (shown !== undefined && shown.hash !== next.hash) superseded.current.add(shown.hash);
    superseded.current.delete(next.hash);
    setShown(next);
  };
  useEffect(() => {
    if (newest !== undefined)
      setShown((old) => (old === undefined || old.hash === newest.hash ? newest : old));
  }, [newest]);
  return (
    <Loaded
      of={{ ...resource, value: shown ?? resource.value }}
      title={isQueue === true ? undefined : 'Lesson'}
    >
      {(lesson) => (
        <article class="lesson-page fade">
          <Whole
            lesson={lesson}
            newer={
              newest !== undefined && newest.hash !== lesson.hash && !superseded.current.has(newest.hash)
                ? newest
                : undefined
            }
            isQueue={isQueue === true}
            onShow={showNext}
            onDecided={() => {
              resource.reload();
              onDecided?.();
            }}
          />
        </article>
      )}
    </Loaded>
  );
}

interface WholeProps {
  readonly lesson: Lesson;
  readonly newer: Lesson | undefined;
  readonly isQueue: boolean;
  readonly onShow: (lesson: Lesson) => void;
  readonly onDecided: () => void;
}

function Whole({ lesson, newer, isQueue, onShow, onDecided }: WholeProps) {
  const [isEditing, setEditing] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [conflict, setConflict] = useState<Lesson>();
  const settle = (changed: Changed): void => {
    setBusy(false);
    if (changed.is === 'conflict') setConflict(changed.current ?? newer);
    if (changed.is !== 'done') return;
    setEditing(false);
    setConflict(undefined);
    if (changed.lesson !== undefined) onShow(changed.lesson);
    onDecided();
  };
  const decide = async (act: LessonAct): Promise<void> => {
    if (isBusy || newer !== undefined) return;
    setBusy(true);
    settle(await changeLesson(lesson, act));
  };
  const canApprove = lesson.state === 'proposed';
  useKeys({
    a: () => void (canApprove && !isEditing && decide('approve')),
    r: () => void (canApprove && !isEditing && decide('reject')),
  });
  const current = newer ?? conflict;
  return (
    <>
      <Head lesson={lesson} isQueue={isQueue} />
      {current !== undefined && current.hash !== lesson.hash && (
        <ChangedSince
          before={lesson}
          after={current}
          onShow={() => {
            setConflict(undefined);
            onShow(current);
          }}
        />
      )}
      <Actions
        lesson={lesson}
        isBusy={isBusy || newer !== undefined}
        onAct={decide}
        onEdit={() => setEditing(!isEditing)}
      />
      {isEditing ? (
        <LessonEditor
          lesson={lesson}
          onCancel={() => setEditing(false)}
          onSave={async (text) => {
            setBusy(true);
            settle(await changeLesson(lesson, 'edit', { text }));
          }}
        />
      ) : (
        <LessonWords lesson={lesson} />
      )}
      <LessonEvidence lesson={lesson} />
      <RuleAdherence lesson={lesson} />
      <MeasuredEffect lesson={lesson} />
      <AboutLesson lesson={lesson} />
      <LessonHistory lesson={lesson} />
    </>
  );
}

const Head = ({ lesson, isQueue }: Pick<WholeProps, 'lesson' | 'isQueue'>) => (
  <div class="lesson-head">
    <Heading title={lesson.title} isQueue={isQueue} />
    <StateTag state={lesson.state} />
    <span class="dim small">
      {lesson.kind}, revision {lesson.revision}
    </span>
    {lesson.pinned === true && <Tag>pinned</Tag>}
    {lesson.frozen === true && <Tag>frozen</Tag>}
    {(lesson.taint ?? []).map((source) => (
      <Tag key={source} tone="warn">
        words of a {source}
      </Tag>
    ))}
    {isQueue && (
      <a class="small" href={linkTo(['lessons', lesson.id])}>
        Open
      </a>
    )}
  </div>
);

/** The page of one lesson is named after it; in the queue it is a part of the page. */
function Heading({ title, isQueue }: { readonly title: string; readonly isQueue: boolean }) {
  useEffect(() => {
    if (!isQueue) document.title = `${title} – Instar`;
  }, [title, isQueue]);
  return isQueue ? (
    <h2 class="lesson-title">
      <Text>{title}</Text>
    </h2>
  ) : (
    <h1 id="view-title" tabIndex={-1}>
      <Text>{title}</Text>
    </h1>
  );
}

interface ActionsProps {
  readonly lesson: Lesson;
  readonly isBusy: boolean;
  readonly onAct: (act: LessonAct) => void;
  readonly onEdit: () => void;
}

function Actions({ lesson: { state, pinned, frozen }, isBusy, onAct, onEdit }: ActionsProps) {
  const button = (act: LessonAct, words: string, kind?: string, key?: string) => (
    <button
      type="button"
      class={kind}
      disabled={isBusy}
      data-key={key}
      aria-keyshortcuts={key}
      onClick={() => onAct(act)}
    >
      {words}
    </button>
  );
  const isInUse = state === 'trial' || state === 'live';
  return (
    <div class="actions lesson-actions">
      {state === 'proposed' && button('approve', 'Keep', 'primary', 'a')}
      {state === 'proposed' && button('reject', 'Drop', undefined, 'r')}
      {state === 'trial' && button('live', 'Keep', 'primary')}
      {isInUse && button('retire', 'Drop', 'danger')}
      {!isInUse && state !== 'proposed' && button('restore', 'Bring back')}
      {isInUse && (pinned === true ? button('unpin', 'Unpin') : button('pin', 'Pin'))}
      {isInUse && (frozen === true ? button('unfreeze', 'Unfreeze') : button('freeze', 'Freeze'))}
      {(isInUse || state === 'proposed') && (
        <button type="button" disabled={isBusy} onClick={onEdit}>
          Edit
        </button>
      )}
    </div>
  );
}

function ChangedSince({
  before,
  after,
  onShow,
}: {
  readonly before: Lesson;
  readonly after: Lesson;
  readonly onShow: () => void;
}) {
  return (
    <div class="changed-since" role="alert">
      <p>
        <strong>It changed while you read it.</strong> Nothing you decide applies to a text that you did not
        see. This is what changed:
      </p>
      <Diff before={wordsOf(before)} after={wordsOf(after)} />
      <button type="button" class="primary" onClick={onShow}>
        Go on with the new text
      </button>
    </div>
  );
}

const wordsOf = ({ name, description, content, state }: Lesson): string =>
  `name: ${name}\nstate: ${state}\nwhen: ${description}\n\n${content}`;

function LessonWords({ lesson }: { readonly lesson: Lesson }) {
  return (
    <>
      <p class="lesson-when">
        <Text>{lesson.description}</Text>
      </p>
      <div class="lesson-content">
        <Markdown>{lesson.content}</Markdown>
      </div>
      {lesson.overlay !== undefined && (
        <Section title="What the system reads">
          <LongText isCode>{JSON.stringify(lesson.overlay.payload ?? lesson.overlay, null, 2)}</LongText>
        </Section>
      )}
      {lesson.why !== undefined && (
        <p class="dim">
          <Text>{lesson.why.because}</Text>
          {lesson.why.since !== undefined && (
            <>
              {' ('}
              <Ago at={lesson.why.since} />)
            </>
          )}
        </p>
      )}
    </>
  );
}
