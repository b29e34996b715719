import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { act } from '../lib/act.ts';
import type { Home, Lesson } from '../lib/api-shapes.ts';
import { changeLesson, type LessonAct } from '../lib/change-lesson.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo } from '../lib/route.ts';
import { LessonEditor } from './lesson-editor.tsx';
import { Markdown } from './markdown.tsx';
import { Loaded } from './states.tsx';
import { Text } from './text.tsx';
import { Ago } from './time.tsx';

/** A lesson that needs a decision, with the words that it is decided about. */
export function DecideCard({ id, onDecided }: { readonly id: string; readonly onDecided: () => void }) {
  const lesson = useResource<Lesson>(`/api/page/lessons/${encodeURIComponent(id)}`, { on: ['library'] });
  return (
    <li class="card">
      <Loaded of={lesson}>
        {(value) => (
          <Decision
            key={value.hash}
            lesson={value}
            onDone={() => {
              lesson.reload();
              onDecided();
            }}
          />
        )}
      </Loaded>
    </li>
  );
}

function Decision({ lesson, onDone }: { readonly lesson: Lesson; readonly onDone: () => void }) {
  const [isEditing, setEditing] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const send = async (what: LessonAct, text?: object): Promise<void> => {
    setBusy(true);
    await changeLesson(lesson, what, text === undefined ? {} : { text });
    setBusy(false);
    onDone();
  };
  const isTrial = lesson.state === 'trial';
  return (
    <>
      <p class="card-title">
        <a href={linkTo(['lessons', lesson.id])}>
          <Text>{lesson.title}</Text>
        </a>
      </p>
      {isEditing ? (
        <LessonEditor
          lesson={lesson}
          onSave={(text) => void send('edit', text)}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <>
          <div class="card-words">
            <p class="dim">
              <Text>{lesson.description}</Text>
            </p>
            <Markdown>{lesson.content}</Markdown>
          </div>
          <p class="dim small">
            <Text>{isTrial ? lesson.why.because : lesson.origin}</Text>
          </p>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={isBusy}
              onClick={() => send(isTrial ? 'live' : 'approve')}
            >
              Keep
            </button>
            <button type="button" disabled={isBusy} onClick={() => setEditing(true)}>
              Edit
            </button>
            <button type="button" disabled={isBusy} onClick={() => send(isTrial ? 'retire' : 'reject')}>
              Drop
            </button>
          </div>
        </>
      )}
    </>
  );
}

type Ask = Home['asks'][number];

/** An answer that was rated bad without a word: what was wrong with it is what could be learned. */
export function AskCard({ ask, onDone }: { readonly ask: Ask; readonly onDone: () => void }) {
  const [note, setNote] = useState('');
  const send = async (): Promise<void> => {
    const body = { score: -1, note: note.trim() };
    const path = `/api/page/turns/${encodeURIComponent(ask.turn)}/rate`;
    if ((await act(path, { body, done: 'Saved. Instar learns from it.' })) !== undefined) onDone();
  };
  return (
    <li class="card">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p class="card-title">
          <a href={linkTo(['sessions', ask.session], { turn: ask.turn })}>
            <Text>{ask.asked ?? ask.answered ?? ask.agent}</Text>
          </a>
        </p>
        <p class="dim small">
          You rated the answer of <Text>{ask.agent}</Text> bad, <Ago at={ask.at} />.
        </p>
        <label class="field">
          <span>What was wrong?</span>
          <textarea
            rows={2}
            maxLength={2000}
            required
            placeholder="Put the unit behind every amount"
            value={note}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="submit" class="primary" disabled={note.trim() === ''}>
            Teach
          </button>
          <button type="button" class="quiet" onClick={onDone}>
            Not now
          </button>
        </div>
      </form>
    </li>
  );
}

/** A block of Home: a question and its answer. */
export const Block = ({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}) => (
  <section class="block" aria-label={title}>
    <div class="block-head">
      <h2>{title}</h2>
      {note}
    </div>
    {children}
  </section>
);
