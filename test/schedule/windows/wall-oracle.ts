/** Asks Intl what the wall shows at a minute, and nothing of ours. */
export function createWallOracle(zone: string): (instant: number) => { day: number; minute: number } {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
  return (instant) => {
    // `Mon 23:05` or `Mon, 23:05`, as the library of the day writes it.
    const text = format.format(instant);
    const colon = text.indexOf(':');
    return {
      day: days.indexOf(text.slice(0, 3)),
      minute: Number(text.slice(colon - 2, colon)) * 60 + Number(text.slice(colon + 1, colon + 3)),
    };
  };
}

/** Days the stretch begins on (0 is Sunday), first minute, minute after the last. */
export type Stretch = readonly [days: readonly number[], start: number, end: number];

/** The definition, word for word: a minute is inside when the wall shows it after a start and before its end. */
export const isShown = (stretches: readonly Stretch[], wall: { day: number; minute: number }): boolean =>
  stretches.some(([days, start, end]) => {
    if (end > start) return days.includes(wall.day) && wall.minute >= start && wall.minute < end;
    const isEvening = days.includes(wall.day) && wall.minute >= start;
    return isEvening || (days.includes((wall.day + 6) % 7) && wall.minute < end);
  });
