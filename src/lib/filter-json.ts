import { createByteWriter } from './bytes.ts'
import { fits } from './wildcard.ts'

/**
 * What patterns such as `hits.hits._id` leave of JSON text, byte for byte: `*` stands for any characters of a name and `**` for one name
 * or more, lists are passed through, and a pattern that begins with `-` takes away. An object or list of which nothing is left is left out.
 */
export const filterJson = (
  json: Uint8Array,
  patterns: readonly string[],
  check: () => void = () => {},
): Uint8Array<ArrayBuffer> => {
  const includes = patterns.filter(it => !it.startsWith('-')).map(parsePattern)
  const excludes = patterns.filter(it => it.startsWith('-')).map(it => parsePattern(it.slice(1)))
  const included = includes.length > 0 ? pass(json, includes, { includes: true, check }) : json
  return excludes.length > 0 ? pass(included, excludes, { includes: false, check }) : new Uint8Array(included)
}

/** Names from the top down: one, and those below it. */
interface Pattern {
  any: boolean
  matches(name: string): boolean
  below: Pattern | undefined
}

/** A dot parts names, but for one behind a backslash. */
const parsePattern = (text: string): Pattern => {
  const names = text.split(/(?<!\\)\./).map(part => part.replaceAll('\\.', '.'))
  const of = (name: string, below: Pattern | undefined) => ({
    any: name === '**',
    matches: (it: string) => fits(it, name),
    below,
  })
  return names.reduceRight<Pattern | undefined>((below, name) => of(name, below), undefined)!
}

/** The rest of the patterns below a member, or `whole` if one ends at it. */
const below = (patterns: Iterable<Pattern>, name: string): ReadonlySet<Pattern> | 'whole' => {
  const rest = new Set<Pattern>()
  for (const pattern of patterns) {
    if (!pattern.matches(name)) continue
    if (pattern.below === undefined) return 'whole'
    rest.add(pattern.below)
    if (pattern.any) rest.add(pattern)
  }
  return rest
}

const pass = (
  json: Uint8Array,
  patterns: readonly Pattern[],
  { includes, check }: { includes: boolean; check(): void },
): Uint8Array<ArrayBuffer> => {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  const out = createByteWriter(1 << 12)
  let at = 0
  let seen = 0

  const skipSpace = () => {
    while (bytes[at] === SPACE || bytes[at] === 10 || bytes[at] === 13 || bytes[at] === 9) at++
  }

  const skipString = () => {
    const start = at++
    const near = start + SHORT
    for (; at < near; at++) {
      if (bytes[at] === QUOTE) {
        at++
        return
      }
      if (bytes[at] === BACKSLASH) at++
    }
    do at = bytes.indexOf(QUOTE, at) + 1
    while (isEscaped(at - 1))
  }

  /** Whether an odd number of backslashes stands before a byte. */
  const isEscaped = (place: number): boolean => {
    let before = place
    while (bytes[before - 1] === BACKSLASH) before--
    return (place - before) % 2 === 1
  }

  /** Goes behind the value at `at`. */
  const skipValue = () => {
    let depth = 0
    do {
      skipSpace()
      const byte = bytes[at]
      if (byte === QUOTE) skipString()
      else {
        if (byte === OPEN || byte === OPEN_LIST) depth++
        else if (byte === CLOSE || byte === CLOSE_LIST) depth--
        else if (byte !== COMMA && byte !== COLON) {
          while (at < bytes.length && !ENDS[bytes[at]!]) at++
          continue
        }
        at++
      }
    } while (depth > 0)
  }

  const copyValue = () => {
    skipSpace()
    const start = at
    skipValue()
    out.bytes(bytes, start, at)
  }

  const readName = (): string => {
    const start = at
    skipString()
    const name = bytes.toString('utf8', start + 1, at - 1)
    return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name
  }

  /** Writes what is left of the value at `at`; false where that is nothing. */
  const value = (rest: Iterable<Pattern>): boolean => {
    skipSpace()
    if (bytes[at] === OPEN) return members(rest)
    if (bytes[at] === OPEN_LIST) return elements(rest)
    if (includes) {
      skipValue()
      return false
    }
    copyValue()
    return true
  }

  const members = (rest: Iterable<Pattern>): boolean => {
    const before = out.length
    let any = false
    out.byte(bytes[at++]!)
    for (skipSpace(); bytes[at] !== CLOSE; skipSpace()) {
      if (bytes[at] === COMMA) at++
      skipSpace()
      const beforeMember = out.length
      if (any) out.byte(COMMA)
      const start = at
      const name = readName()
      const end = at
      skipSpace()
      at++
      const inner = below(rest, name)
      out.bytes(bytes, start, end)
      out.byte(COLON)
      if (member(inner)) any = true
      else out.truncate(beforeMember)
    }
    return closed(before, any)
  }

  const member = (inner: ReadonlySet<Pattern> | 'whole'): boolean => {
    if (inner !== 'whole' && inner.size > 0) return value(inner)
    if ((inner === 'whole') === includes) {
      copyValue()
      return true
    }
    skipValue()
    return false
  }

  const elements = (rest: Iterable<Pattern>): boolean => {
    const before = out.length
    let any = false
    out.byte(bytes[at++]!)
    for (skipSpace(); bytes[at] !== CLOSE_LIST; skipSpace()) {
      if (bytes[at] === COMMA) at++
      if (++seen % FEW === 0) check()
      const beforeElement = out.length
      if (any) out.byte(COMMA)
      if (value(rest)) any = true
      else out.truncate(beforeElement)
    }
    return closed(before, any)
  }

  const closed = (before: number, any: boolean): boolean => {
    out.byte(bytes[at++]!)
    if (!any) out.truncate(before)
    return any
  }

  skipSpace()
  const isList = bytes[at] === OPEN_LIST
  // A small Buffer would share its memory with others, and cannot be handed to another thread.
  if (!value(patterns)) return Uint8Array.of(...(isList ? [OPEN_LIST, CLOSE_LIST] : [OPEN, CLOSE]))
  return out.take()
}

/** Strings of so many bytes are gone through byte by byte: beyond that it is faster to look for the quote. */
const SHORT = 24
/** Elements that take little time together. */
const FEW = 64
const [SPACE, QUOTE, COMMA, COLON, BACKSLASH] = [0x20, 0x22, 0x2c, 0x3a, 0x5c]
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]
/** Bytes that end a number or a word. */
const ENDS = new Uint8Array(256)
for (const byte of [SPACE, 9, 10, 13, COMMA, CLOSE, CLOSE_LIST, COLON]) ENDS[byte] = 1
