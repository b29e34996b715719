/** How much a workspace may hold and a command may use. */
export interface WorkspaceLimits {
  /** Of all files together. */
  readonly bytes: number;
  /** Files, folders and links. */
  readonly entries: number;
  /** Processes at a time in one run. */
  readonly processes: number;
  /** Of one process. */
  readonly memoryBytes: number;
}

export const DEFAULT_LIMITS: WorkspaceLimits = {
  bytes: 64 * 1024 * 1024,
  entries: 10_000,
  processes: 256,
  memoryBytes: 2 * 1024 * 1024 * 1024,
};
