/** An id of ours as the name of a folder or file: ids have colons, which some file systems refuse. */
export const folderOf = (id: string): string => id.replaceAll(':', '_');
