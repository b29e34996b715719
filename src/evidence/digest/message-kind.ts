/** Messages that engineers know by a name of their own, in any tool's wording. The first that fits wins. */
const NAMED: readonly (readonly [string, RegExp])[] = [
  ['undefined reference', /undefined reference to|undefined symbol: |^undefined symbols? for/i],
  ['unresolved external symbol', /unresolved external symbol/],
  ['multiple definition', /multiple definition of|duplicate symbol/],
  ['parse error', /^parse error/],
  [
    'syntax error',
    /^syntax error|^['‘][^\s\w]{1,3}['’] expected$|^expected [‘'`"]?[^\w\s‘'`"]{1,3}[’'`"]?(?: |$|,)|^expected (?:expression|identifier|declaration|unqualified-id|primary-expression|statement)|^(?:expected|Expected) .{1,60} but found|^['‘"`<][^\s]{1,12} expected (?:near|\(to close)|^unexpected (?:symbol|token|end|newline|EOF|string constant|numeric constant|input|['"‘`])|^Expression expected|^unterminated |^unclosed /i,
  ],
  ['not in scope', /not in scope/],
  ['does not name a type', /does not name a (?:template )?type/],
  ['undeclared', /undeclared|was not declared in this scope|unknown type name/],
  ['implicit declaration', /implicit declaration of function/],
  ['file not found', /file not found$/],
  ['No such file', /No such file or directory/],
  ['no member', /has no member named|no member named|has no member|does not have a member/],
  ['no match', /^no match for|^no matching (?:function|member function|constructor)/],
  ['invalid operands', /invalid operands? to|invalid operands/],
  ['too few arguments', /too few arguments|not enough arguments|missing argument/],
  ['too many arguments', /too many arguments/],
  ['could not convert', /could not convert|cannot convert (?!value)|invalid conversion/],
  ['cannot convert value', /cannot convert value of type/],
  ['cannot find symbol', /^cannot find symbol/],
  ['incompatible types', /^incompatible types/],
  ['unreported exception', /^unreported exception/],
  ['package does not exist', /^package \S{1,120} does not exist/],
  ['Unresolved reference', /^unresolved reference/i],
  ['type mismatch', /type mismatch|couldn't match (?:expected )?type/i],
  ['No instance', /^No instance for/],
  ['Could not find module', /^Could not (?:find|load) module/],
  ['not found', /^not found: |: not found$/],
  ['imported and not used', /imported and not used/],
  ['declared and not used', /declared and not used|declared but not used/],
  ['undefined', /^undefined: /],
  ['cannot use', /^cannot use /],
  ['no required module', /no required module provides/],
  ['package is not in std', /is not in (?:std|GOROOT)/],
  ['cannot find in scope', /^cannot find .{1,80} in scope/],
  ['cannot find macro', /^cannot find macro/],
  ['unknown import path', /unknown import path/],
  ['attempt to index a nil value', /attempt to index (?:a nil|.{1,60}\(a nil)/],
  ['attempt to call a nil value', /attempt to call (?:a nil|.{1,60}\(a nil)/],
  ['attempt to concatenate', /attempt to concatenate/],
  ['attempt to compare', /attempt to compare/],
  ['attempt to perform arithmetic', /attempt to perform arithmetic/],
  ['module not found', /^module '[^']{1,120}' not found/],
  ['signed integer overflow', /signed integer overflow/],
  ['null pointer', /(?:load|store|member (?:access|call)).{0,40} null pointer/],
  ['division by zero', /division by zero/],
];

/**
 * Words of compilers and tools. A message is known by those of its first words that are here; all others are somebody's
 * names or prose, and nothing of them passes.
 */
const WORDS: ReadonlySet<string> = new Set(
  (
    'a abstract accept access acquiring adequate allocated already ambiguous an and api application argument arguments array as assign assignable assigned assignment attribute authentication base be been before binary bind block body boolean borrow borrowed bound bounds branch but by call called can cannot ' +
    "can't certificate circular class clause closure cluster code collision column command comparison compile compiler compute condition config configuration configured conflict conflicting connect connection constant constraint constructor container context control conversion convert could couldn't cross current cycle daemon data database declaration declared default defined definition denied dependencies dependency deprecated destructor did " +
    "didn't different directory disk does doesn't domain duplicate duplicated element empty encountered end entry enum environment error evaluating exceeded exception exhausted exist exists expected expects expired export expression external failed failure field file final find for forbidden foreign format found from function generic global has have head host identifier illegal image implement implementation implemented implicit import imported in inaccessible incompatible inconsistent incorrect index inference inferred infinite inherit initialize initialized initializer input instance instantiate instruction integer interface internal into invalid invocation invoke is isn't item iterable iterator key keyword kind label lifetime limit line list literal load local lock loop lvalue macro main manifest map mapping match matches matching member merge method mismatch mismatched missing mode modifier module moved mutable name named namespace network nil no non non-static non-exhaustive not null number object of on only opening operand operands operation operator option or out outside overflow overload override owner package packages parameter parameters parse parsing patch path pathspec pattern permission plan platform pod pointer port possible private process project property protected provider public qualified range read readonly recipe recursive redeclaration redefinition redefined reference refers rejected relation remote repository request required requires resolution resolve resolved resource response return returned returns revision role rule runtime satisfy schema scope select self separator sequence server service signature size solve solved source stack state statement static stream string struct subclass subtype such supported switch symbol syntax system table tag target template than the there this thread throw to token too trait type types unable unbound uncaught undeclared undefined unexpected uninitialized unique unit unknown unpack unreachable unresolved unsafe unsatisfiable unsupported unterminated unused update usage use used user value values variable version versions violates visible void was where while with within without wrong yaml zero"
  ).split(' '),
);
/** Words that say nothing alone. */
const WEAK: ReadonlySet<string> = new Set(
  'a an and as at be been by can did does error for from has have in into is of on only or return than the there this to was with'.split(
    ' ',
  ),
);
const MOST = 6;

/** What an engineer calls an error with this message; undefined when its words say nothing. */
export function kindOfMessage(message: string): string | undefined {
  const text = message.slice(0, 240).trim();
  return NAMED.find(([, pattern]) => pattern.test(text))?.[0] ?? fixedWords(text);
}

/** The first words of a message that belong to tools. Names, quotes and other words are left out. */
export function fixedWords(text: string): string | undefined {
  const plain = text
    .replace(/[‘'`"“«][^‘’'`"”»]{0,120}[’'`"”»](?=[\s:;,.)]|$)/g, ' ')
    .split(/[:;,(.]\s|[:;,(.]$| \(|\n/, 1)[0];
  const found: string[] = [];
  for (const word of plain?.split(/\s+/, 24) ?? []) {
    if (found.length < MOST && WORDS.has(word.toLowerCase())) found.push(word);
  }
  const strong = found.filter((word) => !WEAK.has(word.toLowerCase()));
  return found.length < 2 || strong.length === 0 ? undefined : found.join(' ');
}
