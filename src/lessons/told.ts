import type { Lesson } from '../core/lesson.ts';

/**
 * Whether a lesson is a person's word: said in the chat or in feedback, written into a file or on the page. It is in force at once where it
 * was said, is never held out, and is ended or reworded by that person only, never by a measurement or a model.
 */
export const isPersonsWord = ({ text }: Pick<Lesson, 'text'>): boolean => text.note.source === 'told';
