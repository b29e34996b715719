import { useState } from 'preact/hooks';
import type { Lesson, LessonText } from '../lib/api-shapes.ts';

interface LessonEditorProps {
  readonly lesson: Lesson;
  readonly onSave: (text: Partial<LessonText>) => void;
  readonly onCancel: () => void;
}

/** The words of a lesson in fields. Only what was changed is sent. */
export function LessonEditor({ lesson, onSave, onCancel }: LessonEditorProps) {
  const [text, setText] = useState<LessonText>({
    name: lesson.name,
    description: lesson.description,
    content: lesson.content,
  });
  const changed = (Object.keys(text) as (keyof LessonText)[]).filter((key) => text[key] !== lesson[key]);
  const set = (key: keyof LessonText) => (event: { readonly currentTarget: { readonly value: string } }) =>
    setText({ ...text, [key]: event.currentTarget.value });
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(Object.fromEntries(changed.map((key) => [key, text[key]])));
      }}
    >
      <label class="field">
        <span>Name</span>
        <input
          value={text.name}
          onInput={set('name')}
          pattern="[a-z][a-z0-9\-]{1,62}"
          maxLength={63}
          required
        />
      </label>
      <label class="field">
        <span>When to use it, in one sentence</span>
        <textarea rows={2} value={text.description} onInput={set('description')} required />
      </label>
      <label class="field">
        <span>What it says</span>
        <textarea class="mono" rows={12} value={text.content} onInput={set('content')} required />
      </label>
      <div class="actions">
        <button type="submit" class="primary" disabled={changed.length === 0}>
          Save as a new revision
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
