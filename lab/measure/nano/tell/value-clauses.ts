/*
 * What a rule on values asks for, in three forms each: `imp` follows "please" or "you forgot to", `s` is a clause, `np` names the thing.
 * `@n` is the noun as an object, `@s` as a singular subject.
 */
export interface Clauses {
  readonly imp: readonly string[];
  readonly s: readonly string[];
  readonly np: readonly string[];
}

const MUST = '[must|has to|should|is to|needs to|ought to|shall]';
const BEFORE = '[in front of|before|ahead of|to the left of|on the left of|at the head of|at the start of]';
const AFTER = '[behind|after|to the right of|on the right of|at the tail of|at the end of|at the back of]';
const STANDS =
  '[stands|comes|goes|belongs|is written|is put|sits|appears|is found|is expected|has to be|should stand|must come|is placed]';
const PUT = '[put|place|write|set|insert|add|type|stick|have|keep|bring|fix]';
const HAS = '[has|carries|gets|takes|needs|wants|bears|receives|must have|should have|is given|has to have]';

export const FRONT: Clauses = {
  imp: [
    `${PUT} {left} ${BEFORE} @n`,
    `[start|begin|open|lead|head] @n [with|by] {left}`,
    `[prefix|preface|precede] @n [with|by] {left}`,
    `[let|make] @n1 [start|begin|open] with {left}`,
    `give @n {left} as [its|the|a] [prefix|lead|opening|first sign|first part|head]`,
    `write {left} first[ and|, then|, and then] the {noun}`,
    `[prepend|attach in front] {left} [to|for] @n`,
  ],
  s: [
    `@s [starts|begins|opens|${MUST} start|${MUST} begin|${MUST} open] with {left}`,
    `{left} ${STANDS} ${BEFORE} @n`,
    `@s ${HAS} {left} [in front|before it|ahead of it|on its left|as a prefix|at its head|at the front|at the start]`,
    `@s [follows|comes after|comes behind|is preceded by|is led by|is introduced by] {left}`,
    `what [precedes|comes before|stands before|leads] @n is {left}`,
    `{left} [precedes|leads|opens|introduces|heads] @n`,
    `first [comes|there is|goes] {left}[ and|,] then the {noun}`,
  ],
  np: [
    `{left} ${BEFORE} @n`,
    `[a|the|that] [leading|preceding|opening] {left} [on|for|with|of] @n`,
    `@n with {left} [in front|ahead of it|before it|as a prefix|at the front]`,
    `the [prefix|lead] {left} [of|for|on] @n`,
  ],
};

export const BEHIND: Clauses = {
  imp: [
    `${PUT} {right} ${AFTER} @n`,
    `[end|finish|close|complete|conclude] @n [with|by] {right}`,
    `[follow|suffix] @n [with|by] {right}`,
    `[let|make] @n1 [end|finish|close] [with|in|on] {right}`,
    `give @n {right} as [its|the|a] [suffix|ending|close|final sign|final part|tail]`,
    `write the {noun} first[ and|, then|, and then] {right}`,
    `[append|attach|tack on] {right} [to|for] @n`,
  ],
  s: [
    `@s [ends|finishes|closes|${MUST} end|${MUST} finish|${MUST} close] [with|in|on] {right}`,
    `{right} ${STANDS} ${AFTER} @n`,
    `@s ${HAS} {right} [behind|after it|behind it|on its right|as a suffix|at its tail|at the back|at the end]`,
    `@s [is followed by|comes before|goes before|stands before|runs into] {right}`,
    `what [follows|comes after|stands after|closes] @n is {right}`,
    `{right} [follows|ends|closes|trails|completes] @n`,
    `first [comes|there is|goes] the {noun}[ and|,] then {right}`,
  ],
  np: [
    `{right} ${AFTER} @n`,
    `[a|the|that] [trailing|following|closing] {right} [on|for|with|of] @n`,
    `@n with {right} [behind|after it|behind it|as a suffix|at the back]`,
    `the [suffix|ending] {right} [of|for|on] @n`,
  ],
};

const OUTSIDE = '[with|by|in|between]';
export const AROUND: Clauses = {
  imp: [
    `[put|place|write|set|keep|have] @n between {left} and {right}`,
    `[wrap|enclose|frame|surround|bracket|embrace|flank|fence] @n ${OUTSIDE} {left} and {right}`,
    `${PUT} {left} ${BEFORE} and {right} ${AFTER} @n`,
    `[open|start|begin] @n with {left} and [close|end|finish] it with {right}`,
    `[let|make] @n1 [begin|start|open] with {left} and [end|close|finish] with {right}`,
    `write {left}, then the {noun}, then {right}`,
  ],
  s: [
    `@s [stands|sits|goes|belongs|is written|is put|${MUST} be|${MUST} stand] between {left} and {right}`,
    `@s ${HAS} {left} [in front|before it|on its left] and {right} [behind|after it|on its right]`,
    `@s [starts|begins|opens] with {left} and [ends|closes|finishes] with {right}`,
    `{left} and {right} [stand|go|come|are put|are written|belong] around @n`,
    `@s is [wrapped|enclosed|framed|bracketed|surrounded|flanked] ${OUTSIDE} {left} and {right}`,
    `{left} [comes|goes|stands] before @n and {right} [comes|goes|stands] after it`,
  ],
  np: [
    `{left} and {right} around @n`,
    `@n between {left} and {right}`,
    `{left} [in front of|before] and {right} [behind|after] @n`,
    `@n [wrapped|enclosed|framed|bracketed] ${OUTSIDE} {left} and {right}`,
  ],
};

export const LETTERS: Clauses = {
  imp: [
    `[write|spell|put|type|keep|set|give|render|leave] @n {case}`,
    `[use|take] {letters} for @n`,
    `[turn|change|convert] @n to {letters}`,
    `[choose|stick to|hold to] {letters} [in|for|with] @n`,
  ],
  s: [
    `@s [is written|is spelt|is|comes|goes down|${MUST} be|is given|is typed|appears] {case}`,
    `@s ${HAS} {letters}`,
    `{letters} [is what we use|is the rule|is the form|is right|is meant] for @n`,
    `the letters of @n are [written|set|kept] {case}`,
  ],
  np: ['@n {case}', '{letters} [for|in|on] @n', '@n in the form of {letters}'],
};

export const ZEROS: Clauses = {
  imp: [
    `[fill up|fill|pad|extend|lengthen] @n [with|by] [zeros|leading zeros|zeros on the left|zeros in front] [to|up to|until it has] {width} [digits|places|figures]`,
    `[put|place|add|write] zeros [in front of|before|ahead of] @n until [it has|there are|you have] {width} [digits|places|figures]`,
    `[write|give|type|keep] @n with {width} [digits|places|figures][, zeros first|, zeros in front|, filled by zeros|, zeros leading]`,
    `[bring|stretch] @n to {width} [digits|places|figures] with zeros`,
  ],
  s: [
    `@s [has|takes|fills|shows|${MUST} have|always has] {width} [digits|places|figures][, zeros first|, zeros in front|, with leading zeros|, the first of them zeros]`,
    `zeros [lead|come before|stand before|go before|fill up] @n [up to|until it has] {width} [digits|places|figures]`,
    `@s is {width} [digits|places|figures] [long|wide], [zeros in front|leading zeros included|padded by zeros]`,
  ],
  np: [
    `@n with {width} [digits|places|figures], [zeros in front|leading zeros|zeros first]`,
    `[enough zeros|leading zeros] [before|in front of] @n for {width} [digits|places|figures]`,
    `@n padded to {width} [digits|places|figures] by zeros`,
  ],
};

export const DECIMALS: Clauses = {
  imp: [
    `[write|give|type|put|keep|show] @n with {sign} and {places} [zeros|decimals|zeros at the end]`,
    `[add|append|attach] {sign} and {places} [zeros|decimal places that are zero] to @n`,
    `[extend|complete] @n by {sign} and {places} [zeros|digits]`,
    `[use|take] {places} [decimals|decimal places] after {sign} for @n`,
  ],
  s: [
    `@s [has|shows|takes|gets|ends in|${MUST} have] {places} [decimals|decimal places|digits] [after|behind] {sign}`,
    `{places} [decimals|digits|zeros] [follow|come after|stand after|go after] {sign} in @n`,
    `@s [is given|is written|goes] to {places} places after {sign}`,
  ],
  np: [
    `@n with {places} [decimals|decimal places] after {sign}`,
    `{sign} and {places} [zeros|decimals] behind @n`,
    `{places} [digits|zeros] after {sign} in @n`,
  ],
};

const SHAPED = '[format|shape|layout|pattern|notation|mask|style]';
export const FORMAT: Clauses = {
  imp: [
    `[write|put|type|give|render|set|note|enter] @n [as|like] {format}`,
    `[use|take|keep to|stick to|follow|apply] [the|our] ${SHAPED} {format} for @n`,
    `[convert|change|turn|bring] @n [to|into] {format}`,
    `[format|shape|lay out] @n as {format}`,
  ],
  s: [
    `@s [is written|goes down|looks|reads|is put|is given|appears] [as|like] {format}`,
    `@s ${HAS} the ${SHAPED} {format}`,
    `[the|our] ${SHAPED} [of|for] @n is {format}`,
    `{format} is [the|our] ${SHAPED} [of|for] @n`,
    `@s [follows|obeys|keeps to] {format}`,
  ],
  np: [`@n [as|like] {format}`, `@n in the ${SHAPED} {format}`, `the ${SHAPED} {format} [for|in] @n`],
};

/** The separator may be nothing, and units differ: these need an example. */
export const UNIT_FIRST: Clauses = {
  imp: [
    `[put|write|place|set|type] the [unit|currency or unit] [in front of|before|ahead of|to the left of] @n`,
    `[start|begin|open|lead] @n with its unit`,
    `let the unit [lead|precede|come before] @n`,
  ],
  s: [
    `the unit [comes|goes|stands|belongs|is written|is put] [before|in front of|ahead of|to the left of] @n`,
    `@s [starts|begins|opens] with its unit`,
    `the unit [leads|precedes|opens] @n`,
  ],
  np: [`the unit [in front of|before|ahead of] @n`, `@n with its unit [first|in front|ahead of it]`],
};

export const UNIT_LAST: Clauses = {
  imp: [
    `[write|place|set|type|add] the unit [after|to the right of|on the right of] @n`,
    `[end|finish|close|complete] @n with its unit`,
    `let the unit [follow|come after] @n`,
    `[give|note|put] @n along with its unit`,
  ],
  s: [
    `the unit [comes|goes|stands|belongs|is written|is put] [after|behind|to the right of] @n`,
    `@s [ends|closes|finishes] [with|in] its unit`,
    `the unit [follows|closes|completes] @n`,
    `@s [is nothing|says little|is not complete] without its unit [after it|behind it]`,
  ],
  np: [`the unit [to the right of|after] @n`, `@n with its unit [last|behind|after it]`],
};

export const SWAP: Clauses = {
  imp: [
    `[write|use|say|put|type|take] {pairs} [as|for] @n`,
    `[replace|exchange|swap] the words for @n: {pairs}`,
    `[stick to|keep to|follow] our words for @n, {pairs}`,
  ],
  s: [
    `@s has [other|different|its own] words [here|with us|in our files]: {pairs}`,
    `[the words|our words|the right words] for @n are {pairs}`,
    `we [write|use|say|put|read] {pairs} [as|for] @n`,
  ],
  np: ['{pairs} [as|for] @n', 'our [own|other] words for @n, {pairs}'],
};

/** The same value in every file, whatever the task says. */
export const FIXED: Clauses = {
  imp: [
    `[write|put|set|type|use] {value} as @n[, whatever the task says|, whatever you were told|]`,
    `[set|change|turn] @n to {value}[, always|, whatever it was|]`,
    `[replace|overwrite] @n by {value}`,
  ],
  s: [
    `@s [is|says|reads|stays|${MUST} be|${MUST} say] {value}[, always|, whatever the task says|]`,
    `{value} [is|stands as|goes in as|is written as] @n[, always|]`,
  ],
  np: ['{value} as @n', '@n that [says|reads] {value}'],
};

export const TWICE: Clauses = {
  imp: [
    `[write|put|type|give|repeat] @n twice[ with|,] {sign} [between|in between|in the middle]`,
    `[double|repeat] @n, {sign} [between|in between|in the middle]`,
  ],
  s: [
    `@s [comes|stands|is written|appears|goes down] twice, {sign} [between|in between]`,
    `@s is [doubled|repeated] [with|by] {sign} [between|in between]`,
  ],
  np: ['@n twice, {sign} [between|in between]', '@n [doubled|repeated] with {sign} between'],
};

export const SWAP_SIGN: Clauses = {
  imp: [
    `[write|put|type|use] {sign} [for|in place of|instead of] {old} in @n`,
    `[replace|exchange|swap] {old} [by|for|with] {sign} in @n`,
    `[turn|change] {old} into {sign} in @n`,
  ],
  s: [
    `@s has {sign} [where it had|in place of|instead of] {old}`,
    `{sign} [stands|goes|comes] [for|in place of] {old} in @n`,
  ],
  np: ['{sign} [in place of|instead of] {old} in @n', '@n with {sign} for {old}'],
};

export const IN_LIST: Clauses = {
  imp: [
    '[put|write|place|wrap|keep] @n [into|in] a list[, even if it is alone|]',
    '[make|turn|change] @n [into |]a list[ with one entry| of one|]',
  ],
  s: [
    '@s is a list[ with one entry|, even if it has one entry|]',
    '@s [stands|goes|belongs|comes] in a list',
  ],
  np: ['@n in a list', 'a list around @n', '@n as a list[ of one|]'],
};

export const IN_RECORD: Clauses = {
  imp: [
    '[put|write|place|nest|move] @n into an object[,| and there] under {key}',
    '[make|turn] @n into an object with the key {key}',
    '[put|write|nest|move] @n one level [deeper|down], under {key}',
  ],
  s: [
    '@s is an object with [the key|one key,] {key}',
    '@s [stands|goes|belongs|comes] one level [deeper|down], under {key}',
  ],
  np: ['@n inside an object, under {key}', '@n as an object with the key {key}'],
};
