import { isHex, isLowerHex } from '../../lib/bytes.ts'
import { type LimitName, type Limits, overLimit } from '../../limits/index.ts'

/** A fault and its JSON path without the root, such as `.logs[3].data`. */
interface ShapeFault {
  path: string
  what: string
}

/** Returns undefined for a valid value. Built once; a valid value causes no allocation. */
export type Shape = (value: unknown, limits: Limits) => ShapeFault | undefined

export const faultOf = (shape: Shape, name: string, value: unknown, limits: Limits): string | undefined => {
  const fault = shape(value, limits)
  return fault && `${`${name}${fault.path}`.replace(/^\./, '')} ${fault.what}`
}

export const describeValue = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (value === '') return '""'
  if (typeof value === 'string') return shorten(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const inside = Object.values(value)
  if (inside.length < 20 && inside.every(isPlain)) return shorten(JSON.stringify(value))
  return Array.isArray(value) ? `a list of ${inside.length}` : `an object of ${inside.length} members`
}

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' ? value.length < 100 : typeof value !== 'object' || value === null
const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 77)}...` : text)

const leaf =
  (due: string, is: (value: unknown) => boolean): Shape =>
  value =>
    is(value) ? undefined : not(due, value)

const not = (due: string, value: unknown): ShapeFault => ({ path: '', what: `is ${describeValue(value)}, not ${due}` })

/** A member that older chains omit and some nodes set to null. */
export const optional =
  (shape: Shape): Shape =>
  (value, limits) =>
    value === undefined || value === null ? undefined : shape(value, limits)

/** Unnamed members are ignored, and nothing may read them. */
export const object = (members: Readonly<Record<string, Shape>>): Shape => {
  const names = Object.keys(members)
  const shapes = Object.values(members)
  return (value, limits) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return not('an object', value)
    for (let i = 0; i < names.length; i++) {
      const fault = shapes[i]!((value as Record<string, unknown>)[names[i]!], limits)
      if (fault !== undefined) return { ...fault, path: `.${names[i]}${fault.path}` }
    }
    return undefined
  }
}

/** Like `object`, but other members are preserved: any JSON up to a size and a depth. */
export const open = (members: Readonly<Record<string, Shape>>): Shape => {
  const named = object(members)
  const known = new Set(Object.keys(members))
  return (value, limits) => {
    const fault = named(value, limits)
    if (fault !== undefined) return fault
    let size = 0
    for (const name in value as object) {
      if (known.has(name)) continue
      const own = jsonSize((value as Record<string, unknown>)[name], 0)
      if (own === undefined) return { path: `.${name}`, what: `has more than ${MOST_DEPTH} levels` }
      size += name.length + own
    }
    if (size <= limits.extraMembers) return undefined
    return { path: '', what: `has too much that is not known. ${overLimit('extraMembers', limits).message}` }
  }
}

const MOST_DEPTH = 32

/** Minimum JSON length of a value; undefined if it is nested too deeply. */
const jsonSize = (value: unknown, depth: number): number | undefined => {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  if (depth === MOST_DEPTH) return undefined
  let size = 1
  for (const name in value) {
    const inner = jsonSize((value as Record<string, unknown>)[name], depth + 1)
    if (inner === undefined) return undefined
    size += name.length + inner
  }
  return size
}

export const list =
  (item: Shape, most = Number.POSITIVE_INFINITY): Shape =>
  (value, limits) => {
    if (!Array.isArray(value)) return not('a list', value)
    if (value.length > most) return { path: '', what: `has ${value.length} items, more than ${most}` }
    for (let i = 0; i < value.length; i++) {
      const fault = item(value[i], limits)
      if (fault !== undefined) return { ...fault, path: `[${i}]${fault.path}` }
    }
    return undefined
  }

export const oneOf = (member: string, kinds: Readonly<Record<string, Shape>>): Shape => {
  const shapes = new Map<unknown, Shape>(Object.entries(kinds))
  return (value, limits) => {
    if (typeof value !== 'object' || value === null) return not('an object', value)
    const kind = (value as Record<string, unknown>)[member]
    const shape = shapes.get(kind)
    return shape ? shape(value, limits) : { ...not([...shapes.keys()].join(', '), kind), path: `.${member}` }
  }
}

export const word = (values: readonly string[]): Shape => {
  const known = new Set<unknown>(values)
  return leaf(values.join(' or '), value => known.has(value))
}

export const id = leaf(
  'a hash (0x and 64 hex digits in lower case)',
  value => typeof value === 'string' && value.length === 66 && isLowerHex(value),
)

export const word32 = leaf('32 bytes of hex (0x and 64 digits)', value => isHexOf(value, 66, 66))

export const address = leaf('an address (0x and 40 hex digits)', value => isHexOf(value, 42, 42))

/** A number below 2^256. Some nodes send JSON numbers, leading zeros, or `0x` for 0. */
export const quantity = leaf('a quantity (0x and up to 64 hex digits)', value =>
  typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : isHexOf(value, 2, 66),
)

export const bytes = (most: number): Shape =>
  leaf(`hex of up to ${most} bytes`, value => isHexOf(value, 2, 2 + 2 * most) && value.length % 2 === 0)

export const digits = (most: number): Shape =>
  leaf(`hex of up to ${most} bytes`, value => isHexOf(value, 2, 2 + 2 * most))

export const data =
  (limit: LimitName): Shape =>
  (value, limits) => {
    if (!isHexOf(value, 2, Number.POSITIVE_INFINITY) || value.length % 2 !== 0) return not('whole bytes of hex', value)
    if ((value.length - 2) / 2 <= limits[limit]) return undefined
    return { path: '', what: `is too long. ${overLimit(limit, limits).message}` }
  }

export const text = (most: number): Shape =>
  leaf(`a text of up to ${most} characters`, value => typeof value === 'string' && value.length <= most)

export const integer = leaf(
  'an integer',
  value => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31,
)

export const outcome = leaf(
  '0x0 or 0x1',
  value => value === '0x1' || value === '0x0' || value === true || value === false,
)

const isHexOf = (value: unknown, least: number, most: number): value is string =>
  typeof value === 'string' && value.length >= least && value.length <= most && isHex(value)
