/** Where tasks of a day do their work; each uses folders of its own, so that what one left cannot be taken for another's. */
const FOLDERS: readonly string[] =
  `drafts notes desk shelf inbox outbox papers records studio office workshop archive ledger binder bureau corner
  cabinet library gallery pantry cellar attic garden harbor`
    .split(/\s+/)
    .filter(Boolean);

/** The n-th folder; when all words are used they come again with a number. */
export function folderAt(index: number): string {
  const word = FOLDERS[index % FOLDERS.length] ?? '';
  const round = Math.floor(index / FOLDERS.length);
  return round === 0 ? word : `${word}${round + 1}`;
}

export const FOLDER_WORDS = FOLDERS;
