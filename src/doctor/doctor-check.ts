/** The result of one check. */
export interface DoctorCheck {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What the user can do; on warnings and failures. */
  readonly fix?: string;
}

export const passed = (name: string, detail: string): DoctorCheck => ({ name, status: 'ok', detail });

export const warned = (name: string, detail: string, fix: string): DoctorCheck => ({
  name,
  status: 'warn',
  detail,
  fix,
});

export const failed = (name: string, detail: string, fix: string): DoctorCheck => ({
  name,
  status: 'fail',
  detail,
  fix,
});
