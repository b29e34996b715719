/**
 * The zone this machine is in now. The runtime asks the system once and keeps the answer for good; a laptop that was
 * carried over a border would keep the hours of home. Taking away a variable that is not there makes it look again and
 * changes nothing else.
 */
export function systemZone(): string {
  if (process.env.TZ === undefined) delete process.env.TZ;
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
