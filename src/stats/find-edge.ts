/**
 * Where the answer changes on the way from `outside` to `inside`, to `steps` binary places, as the last place known to be
 * outside: an interval that ends there is a hair too wide, never too narrow. Where nothing is outside it is the start.
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
