export interface GraphLink {
  readonly from: string;
  readonly to: string;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

const ROUNDS = 160;
const MARGIN = 28;

/**
 * Places of nodes by forces: linked ones attract, all repel, everything is drawn to the middle. The same input gives the
 * same picture. For a few hundred nodes.
 */
export function layoutGraph(
  ids: readonly string[],
  links: readonly GraphLink[],
  width: number,
  height: number,
): ReadonlyMap<string, Place> {
  const n = ids.length;
  const index = new Map(ids.map((id, at) => [id, at]));
  const [x, y] = [new Float64Array(n), new Float64Array(n)];
  // A spiral of the golden angle: no two nodes begin in one place.
  for (let i = 0; i < n; i++) {
    const radius = Math.sqrt((i + 0.5) / n) * 0.45;
    x[i] = width * (0.5 + radius * Math.cos(i * 2.399963));
    y[i] = height * (0.5 + radius * Math.sin(i * 2.399963));
  }
  const pairs = links.flatMap(({ from, to }) => {
    const [a, b] = [index.get(from), index.get(to)];
    return a === undefined || b === undefined || a === b ? [] : [[a, b] as const];
  });
  const ideal = Math.sqrt((width * height) / Math.max(1, n)) * 0.62;
  const [dx, dy] = [new Float64Array(n), new Float64Array(n)];
  const push = (i: number, j: number, force: number, ux: number, uy: number): void => {
    dx[i] = (dx[i] ?? 0) + ux * force;
    dy[i] = (dy[i] ?? 0) + uy * force;
    dx[j] = (dx[j] ?? 0) - ux * force;
    dy[j] = (dy[j] ?? 0) - uy * force;
  };
  for (let round = 0; round < ROUNDS; round++) {
    dx.fill(0);
    dy.fill(0);
    for (let i = 0; i < n; i++)
      for (let j = i + 1; j < n; j++) {
        const [vx, vy] = [(x[i] ?? 0) - (x[j] ?? 0), (y[i] ?? 0) - (y[j] ?? 0)];
        const distance = Math.max(1, Math.hypot(vx, vy));
        push(i, j, (ideal * ideal) / distance / 2, vx / distance, vy / distance);
      }
    for (const [a, b] of pairs) {
      const [vx, vy] = [(x[a] ?? 0) - (x[b] ?? 0), (y[a] ?? 0) - (y[b] ?? 0)];
      const distance = Math.max(1, Math.hypot(vx, vy));
      push(a, b, (-distance * distance) / ideal, vx / distance, vy / distance);
    }
    const heat = (ideal / 2) * (1 - round / ROUNDS);
    for (let i = 0; i < n; i++) {
      const [fx, fy] = [
        (dx[i] ?? 0) + (width / 2 - (x[i] ?? 0)) * 0.5,
        (dy[i] ?? 0) + (height / 2 - (y[i] ?? 0)) * 1.1,
      ];
      const length = Math.max(1, Math.hypot(fx, fy));
      x[i] = clamp((x[i] ?? 0) + (fx / length) * Math.min(length, heat), MARGIN, width - MARGIN);
      y[i] = clamp((y[i] ?? 0) + (fy / length) * Math.min(length, heat), MARGIN, height - MARGIN);
    }
  }
  return new Map(ids.map((id, i) => [id, { x: x[i] ?? 0, y: y[i] ?? 0 }]));
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
