/** The limits of a workspace and of a command in it. */
export interface WorkspaceLimits {
  /** The total size of all files. */
  readonly bytes: number;
  /** Files, folders and links. */
  readonly entries: number;
  /** Processes at the same time in one run. */
  readonly processes: number;
  /** Memory of one process. */
  readonly memoryBytes: number;
}

export const DEFAULT_LIMITS: WorkspaceLimits = {
  bytes: 64 * 1024 * 1024,
  entries: 10_000,
  processes: 256,
  memoryBytes: 2 * 1024 * 1024 * 1024,
};
