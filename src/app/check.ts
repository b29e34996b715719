/** The outcome of one thing that was looked at. */
export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly mend?: string;
}

export const ok = (name: string, detail: string): Check => ({ name, status: 'ok', detail });
export const warn = (name: string, detail: string, mend: string): Check => ({
  name,
  status: 'warn',
  detail,
  mend,
});
export const fail = (name: string, detail: string, mend: string): Check => ({
  name,
  status: 'fail',
  detail,
  mend,
});
