/** A token of Lucene's query syntax: of several that fit the longest, of equally long ones the first, as its grammar has it. */
export interface Token {
  is: TokenName
  text: string
  at: number
}

export type TokenName = keyof typeof PLAIN | keyof typeof IN_RANGE | 'number' | 'end'

const r = String.raw
const SPACE = r`[ \t\n\r\u3000]`
const ESCAPED = r`\\[^]`
const START = r`(?:[^ \t\n\r\u3000+\-!():^[\]"{}~*?\\/]|${ESCAPED})`
const INNER = r`(?:${START}|[-+])`

const rule = (source: string) => new RegExp(source, 'uy')

/** Each takes time in proportion to what it reads: no two parts of one can read the same. */
const PLAIN = {
  and: rule(r`AND|&&`),
  or: rule(r`OR|\|\|`),
  not: rule('NOT|!'),
  bareOperator: rule(r`[-+!]${SPACE}`),
  plus: rule(r`\+`),
  minus: rule('-'),
  open: rule(r`\(`),
  close: rule(r`\)`),
  colon: rule(':'),
  star: rule(r`\*`),
  caret: rule(r`\^`),
  quoted: rule(r`"(?:[^"\\]|${ESCAPED})*"`),
  term: rule(`${START}${INNER}*`),
  fuzzy: rule(`~${INNER}*`),
  prefix: rule(r`${START}${INNER}*\*`),
  wildcard: rule(`(?:${START}|[*?])(?:${INNER}|[*?])*`),
  regexp: rule(r`\/(?:[^/\\]|\\[^])*\/`),
  rangeIn: rule(r`\[`),
  rangeOut: rule(r`\{`),
} as const

const IN_RANGE = {
  to: rule('TO'),
  rangeEndIn: rule(r`\]`),
  rangeEndOut: rule(r`\}`),
  rangeQuoted: rule(r`"(?:[^"\\]|\\[^])+"`),
  goop: rule(r`[^ \]}]+`),
} as const

const NUMBER = rule(r`[0-9]+(?:\.[0-9]+)?`)
const BLANK = rule(`${SPACE}*`)

export type Mode = 'plain' | 'range' | 'boost'

/** The next token from a place on; undefined where nothing fits. */
export const nextToken = (text: string, from: number, mode: Mode): Token | undefined => {
  BLANK.lastIndex = from
  const at = from + BLANK.exec(text)![0].length
  if (at === text.length) return { is: 'end', text: '', at }
  if (mode === 'boost') {
    NUMBER.lastIndex = at
    const found = NUMBER.exec(text)
    return found ? { is: 'number', text: found[0], at } : undefined
  }
  let best: Token | undefined
  for (const [is, pattern] of Object.entries(mode === 'range' ? IN_RANGE : PLAIN)) {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found && found[0].length > (best?.text.length ?? 0)) best = { is: is as TokenName, text: found[0], at }
  }
  return best
}

/** What stands behind each backslash as it is, or a character by its number. Undefined where the text ends too early. */
export const unescaped = (text: string): string | undefined => {
  let isWhole = true
  const plain = text.replace(ESCAPE, (_, code: string | undefined, character: string | undefined) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    if (character === undefined || character === 'u') isWhole = false
    return character ?? ''
  })
  return isWhole ? plain : undefined
}
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([\s\S])|$)/gu
