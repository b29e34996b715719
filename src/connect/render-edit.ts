import { applyEdit } from './apply-edit.ts';
import type { FileEdit } from './file-edit.ts';

/** What an edit adds, as text for a person who adds it by hand: the file as it would be if there were nothing else. */
export function renderEdit(edit: FileEdit): string {
  const applied = applyEdit('', edit);
  return 'text' in applied ? applied.text : '';
}
