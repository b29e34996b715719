/** From values to places on a drawing, to a tenth of a point: text, so that pages stay small and alike everywhere. */
export function scale(from: number, to: number, start: number, end: number): (value: number) => string {
  const perValue = to === from ? 0 : (end - start) / (to - from);
  return (value) => String(Math.round((start + (value - from) * perValue) * 10) / 10);
}
