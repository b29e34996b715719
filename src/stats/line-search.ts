/**
 * Bisection: where the predicate changes between `outside` and `inside`, to `steps` binary digits, as the last point known
 * to be outside: an interval that ends there is slightly too wide, never too narrow. `outside` itself if nothing is outside.
 */
export function bisect(
  isOutside: (place: number) => boolean,
  outside: number,
  inside: number,
  steps: number,
): number {
  if (!isOutside(outside)) return outside;
  let far = outside;
  let near = inside;
  for (let step = 0; step < steps; step++) {
    const place = (far + near) / 2;
    if (isOutside(place)) far = place;
    else near = place;
  }
  return far;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** A smooth function is flat at its minimum: this close, its value is exact enough. */
const TOLERANCE = 1e-5;

interface MinimumSearch {
  readonly from: number;
  readonly to: number;
  /** Evaluated first. */
  readonly guess: number;
  /** The search stops at any value under it. */
  readonly enough: number;
}

/** The minimum of a convex function between two points, by golden-section search. */
export function goldenSectionMinimum(
  f: (place: number) => number,
  { from, to, guess, enough }: MinimumSearch,
): number {
  let least = f(Math.min(to, Math.max(from, guess)));
  const look = (place: number): number => {
    const value = f(place);
    if (value < least) least = value;
    return value;
  };
  if (least < enough) return least;
  look(from);
  look(to);
  let low = from;
  let high = to;
  let left = high - GOLDEN * (high - low);
  let right = low + GOLDEN * (high - low);
  let atLeft = look(left);
  let atRight = look(right);
  while (high - low > TOLERANCE && least >= enough) {
    if (atLeft <= atRight) {
      high = right;
      right = left;
      atRight = atLeft;
      left = high - GOLDEN * (high - low);
      atLeft = look(left);
    } else {
      low = left;
      left = right;
      atLeft = atRight;
      right = low + GOLDEN * (high - low);
      atRight = look(right);
    }
  }
  return least;
}
