const MOST_CHARACTERS = 64;

/** The name, with a number appended if another lesson has it; never longer than a lesson name may be. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) {
    const end = `-${number}`;
    free = `${name.slice(0, MOST_CHARACTERS - end.length).replace(/-+$/, '')}${end}`;
  }
  return free;
}
