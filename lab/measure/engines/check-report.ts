/** Prints the result of each check and counts failures. */
export interface CheckReport {
  say(name: string, value: unknown): void;
  /** `call` returns what to print; an exception is a failure. */
  check(name: string, call: () => Promise<unknown>): Promise<void>;
  /** `call` must be refused with a message that matches `like`. */
  refused(name: string, call: () => Promise<unknown>, like: RegExp): Promise<void>;
  readonly failures: number;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function createCheckReport(write: (line: string) => void): CheckReport {
  let failures = 0;
  const line = (mark: string, name: string, value: unknown): void =>
    write(`  ${mark.padEnd(5)} ${name}: ${text(value)}\n`);
  const fail = (name: string, value: unknown): void => {
    failures++;
    line('FAIL', name, value);
  };
  const told = (error: unknown): string =>
    error instanceof Error
      ? `${'category' in error ? `${String(error.category)}: ` : ''}${error.message}`
      : String(error);
  return {
    get failures() {
      return failures;
    },
    say: (name, value) => line('', name, value),
    check: async (name, call) => {
      try {
        line('ok', name, await call());
      } catch (error) {
        fail(name, told(error));
      }
    },
    refused: async (name, call, like) => {
      try {
        fail(name, `was accepted: ${text((await call()) ?? 'done')}`);
      } catch (error) {
        if (like.test(told(error))) line('ok', name, `refused: ${told(error)}`);
        else fail(name, told(error));
      }
    },
  };
}

/** Throws unless the condition holds. */
export function assertHolds(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
