/** What a checkpoint is for: to continue training, to sample from, or to export. */
export const CHECKPOINT_KINDS = ['weights', 'sampler_weights', 'external_weights'] as const;
export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

export interface CheckpointName {
  readonly run: string;
  readonly kind: CheckpointKind;
  readonly name: string;
}

/** `tinker://<run>/<kind>/<name>`; undefined for anything else. */
export function parseTinkerPath(path: string): CheckpointName | undefined {
  if (!path.startsWith('tinker://')) return undefined;
  const [run = '', kind = '', name = '', ...rest] = path.slice('tinker://'.length).split('/');
  const known = CHECKPOINT_KINDS.find((one) => one === kind);
  return known === undefined || run === '' || name === '' || rest.length > 0
    ? undefined
    : { run, kind: known, name };
}

export const toTinkerPath = ({ run, kind, name }: CheckpointName): string =>
  `tinker://${run}/${kind}/${name}`;

/** Checkpoint names become file names. */
export const isCheckpointName = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(name);
