import type { Clock } from '../../core/clock.ts';
import type { Library } from '../../core/library.ts';

/** The dependencies of a mirror. */
export interface MirrorParts {
  readonly dir: string;
  readonly library: Library;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log?: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}
