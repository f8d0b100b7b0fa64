import { refuse } from '../../lib/errors.ts'
import { shortenText } from '../json.ts'

/** A parsed query string, before fields are resolved. Without a field, the default ones apply. */
export type Syntax =
  | { is: 'several'; of: SyntaxPart[] }
  /** `words`: whether it is several adjacent bare words. */
  | { is: 'text'; field: SyntaxField; text: string; words: boolean }
  | { is: 'phrase'; field: SyntaxField; text: string; slop: number | undefined }
  | { is: 'fuzzy'; field: SyntaxField; text: string; edits: string | undefined }
  /** With its backslashes. */
  | { is: 'wildcard' | 'regexp'; field: SyntaxField; text: string }
  | { is: 'prefix'; field: SyntaxField; text: string }
  | { is: 'range'; field: SyntaxField; low: RangeBound; high: RangeBound }
  | { is: 'boosted'; of: Syntax; boost: number }

type SyntaxField = string | undefined

/** No bound if `text` is undefined. */
export interface RangeBound {
  text: string | undefined
  included: boolean
}

export interface SyntaxPart {
  sign: 'must' | 'not' | undefined
  joint: 'and' | 'or' | undefined
  syntax: Syntax
}

const createLuceneTokens = (text: string) => {
  let end = 0
  const ahead: LuceneToken[] = []

  const fault = (token: LuceneToken | undefined): Error => {
    const what =
      token === undefined
        ? JSON.stringify(text[end] ?? '')
        : token.is === 'end'
          ? 'end'
          : JSON.stringify(shortenText(token.text))
    return refuse(
      'query_shard_exception',
      `Failed to parse query [${shortenText(text)}]: unexpected ${what} at character ${(token?.at ?? end) + 1}. A backslash escapes + - = && || > < ! ( ) { } [ ] ^ " ~ * ? : \\ /.`,
    )
  }
  const read = (mode: Mode): LuceneToken => {
    const token = nextToken(text, end, mode)
    if (!token) throw fault(undefined)
    end = token.at + token.text.length
    return token
  }
  const peek = (distance = 0): LuceneToken => {
    while (ahead.length <= distance) {
      const last = ahead.at(-1)
      // After these, other tokens are expected, which their own parser reads.
      if (last && ENDS_LOOKING.has(last.is)) return last
      ahead.push(read('plain'))
    }
    return ahead[distance]!
  }
  const next = (): LuceneToken => {
    const token = peek()
    ahead.shift()
    return token
  }
  const take = (is: TokenName): LuceneToken | undefined => (peek().is === is ? next() : undefined)
  const expect = (is: TokenName): LuceneToken => {
    const token = take(is)
    if (!token) throw fault(peek())
    return token
  }
  const plain = (token: LuceneToken, raw = token.text): string => {
    const found = unescaped(raw)
    if (found === undefined) throw fault(token)
    return found
  }
  return { read, peek, next, take, expect, plain, fault }
}

/** Parses Lucene's query syntax as Lucene does; groups nest up to `DEEPEST_GROUPS` levels. */
export const parseLucene = (text: string): Syntax => {
  const { read, peek, next, take, expect, plain, fault } = createLuceneTokens(text)
  let depth = 0

  const query = (field: SyntaxField): Syntax => {
    if (++depth > DEEPEST_GROUPS) throw fault(peek())
    const of: SyntaxPart[] = []
    do {
      if (isMany()) {
        of.push({ sign: undefined, joint: undefined, syntax: many(field) })
        continue
      }
      const joint = of.length === 0 ? undefined : take('and') ? 'and' : take('or') ? 'or' : undefined
      const sign = take('plus') ? 'must' : take('minus') || take('not') ? 'not' : undefined
      of.push({ sign, joint, syntax: clause(field) })
    } while (peek().is !== 'end' && peek().is !== 'close')
    depth--
    const [only] = of
    return only && of.length === 1 && only.sign === undefined && !isWords(only.syntax)
      ? only.syntax
      : { is: 'several', of }
  }

  /** Two bare words in a row, the second not bound to what follows. */
  const isMany = (): boolean => peek().is === 'term' && peek(1).is === 'term' && !BINDS.has(peek(2).is)

  const many = (field: SyntaxField): Syntax => {
    const first = expect('term')
    const words = [first.text]
    while (peek().is === 'term' && !BINDS.has(peek(1).is)) words.push(expect('term').text)
    return { is: 'text', field, text: plain(first, words.join(' ')), words: true }
  }

  const clause = (field: SyntaxField): Syntax => {
    let own = field
    if ((peek().is === 'term' || peek().is === 'star') && peek(1).is === 'colon') {
      own = plain(next())
      expect('colon')
    }
    if (!take('open')) return term(own)
    const inner = query(own)
    expect('close')
    return boosted(inner)
  }

  const boosted = (syntax: Syntax): Syntax =>
    peek().is === 'caret' ? { is: 'boosted', of: syntax, boost: boost() } : syntax

  const boost = (): number => {
    expect('caret')
    const number = read('boost')
    if (number.is !== 'number') throw fault(number)
    return Number(number.text)
  }

  const term = (field: SyntaxField): Syntax => {
    const token = peek()
    switch (token.is) {
      case 'term':
      case 'star':
      case 'prefix':
      case 'wildcard':
      case 'regexp':
      case 'bareOperator': {
        next()
        let fuzzy = take('fuzzy')
        const factor = peek().is === 'caret' ? boost() : undefined
        if (factor !== undefined) fuzzy ??= take('fuzzy')
        const syntax = bare(field, token, fuzzy)
        return factor === undefined ? syntax : { is: 'boosted', of: syntax, boost: factor }
      }
      case 'quoted': {
        next()
        const slop = /^~(\d{1,9})(?:\.\d+)?$/.exec(take('fuzzy')?.text ?? '')?.[1]
        const words = plain(token, token.text.slice(1, -1))
        return boosted({ is: 'phrase', field, text: words, slop: slop === undefined ? undefined : Number(slop) })
      }
      case 'rangeIn':
      case 'rangeOut':
        next()
        return boosted(range(field, token.is === 'rangeIn'))
      default:
        throw fault(token)
    }
  }

  const bare = (field: SyntaxField, token: LuceneToken, fuzzy: LuceneToken | undefined): Syntax => {
    switch (token.is) {
      case 'star':
      case 'wildcard':
        return { is: 'wildcard', field, text: token.text }
      case 'prefix':
        return { is: 'prefix', field, text: plain(token, token.text.slice(0, -1)) }
      case 'regexp':
        return { is: 'regexp', field, text: token.text.slice(1, -1) }
      default: {
        const word = plain(token, token.is === 'bareOperator' ? token.text[0] : token.text)
        if (fuzzy) return { is: 'fuzzy', field, text: word, edits: fuzzy.text.slice(1) || undefined }
        return { is: 'text', field, text: word, words: false }
      }
    }
  }

  const range = (field: SyntaxField, included: boolean): Syntax => {
    const low = bound(read('range'))
    const second = read('range')
    const high = bound(second.is === 'to' ? read('range') : second)
    const last = read('range')
    if (last.is !== 'rangeEndIn' && last.is !== 'rangeEndOut') throw fault(last)
    return {
      is: 'range',
      field,
      low: { text: low, included },
      high: { text: high, included: last.is === 'rangeEndIn' },
    }
  }
  const bound = (token: LuceneToken): string | undefined => {
    if (token.is === 'rangeQuoted') return plain(token, token.text.slice(1, -1))
    if (token.is !== 'goop' && token.is !== 'to') throw fault(token)
    return token.text === '*' ? undefined : plain(token)
  }

  const whole = query(undefined)
  if (peek().is !== 'end') throw fault(peek())
  return whole
}

const DEEPEST_GROUPS = 100

/** Tokens that bind to the word before. */
const BINDS: ReadonlySet<TokenName> = new Set<TokenName>(['colon', 'star', 'fuzzy', 'caret', 'and', 'or'])
const ENDS_LOOKING: ReadonlySet<TokenName> = new Set<TokenName>(['caret', 'rangeIn', 'rangeOut', 'end'])

const isWords = (syntax: Syntax): boolean => syntax.is === 'text' && syntax.words

/** The longest matching token wins, then the first, as in Lucene's grammar. */
interface LuceneToken {
  is: TokenName
  text: string
  at: number
}

type TokenName = keyof typeof PLAIN_TOKENS | keyof typeof RANGE_TOKENS | 'number' | 'end'

const r = String.raw
const BLANK_CHARACTER = r`[ \t\n\r\u3000]`
const ESCAPED = r`\\[^]`
const WORD_START = r`(?:[^ \t\n\r\u3000+\-!():^[\]"{}~*?\\/]|${ESCAPED})`
const WORD_INNER = r`(?:${WORD_START}|[-+])`

const tokenPattern = (source: string) => new RegExp(source, 'uy')

/** Each takes linear time: no two parts of one can match the same text. */
const PLAIN_TOKENS = {
  and: tokenPattern(r`AND|&&`),
  or: tokenPattern(r`OR|\|\|`),
  not: tokenPattern('NOT|!'),
  bareOperator: tokenPattern(r`[-+!]${BLANK_CHARACTER}`),
  plus: tokenPattern(r`\+`),
  minus: tokenPattern('-'),
  open: tokenPattern(r`\(`),
  close: tokenPattern(r`\)`),
  colon: tokenPattern(':'),
  star: tokenPattern(r`\*`),
  caret: tokenPattern(r`\^`),
  quoted: tokenPattern(r`"(?:[^"\\]|${ESCAPED})*"`),
  term: tokenPattern(`${WORD_START}${WORD_INNER}*`),
  fuzzy: tokenPattern(`~${WORD_INNER}*`),
  prefix: tokenPattern(r`${WORD_START}${WORD_INNER}*\*`),
  wildcard: tokenPattern(`(?:${WORD_START}|[*?])(?:${WORD_INNER}|[*?])*`),
  regexp: tokenPattern(r`\/(?:[^/\\]|\\[^])*\/`),
  rangeIn: tokenPattern(r`\[`),
  rangeOut: tokenPattern(r`\{`),
} as const

const RANGE_TOKENS = {
  to: tokenPattern('TO'),
  rangeEndIn: tokenPattern(r`\]`),
  rangeEndOut: tokenPattern(r`\}`),
  rangeQuoted: tokenPattern(r`"(?:[^"\\]|\\[^])+"`),
  goop: tokenPattern(r`[^ \]}]+`),
} as const

const BOOST_NUMBER = tokenPattern(r`[0-9]+(?:\.[0-9]+)?`)
const BLANK = tokenPattern(`${BLANK_CHARACTER}*`)

type Mode = 'plain' | 'range' | 'boost'

const nextToken = (text: string, from: number, mode: Mode): LuceneToken | undefined => {
  BLANK.lastIndex = from
  const at = from + BLANK.exec(text)![0].length
  if (at === text.length) return { is: 'end', text: '', at }
  if (mode === 'boost') {
    BOOST_NUMBER.lastIndex = at
    const found = BOOST_NUMBER.exec(text)
    return found ? { is: 'number', text: found[0], at } : undefined
  }
  let best: LuceneToken | undefined
  for (const [is, pattern] of Object.entries(mode === 'range' ? RANGE_TOKENS : PLAIN_TOKENS)) {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found && found[0].length > (best?.text.length ?? 0)) best = { is: is as TokenName, text: found[0], at }
  }
  return best
}

/** Resolves escapes. Undefined if the text ends within one. */
const unescaped = (text: string): string | undefined => {
  let isWhole = true
  const plain = text.replace(LUCENE_ESCAPE, (_, code: string | undefined, character: string | undefined) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    if (character === undefined || character === 'u') isWhole = false
    return character ?? ''
  })
  return isWhole ? plain : undefined
}

const LUCENE_ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([\s\S])|$)/gu
