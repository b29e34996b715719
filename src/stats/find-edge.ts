/**
 * Bisection: where the predicate changes between `outside` and `inside`, to `steps` binary digits, as the last point known
 * to be outside: an interval that ends there is slightly too wide, never too narrow. `outside` itself if nothing is outside.
 */
export function findEdge(
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
