/**
 * Whether a domain matches a pattern in which `*` stands for anything: `math.*` matches `math.algebra` and `math`. Case
 * is ignored.
 */
export function fitsDomain(pattern: string, domain: string): boolean {
  const wanted = pattern.toLowerCase();
  const name = domain.toLowerCase();
  if (wanted.endsWith('.*') && fits(wanted.slice(0, -2), name)) return true;
  return fits(wanted, name);
}

/** Greedy: the first occurrence of each part between two stars leaves the most text for the rest. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}
