import { systemBoot } from '../base/boot-clock.ts';
import type { BootClock, Clock } from '../core/clock.ts';
import { CONFIRM_TIME, describeDoubt, judgeTime } from '../record/trusted-clock.ts';
import { localTime } from '../text/phrases.ts';
import { type DoctorCheck, passed, warned } from './doctor-check.ts';

/** Whether the clock agrees with the time that has passed since it was last looked at. */
export function checkTime(
  home: { readonly storeFile: string; readonly clockFile: string },
  clock: Clock,
  boot: BootClock = systemBoot,
): DoctorCheck {
  const doubt = judgeTime(home, clock, boot);
  return doubt === undefined
    ? passed('time', 'the clock agrees with the time since it was last seen')
    : warned(
        'time',
        describeDoubt(doubt),
        `if ${localTime(clock.now()).slice(0, 10)} is today: ${CONFIRM_TIME}; else set the date of this machine`,
      );
}
