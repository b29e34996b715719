const NUMBER =
  /(?<![\p{L}\p{N}_.,])([-+−]?)([.,]?\d[\d.,'_\u00a0\u202f]{0,60})(?:[eE]([-+]?\d{1,3})(?![\d\p{L}]))?/gu;
const THIN = /['_\u00a0\u202f]/g;
const FRACTION = /\\[dt]?frac\{(-?\d{1,15})\}\{(\d{1,15})\}/g;

/**
 * The numbers in a text, in order: `1,234.5`, `3,14`, `−2e-3`, `1/2`, `\frac{1}{2}`. Units, currency signs and words
 * around them are skipped; digits inside a word (`m2`) are not numbers.
 */
export function findNumbers(text: string): readonly number[] {
  const plain = text.replace(FRACTION, ' $1/$2 ').replaceAll('$', ' ');
  const numbers: number[] = [];
  let lastEnd = -1;
  for (const match of plain.matchAll(NUMBER)) {
    const [whole, sign = '', digits = '', power] = match;
    const values = valuesOf(digits).map((value) =>
      power === undefined ? value : value * 10 ** Number(power),
    );
    const isBelow = /^\s?\/\s?$/.test(plain.slice(lastEnd, match.index)) && lastEnd >= 0;
    const [first] = values;
    if (isBelow && first !== undefined && first !== 0) numbers.push((numbers.pop() ?? 0) / first);
    else
      for (const [index, value] of values.entries())
        numbers.push(isMinus(sign) && index === 0 ? -value : value);
    lastEnd = match.index + whole.length;
  }
  return numbers.filter((value) => Number.isFinite(value));
}

const isMinus = (sign: string): boolean => sign === '-' || sign === '−';

/** One number, or several separated by commas. */
function valuesOf(written: string): readonly number[] {
  const digits = written.replace(THIN, '').replace(/[.,]+$/, '');
  const comma = digits.lastIndexOf(',');
  const dot = digits.lastIndexOf('.');
  if (comma < 0 && dot < 0) return [Number(digits)];
  if (comma >= 0 && dot >= 0) {
    const [decimal, group] = comma > dot ? [',', '.'] : ['.', ','];
    return [Number(digits.replaceAll(group, '').replace(decimal, '.'))];
  }
  const sign = comma >= 0 ? ',' : '.';
  const parts = digits.split(sign);
  const isGrouped =
    /^[1-9]\d{0,2}$/.test(parts[0] ?? '') && parts.slice(1).every((part) => part.length === 3);
  // A single dot is always a decimal point; a single comma before three digits is a thousands separator.
  if (isGrouped && (sign === ',' || parts.length > 2)) return [Number(parts.join(''))];
  if (parts.length === 2) return [Number(parts.join('.'))];
  return sign === ',' ? parts.filter((part) => part !== '').map(Number) : [];
}
