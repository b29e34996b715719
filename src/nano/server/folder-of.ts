/** An id as a file name: ids have colons, which some file systems do not allow. */
export const folderOf = (id: string): string => id.replaceAll(':', '_');
