/** The result of one check. */
export interface DoctorCheck {
  /** For programs: it stays the same while the wording may change. */
  readonly id: string;
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What the user can do, a command where there is one; on warnings and failures. */
  readonly fix?: string;
}

const toId = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

export const passed = (name: string, detail: string, id = toId(name)): DoctorCheck => ({
  id,
  name,
  status: 'ok',
  detail,
});

export const warned = (name: string, detail: string, fix: string, id = toId(name)): DoctorCheck => ({
  id,
  name,
  status: 'warn',
  detail,
  fix,
});

export const failed = (name: string, detail: string, fix: string, id = toId(name)): DoctorCheck => ({
  id,
  name,
  status: 'fail',
  detail,
  fix,
});
