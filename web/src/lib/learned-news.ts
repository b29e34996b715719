import { useEffect } from 'preact/hooks';
import { announce } from '../parts/announcer.tsx';
import type { Lesson } from './api-shapes.ts';
import { CallError, call } from './call.ts';
import { changeLesson } from './change-lesson.ts';
import { onFeed } from './feed.ts';

/** Says what was just learned, with a way back: the line that closes the loop between a correction and its rule. */
export function useLearnedNews(): void {
  useEffect(
    () =>
      onFeed((event) => {
        if (event.type !== 'library' || !event.isLearner) return;
        const added = event.lessons.find((_, index) => event.ops[index] === 'add');
        if (added !== undefined) void sayLearned(added);
      }),
    [],
  );
}

async function sayLearned(id: string): Promise<void> {
  const lesson = await call<Lesson>('GET', `/api/page/lessons/${encodeURIComponent(id)}`).catch(onlyRefused);
  if (lesson === undefined) return;
  if (lesson.state === 'proposed') announce(`Needs your decision: ${lesson.title}`);
  if (lesson.state === 'live' || lesson.state === 'trial')
    announce(`Learned: ${lesson.title}`, 'plain', {
      words: 'Undo',
      run: () => void changeLesson(lesson, 'retire', { reason: 'undone on the page' }),
    });
}

/** It may be gone again already. */
function onlyRefused(error: unknown): undefined {
  if (!(error instanceof CallError)) throw error;
}
