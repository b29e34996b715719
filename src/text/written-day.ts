const monthOf = (date: Date): string => new Intl.DateTimeFormat('en', { month: 'long' }).format(date);

/** "8 May 2023", in the time zone of this machine: no language reads another day out of it. */
export const writtenDay = (date: Date): string => `${date.getDate()} ${writtenMonth(date)}`;

/** "May 2023". */
export const writtenMonth = (date: Date): string => `${monthOf(date)} ${date.getFullYear()}`;
