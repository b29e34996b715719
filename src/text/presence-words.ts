/** What tells that somebody is there, in words; other sources are named as they are. */
const PRESENT: Readonly<Record<string, string>> = {
  traffic: 'an agent is working',
  idle: 'you are active',
  calendar: 'you are not in a meeting',
  sleep: 'it is not the time of the quiet hours',
};

/** `an agent is working and you are active`, from the reasons of a state. */
export const sayPresence = (reasons: readonly string[]): string =>
  reasons
    .map((reason) => {
      const [, source = '', is] = /^([\w-]+): (\w+)$/.exec(reason) ?? [];
      return is === 'present' ? (PRESENT[source] ?? `somebody is here (${source})`) : reason;
    })
    .join(' and ');
