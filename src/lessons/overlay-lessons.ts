import type { Lesson, LessonText } from '../core/lesson.ts';
import { errorKeyOf } from '../text/error-key.ts';

/** The error for which a fix is shown, without its line number. Undefined for lessons that are chosen by the task. */
export function fixedErrorOf({ kind, text: { overlay } }: Pick<Lesson, 'kind' | 'text'>): string | undefined {
  if (kind !== 'fix' || overlay?.payload.type !== 'fix_template') return undefined;
  // A fix whose error could be any is never shown.
  return errorKeyOf(overlay.payload.error) ?? '';
}

/** Lessons that recall chooses by the task. */
export const isRecalled = (lesson: Lesson): boolean => fixedErrorOf(lesson) === undefined;

/** Guidance for a kind of run: it is shown in all of them, whatever the task. */
export const isFragment = ({ kind, text: { overlay } }: Pick<Lesson, 'kind' | 'text'>): boolean =>
  kind === 'fragment' && overlay?.payload.type === 'prompt_fragment';

/** A lesson's content as prompts show it: with the steps of a repair, or the guidance, where the prose has not got them. */
export function contentOf({ content, overlay }: LessonText): string {
  const payload = overlay?.payload;
  const lines =
    payload?.type === 'fix_template'
      ? payload.repair
      : payload?.type === 'prompt_fragment'
        ? payload.guidance
        : NO_LINES;
  const missing = lines.filter((line) => !content.includes(line));
  if (missing.length === 0) return content;
  return [content.trimEnd(), missing.map((line) => `- ${line}`).join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
}

const NO_LINES: readonly string[] = [];
