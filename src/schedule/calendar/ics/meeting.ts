import type ICAL from 'ical.js';

const NOT_BUSY = new Set(['FREE', 'TENTATIVE', 'WORKINGELSEWHERE']);

/**
 * Whether an event keeps its owner from the keyboard. Not when it is cancelled, transparent or tentative, nor when the
 * owner declined or may come. An invitation that nobody answered counts, as it does in the calendars' own free/busy.
 * A whole day counts only when someone marked it busy in so many words: most are birthdays, holidays and reminders.
 */
export function isMeeting(event: ICAL.Component, owners: readonly string[], isWholeDay: boolean): boolean {
  const word = (name: string): string => String(event.getFirstPropertyValue(name) ?? '').toUpperCase();
  const status = word('status');
  if (status === 'CANCELLED' || status === 'TENTATIVE') return false;
  const transparency = word('transp');
  const busyStatus = word('x-microsoft-cdo-busystatus');
  if (transparency === 'TRANSPARENT' || NOT_BUSY.has(busyStatus)) return false;
  if (isWholeDay && transparency !== 'OPAQUE' && busyStatus !== 'BUSY' && busyStatus !== 'OOF') return false;
  const answer = answerOf(event, owners);
  return answer !== 'DECLINED' && answer !== 'TENTATIVE' && answer !== 'DELEGATED';
}

function answerOf(event: ICAL.Component, owners: readonly string[]): string {
  for (const attendee of event.getAllProperties('attendee')) {
    const address = String(attendee.getFirstValue())
      .toLowerCase()
      .replace(/^mailto:/, '');
    const email = String(attendee.getFirstParameter('email') ?? '').toLowerCase();
    if (owners.includes(address) || owners.includes(email)) {
      return String(attendee.getFirstParameter('partstat') ?? '').toUpperCase();
    }
  }
  return '';
}
