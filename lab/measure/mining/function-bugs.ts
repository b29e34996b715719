/** A small function in one language, with the part of it that a session finds wrong, and its tests. */
interface FunctionCode {
  readonly text: string;
  readonly right: string;
  readonly wrong: string;
  readonly test: string;
}

interface FunctionBug {
  readonly name: string;
  /** What a user calls it. */
  readonly topic: string;
  readonly node: FunctionCode;
  readonly python: FunctionCode;
}

const nodeTest = (name: string, ...lines: readonly string[]): string =>
  [
    `import assert from 'node:assert/strict';`,
    `import { test } from 'node:test';`,
    `import { ${name} } from ${JSON.stringify(`../src/${name}.js`)};`,
    '',
    ...lines.map((line, at) => `test('${name} ${at + 1}', () => assert.deepEqual(${line}));`),
    '',
  ].join('\n');

const pythonTest = (name: string, ...lines: readonly string[]): string =>
  [
    'import unittest',
    '',
    `from lib.${name} import ${name}`,
    '',
    '',
    'class Tests(unittest.TestCase):',
    ...lines.flatMap((line, at) => [
      `    def test_${at + 1}(self):`,
      `        self.assertEqual(${line})`,
      '',
    ]),
  ].join('\n');

export const FUNCTION_BUGS: readonly FunctionBug[] = [
  {
    name: 'median',
    topic: 'the median of an even number of values',
    node: {
      text: 'export function median(values) {\n  const sorted = [...values].sort((a, b) => a - b);\n  const half = Math.floor(sorted.length / 2);\n  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;\n}\n',
      right: '(sorted[half - 1] + sorted[half]) / 2',
      wrong: 'sorted[half - 1]',
      test: nodeTest('median', 'median([3, 1, 2]), 2', 'median([4, 1, 3, 2]), 2.5'),
    },
    python: {
      text: 'def median(values):\n    ordered = sorted(values)\n    half = len(ordered) // 2\n    if len(ordered) % 2 == 1:\n        return ordered[half]\n    return (ordered[half - 1] + ordered[half]) / 2\n',
      right: 'return (ordered[half - 1] + ordered[half]) / 2',
      wrong: 'return ordered[half - 1] + ordered[half] / 2',
      test: pythonTest('median', 'median([3, 1, 2]), 2', 'median([4, 1, 3, 2]), 2.5'),
    },
  },
  {
    name: 'clamp',
    topic: 'clamping a number to its upper limit',
    node: {
      text: 'export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));\n',
      right: 'Math.min(high, Math.max(low, value))',
      wrong: 'Math.max(high, Math.max(low, value))',
      test: nodeTest('clamp', 'clamp(5, 0, 3), 3', 'clamp(-1, 0, 3), 0'),
    },
    python: {
      text: 'def clamp(value, low, high):\n    return min(high, max(low, value))\n',
      right: 'min(high, max(low, value))',
      wrong: 'max(high, max(low, value))',
      test: pythonTest('clamp', 'clamp(5, 0, 3), 3', 'clamp(-1, 0, 3), 0'),
    },
  },
  {
    name: 'chunk',
    topic: 'the last chunk of a list',
    node: {
      text: 'export function chunk(list, size) {\n  const chunks = [];\n  for (let at = 0; at < list.length; at += size) chunks.push(list.slice(at, at + size));\n  return chunks;\n}\n',
      right: 'at < list.length;',
      wrong: 'at + size <= list.length;',
      test: nodeTest('chunk', 'chunk([1, 2, 3], 2), [[1, 2], [3]]', 'chunk([], 2), []'),
    },
    python: {
      text: 'def chunk(items, size):\n    return [items[at : at + size] for at in range(0, len(items), size)]\n',
      right: 'range(0, len(items), size)',
      wrong: 'range(0, len(items) - 1, size)',
      test: pythonTest('chunk', 'chunk([1, 2, 3], 2), [[1, 2], [3]]', 'chunk([], 2), []'),
    },
  },
  {
    name: 'slug',
    topic: 'dashes in the slug of a title',
    node: {
      text: "export const slug = (title) =>\n  title\n    .toLowerCase()\n    .replace(/[^a-z0-9]+/g, '-')\n    .replace(/^-|-$/g, '');\n",
      right: '/[^a-z0-9]+/g',
      wrong: '/[^a-z0-9]/g',
      test: nodeTest('slug', "slug('Hello,  World!'), 'hello-world'", "slug('A b'), 'a-b'"),
    },
    python: {
      text: 'import re\n\n\ndef slug(title):\n    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")\n',
      right: 'r"[^a-z0-9]+"',
      wrong: 'r"[^a-z0-9]"',
      test: pythonTest('slug', 'slug("Hello,  World!"), "hello-world"', 'slug("A b"), "a-b"'),
    },
  },
  {
    name: 'leap',
    topic: 'leap years of whole centuries',
    node: {
      text: 'export const leap = (year) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;\n',
      right: '(year % 4 === 0 && year % 100 !== 0) || year % 400 === 0',
      wrong: 'year % 4 === 0',
      test: nodeTest('leap', 'leap(2000), true', 'leap(1900), false', 'leap(2024), true'),
    },
    python: {
      text: 'def leap(year):\n    return (year % 4 == 0 and year % 100 != 0) or year % 400 == 0\n',
      right: '(year % 4 == 0 and year % 100 != 0) or year % 400 == 0',
      wrong: 'year % 4 == 0',
      test: pythonTest('leap', 'leap(2000), True', 'leap(1900), False', 'leap(2024), True'),
    },
  },
  {
    name: 'initials',
    topic: 'the initials of a name with two spaces',
    node: {
      text: "export const initials = (name) =>\n  name\n    .split(/\\s+/)\n    .filter(Boolean)\n    .map((word) => word[0].toUpperCase())\n    .join('');\n",
      right: '.split(/\\s+/)',
      wrong: ".split(',')",
      test: nodeTest('initials', "initials('ada  lovelace'), 'AL'", "initials('bo'), 'B'"),
    },
    python: {
      text: 'def initials(name):\n    return "".join(word[0].upper() for word in name.split())\n',
      right: 'name.split()',
      wrong: 'name.split(",")',
      test: pythonTest('initials', 'initials("ada  lovelace"), "AL"', 'initials("bo"), "B"'),
    },
  },
  {
    name: 'seconds',
    topic: 'minutes in a duration such as 1h30m',
    node: {
      text: 'const UNITS = { h: 3600, m: 60, s: 1 };\nexport function seconds(text) {\n  let sum = 0;\n  for (const [, count, unit] of text.matchAll(/(\\d+)([hms])/g)) sum += Number(count) * UNITS[unit];\n  return sum;\n}\n',
      right: 'm: 60,',
      wrong: 'm: 6,',
      test: nodeTest('seconds', "seconds('1h30m'), 5400", "seconds('45s'), 45"),
    },
    python: {
      text: 'import re\n\nUNITS = {"h": 3600, "m": 60, "s": 1}\n\n\ndef seconds(text):\n    return sum(int(count) * UNITS[unit] for count, unit in re.findall(r"(\\d+)([hms])", text))\n',
      right: '"m": 60,',
      wrong: '"m": 6,',
      test: pythonTest('seconds', 'seconds("1h30m"), 5400', 'seconds("45s"), 45'),
    },
  },
  {
    name: 'words',
    topic: 'counting words between line breaks',
    node: {
      text: 'export const words = (text) => text.split(/\\s+/).filter(Boolean).length;\n',
      right: 'split(/\\s+/)',
      wrong: "split(' ')",
      test: nodeTest('words', "words('a b\\nc'), 3", "words(''), 0"),
    },
    python: {
      text: 'def words(text):\n    return len(text.split())\n',
      right: 'text.split()',
      wrong: 'text.split(" ")',
      test: pythonTest('words', 'words("a b\\nc"), 3', 'words(""), 0'),
    },
  },
];
