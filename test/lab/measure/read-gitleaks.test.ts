import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readGitleaks } from '../../../lab/measure/secrets/read-gitleaks.ts';
import { sampleRegex } from '../../../lab/measure/secrets/sample-regex.ts';
import { createSeededRandom } from '../../../lab/measure/secrets/secret-kinds.ts';

/** Source in the form of gitleaks' generator, with rules of our own. */
const SAMPLES = `package utils
func GenerateSampleSecret(identifier string, secret string) string {
	return fmt.Sprintf("%s_thing = \\"%s\\"", identifier, secret)
}
func GenerateSampleSecrets(identifier string, secret string) []string {
	samples := map[string]string{
		// A comment with "quotes".
		"one": "{i}Thing = \\"{s}\\"",
		"two": \`{"{I}_THING": "{s}"}\`,
	}
}`;
const RULES = `package rules
var shared = []string{"plain words", \`raw "words"\`}

func Garden() *config.Rule {
	r := config.Rule{RuleID: "garden", Regex: regexp.MustCompile(\`x\`), Keywords: []string{"garden"}}
	tps := utils.GenerateSampleSecrets("garden", "gdn_"+secrets.NewSecret(utils.Hex("16")))
	tps = append(tps,
		"gate: open\\tsesame", // a literal
		fmt.Sprintf("with %s inside", secrets.NewSecret(\`[a-z]{20}\`)),
	)
	tps = append(tps, utils.GenerateSampleSecret("shed", secrets.NewSecret(utils.AlphaNumeric("8,12"))))
	fps := append(shared, "nothing here")
	return utils.Validate(r, tps, fps)
}

func Computed() *config.Rule {
	tps := generateValues()
	return utils.Validate(r, tps, nil)
}

func Paths() *config.Rule {
	tps := map[string]string{"a.txt": "from a path", "b.txt": ""}
	return utils.ValidateWithPaths(r, tps, nil)
}
`;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function checkout(rules: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'instar-rules-'));
  folders.push(folder);
  const generate = join(folder, 'cmd/generate/config');
  mkdirSync(join(generate, 'rules'), { recursive: true });
  mkdirSync(join(generate, 'utils'));
  writeFileSync(join(generate, 'rules/garden.go'), rules);
  writeFileSync(join(generate, 'utils/generate.go'), SAMPLES);
  return folder;
}

describe('the examples in a checkout of gitleaks', () => {
  it('are literals, formats and generated secrets, each with the secret that must not remain', () => {
    const read = readGitleaks(checkout(RULES), createSeededRandom(1));
    if (!read.ok) throw new Error(read.why);
    expect(
      read.positives.map(({ text }) => text.replace(/[0-9a-f]{16}|[a-z]{20}|(?<=")[a-z0-9]{8,12}(?=")/, '#')),
    ).toEqual([
      'gardenThing = "gdn_#"',
      '{"GARDEN_THING": "gdn_#"}',
      'gate: open\tsesame',
      'with # inside',
      'shed_thing = "#"',
      'from a path',
    ]);
    for (const { text, secrets } of read.positives)
      for (const secret of secrets) expect(text).toContain(secret);
    expect(read.positives.map(({ secrets }) => secrets.length)).toEqual([1, 1, 0, 1, 1, 0]);
    expect(read.negatives.map(({ text }) => text)).toEqual(['plain words', 'raw "words"', 'nothing here']);
    expect(read.assigned.map(({ name }) => name)).toEqual(['garden', 'shed']);
    expect(read.unread).toEqual(['garden']);
  });

  it('are not measured without a folder (and the reason says so)', () => {
    expect(readGitleaks(undefined, Math.random)).toMatchObject({
      ok: false,
      why: expect.stringContaining('no folder'),
    });
    expect(readGitleaks('/nowhere', Math.random)).toMatchObject({
      ok: false,
      why: expect.stringContaining('/nowhere'),
    });
  });
});

describe('a sample of a regular expression', () => {
  it.each([
    '[a-z0-9]{8,12}',
    '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}',
    'A3-[A-Z0-9]{6}(-[A-Z0-9]{5}){3}',
    '[\\w.~-]{3}\\dQ~[a-z=_\\-]{4}',
    'fm2_[a-zA-Z0-9+\\/]{10,}={0,3}',
    '\\b(HRKU-AA[0-9a-zA-Z_]{8})\\b',
  ])('matches it: %s', (source) => {
    const random = createSeededRandom(7);
    for (let i = 0; i < 50; i++) expect(sampleRegex(source, random)).toMatch(new RegExp(`^(?:${source})$`));
  });

  it('throws on a negated class, instead of a wrong sample', () => {
    expect(() => sampleRegex('[^a]{4}', Math.random)).toThrow('negated');
  });
});
