import { createByteWriter } from './bytes.ts'
import { compileGlob } from './name-matching.ts'

/**
 * Filters JSON text, byte for byte, by patterns such as `hits.hits._id`. `*` matches any
 * characters of a name, `**` one or more names; a leading `-` excludes. Lists are passed through,
 * and objects and lists without content are dropped.
 */
export const filterJson = (
  json: Uint8Array,
  patterns: readonly string[],
  check: () => void = () => {},
): Uint8Array<ArrayBuffer> => {
  const includes = patterns.filter(it => !it.startsWith('-')).map(it => parsePattern(it))
  const excludes = patterns.filter(it => it.startsWith('-')).map(it => parsePattern(it.slice(1)))
  const included = includes.length > 0 ? filterByPatterns(json, includes, { includes: true, check }) : json
  return excludes.length > 0
    ? filterByPatterns(included, excludes, { includes: false, check })
    : new Uint8Array(included)
}

/** A name and those below it. */
interface NamePattern {
  id: number
  any: boolean
  matches(name: string): boolean
  below: NamePattern | undefined
}

/** Remaining patterns at a place, and cached states below it by name. */
interface PatternState {
  patterns: readonly NamePattern[]
  below: Map<string, PatternState | 'whole'>
}

let ids = 0

/** Dots separate names unless escaped by a backslash. */
const parsePattern = (text: string): NamePattern => {
  const names = text.split(/(?<!\\)\./).map(part => part.replaceAll('\\.', '.'))
  const of = (name: string, below: NamePattern | undefined) => ({
    id: ids++,
    any: name === '**',
    matches: compileGlob(name),
    below,
  })
  return names.reduceRight<NamePattern | undefined>((below, name) => of(name, below), undefined)!
}

/**
 * States of the patterns below a member, or `whole` if one ends there. Equal members share a
 * state, so time depends on the text and not on the number of patterns.
 */
const createStates = (patterns: readonly NamePattern[]) => {
  const known = new Map<string, PatternState>()
  const stateOf = (some: readonly NamePattern[]): PatternState => {
    const key = some.map(({ id }) => id).join()
    let state = known.get(key)
    if (!state) {
      state = { patterns: some, below: new Map() }
      known.set(key, state)
    }
    return state
  }
  const rest = (patterns: readonly NamePattern[], name: string): PatternState | 'whole' => {
    const found = new Set<NamePattern>()
    for (const pattern of patterns) {
      if (!pattern.matches(name)) continue
      if (pattern.below === undefined) return 'whole'
      found.add(pattern.below)
      if (pattern.any) found.add(pattern)
    }
    return stateOf([...found].sort((a, b) => a.id - b.id))
  }
  return {
    first: stateOf(patterns),
    below(state: PatternState, name: string): PatternState | 'whole' {
      let found = state.below.get(name)
      if (found === undefined) {
        found = rest(state.patterns, name)
        if (state.below.size < MAX_STATE_NAMES) state.below.set(name, found)
      }
      return found
    },
  }
}

/** Cached names per state; further names are bucket keys, which seldom recur. */
const MAX_STATE_NAMES = 1_000

const filterByPatterns = (
  json: Uint8Array,
  patterns: readonly NamePattern[],
  { includes, check }: { includes: boolean; check(): void },
): Uint8Array<ArrayBuffer> => {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  const out = createByteWriter(1 << 12)
  const states = createStates(patterns)
  let at = 0
  let seen = 0

  const skipSpace = () => {
    while (bytes[at] === SPACE || bytes[at] === 10 || bytes[at] === 13 || bytes[at] === 9) at++
  }

  const skipString = () => {
    const start = at++
    const near = start + SHORT_STRING
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

  /** Skips the value at `at`. */
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
          while (at < bytes.length && !VALUE_ENDS[bytes[at]!]) at++
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

  const value = (rest: PatternState): boolean => {
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

  const members = (rest: PatternState): boolean => {
    const before = out.length
    let any = false
    out.byte(bytes[at++]!)
    for (skipSpace(); bytes[at] !== CLOSE; skipSpace()) {
      if (bytes[at] === COMMA) at++
      if (++seen % MEMBERS_PER_CHECK === 0) check()
      skipSpace()
      const beforeMember = out.length
      if (any) out.byte(COMMA)
      const start = at
      const name = readName()
      const end = at
      skipSpace()
      at++
      const inner = states.below(rest, name)
      out.bytes(bytes, start, end)
      out.byte(COLON)
      if (member(inner)) any = true
      else out.truncate(beforeMember)
    }
    return closed(before, any)
  }

  const member = (inner: PatternState | 'whole'): boolean => {
    if (inner !== 'whole' && inner.patterns.length > 0) return value(inner)
    if ((inner === 'whole') === includes) {
      copyValue()
      return true
    }
    skipValue()
    return false
  }

  const elements = (rest: PatternState): boolean => {
    const before = out.length
    let any = false
    out.byte(bytes[at++]!)
    for (skipSpace(); bytes[at] !== CLOSE_LIST; skipSpace()) {
      if (bytes[at] === COMMA) at++
      if (++seen % MEMBERS_PER_CHECK === 0) check()
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
  // A small Buffer shares its memory and cannot be transferred to another thread.
  if (!value(states.first)) return Uint8Array.of(...(isList ? [OPEN_LIST, CLOSE_LIST] : [OPEN, CLOSE]))
  return out.take()
}

/** Short strings are scanned by byte; longer ones by `indexOf`. */
const SHORT_STRING = 24
/** Members and elements that together take little time. */
const MEMBERS_PER_CHECK = 64
const [SPACE, QUOTE, COMMA, COLON, BACKSLASH] = [0x20, 0x22, 0x2c, 0x3a, 0x5c]
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]
/** Bytes that end a number or a word. */
const VALUE_ENDS = new Uint8Array(256)
for (const byte of [SPACE, 9, 10, 13, COMMA, CLOSE, CLOSE_LIST, COLON]) VALUE_ENDS[byte] = 1
