import type { Author, ChangeResult } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Edit } from './judge-edit.ts';

type PublishEdit = Extract<Edit, { type: 'publish' }>;

const BY: Author = { kind: 'person', name: 'skills folder' };
const SET_SIZE = 200;

export interface PublishParts {
  readonly library: Pick<Library, 'publish'>;
  readonly newId: (prefix: string) => string;
}

/** Publishes edits, many in one set; `onResult` gets the reason of a refusal. Rejects as `Library.publish` does. */
export async function publishEdits(
  edits: readonly PublishEdit[],
  { library, newId }: PublishParts,
  onResult: (edit: PublishEdit, refused: string | undefined) => void,
): Promise<void> {
  for (let start = 0; start < edits.length; start += SET_SIZE) {
    const some = edits.slice(start, start + SET_SIZE);
    const changes = some.flatMap((edit) => edit.changes);
    const reason = 'edited in the skills folder';
    const { results } = await library.publish({ id: newId('set'), by: BY, reason, changes });
    let at = 0;
    for (const edit of some) {
      const own: readonly ChangeResult[] = results.slice(at, at + edit.changes.length);
      at += edit.changes.length;
      onResult(edit, own.flatMap((result) => (result.status === 'refused' ? result.why : []))[0]);
    }
  }
}
