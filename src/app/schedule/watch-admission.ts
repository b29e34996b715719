import type { Admission } from '../../gateway/admission.ts';

/** The same door, that tells of everyone who comes in or leaves, and how many are inside then. */
export function watchAdmission(admission: Admission, notice: (inFlight: number) => void): Admission {
  return {
    get inFlight() {
      return admission.inFlight;
    },
    enter: () => {
      const visit = admission.enter();
      notice(admission.inFlight);
      return (
        visit && {
          hold: visit.hold,
          leave: () => {
            visit.leave();
            notice(admission.inFlight);
          },
        }
      );
    },
    drain: admission.drain,
  };
}
