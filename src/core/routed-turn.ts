import type { RouteChoice } from './overlay.ts';
import type { Target } from './upstream.ts';

/** A turn with a chosen model. */
export interface RoutedTurn {
  readonly choice: RouteChoice;
  /** The chosen model, then the one of the other tier. */
  readonly targets: readonly Target[];
  /** Records the choice once, together with the overlays of the turn. Returns at once. */
  record(turn: string): void;
}
