import type { Random } from '../lib/random.ts'
import { pick } from './attack.ts'
import { isRaw, raw } from './json.ts'

export interface Mutation {
  path: string
  how: string
  value: unknown
}

export type Oddity = (random: Random, old: unknown) => unknown

/**
 * Changes one place of a JSON value: its structure, or by the oddity what stands there. With `name`, what stands under this name is
 * replaced, where there is any.
 */
export const mutate = (original: unknown, random: Random, odd: Oddity, name?: string): Mutation => {
  const root = { '': copy(original) }
  const places = placesOf(root, '')
  const named = name === undefined ? [] : places.filter(({ key }) => key === name)
  const place = pick(random, named.length > 0 ? named : places)
  const how = named.length > 0 ? 'replace' : pick(random, HOW)
  CHANGES[how](place, random, odd, places)
  return { path: place.path, how, value: root[''] }
}

interface Place {
  path: string
  parent: Holder
  key: string
}

type Holder = Record<string, unknown> | unknown[]

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null && !isRaw(value)

const copy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copy)
  if (!isHolder(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]))
}

const placesOf = (parent: Holder, above: string): Place[] =>
  Object.keys(parent).flatMap(key => {
    const path = Array.isArray(parent) ? `${above}[${key}]` : above === '' ? key : `${above}.${key}`
    const inner = read({ parent, key })
    return [{ path, parent, key }, ...(isHolder(inner) ? placesOf(inner, path) : [])]
  })

type At = Pick<Place, 'parent' | 'key'>

const read = ({ parent, key }: At): unknown => (parent as Record<string, unknown>)[key]

/** Also `__proto__` becomes a member as any other. */
const write = ({ parent, key }: At, value: unknown): void => {
  Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true })
}

type Change = (place: Place, random: Random, odd: Oddity, places: readonly Place[]) => void

const CHANGES = {
  replace: (place, random, odd) => write(place, odd(random, read(place))),
  delete: place => {
    if (Array.isArray(place.parent)) place.parent.splice(Number(place.key), 1)
    else delete place.parent[place.key]
  },
  repeat: (place, random) => {
    if (Array.isArray(place.parent)) {
      const times = isHolder(read(place)) ? pick(random, [1, 2, 30]) : pick(random, [1, 2, 30, 1_000])
      place.parent.splice(Number(place.key), 0, ...Array.from({ length: times }, () => copy(read(place))))
    } else write({ ...place, key: `${place.key}${pick(random, ['2', ' ', '.raw', '.num'])}` }, copy(read(place)))
  },
  swap: (place, random, _, places) => {
    const other = pick(random, places)
    // One inside of the other would make a ring.
    if (place.path.startsWith(other.path) || other.path.startsWith(place.path)) return
    const [a, b] = [read(place), read(other)]
    write(place, b)
    write(other, a)
  },
  copy: (place, random, _, places) => write(place, copy(read(pick(random, places)))),
  rename: (place, random, odd, places) => {
    if (Array.isArray(place.parent)) return
    const value = read(place)
    delete place.parent[place.key]
    const name = random.below(2) === 0 ? pick(random, places).key : odd(random, place.key)
    write({ ...place, key: typeof name === 'string' ? name : misspelt(random, place.key) }, value)
  },
  add: (place, random, odd, places) => {
    const inner = read(place)
    if (Array.isArray(inner)) inner.push(odd(random, inner[0]))
    else if (isHolder(inner)) {
      const name = random.below(2) === 0 ? pick(random, places).key : odd(random, '')
      write({ parent: inner, key: String(name).slice(0, 1_000) }, odd(random, ''))
    }
  },
  wrap: (place, random) => {
    const value = read(place)
    write(place, random.below(2) === 0 ? [value] : { [place.key]: value })
  },
  text: place => {
    const value = read(place)
    if (isRaw(value)) write(place, value.raw)
    else if (!isHolder(value)) write(place, String(value))
  },
  misspell: (place, random) => {
    const value = read(place)
    if (typeof value === 'string') write(place, misspelt(random, value))
  },
} satisfies Record<string, Change>

const HOW = [
  ...(Object.keys(CHANGES) as (keyof typeof CHANGES)[]),
  // More often than the others.
  ...(['replace', 'replace', 'replace', 'rename'] as const),
]

export const misspelt = (random: Random, text: string): string => {
  const at = random.below(text.length + 1)
  const other = pick(random, ['', 'x', '0', ' ', '.', text[at - 1] ?? 'y', '\u0000'])
  return text.slice(0, at) + other + text.slice(at + random.below(2))
}

/** Names that a look-up in a plain object finds although nobody put them there. */
export const INHERITED = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'isPrototypeOf',
  'toLocaleString',
  'propertyIsEnumerable',
  '__defineGetter__',
  '__lookupGetter__',
  'length',
  'then',
]

const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1.0',
  '1.5',
  '1e2',
  '1e-7',
  '1e999',
  '-1e999',
  '1e-999',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '1e400000000',
  '0.1e-2147483649',
  '2147483648',
  `1${'0'.repeat(399)}`,
  `0.${'0'.repeat(5_000)}1`,
]

const TEXTS = [
  '',
  ' ',
  '0x',
  '0X1',
  '0x-1',
  `0x${'f'.repeat(64)}`,
  `0x${'f'.repeat(65)}`,
  '+1',
  '1_000',
  '0b1',
  'NaN',
  'Infinity',
  'null',
  'true',
  'now',
  'now-1d/d',
  'now/1000000000y',
  '2020-13-45T99:99:99',
  '-999999999-01-01',
  '*',
  '?',
  '.',
  '..',
  '.num',
  'args.',
  '_id',
  '_type',
  '_index',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u202e\u0645\u0631',
  'I\u0307\u0130\u0131',
  '\ufeff',
  '𝔘𝔫𝔦',
  '👩‍👩‍👧‍👦',
  'e\u0301'.repeat(50),
  "'; DROP TABLE block; --",
  '" OR 1=1',
  '{{7*7}}',
  '%00',
  '../../etc/passwd',
]

/** Odd values for a query body; `words` are names and values that bodies have. */
export const oddityOf =
  (words: readonly unknown[]): Oddity =>
  (random, old) =>
    pick(random, MAKERS)(random, old, words)
type Maker = (random: Random, old: unknown, words: readonly unknown[]) => unknown
const MAKERS: Maker[] = [
  (random, _, words) => pick(random, words),
  (random, _, words) => pick(random, words),
  // What is found where a table is a plain object.
  random => pick(random, INHERITED),
  random => pick(random, INHERITED),
  random => pick(random, INHERITED),
  random => pick(random, INHERITED),
  random => pick(random, TEXTS),
  random => raw(pick(random, NUMBERS)),
  random => pick(random, NUMBERS),
  random => pick(random, [null, true, false, [], {}, [[]], [null], { '': null }]),
  (random, old) => (typeof old === 'string' ? misspelt(random, old) : old),
  (random, old) =>
    isRaw(old) && /^\d{1,60}$/.test(old.raw) ? raw(String(BigInt(old.raw) + BigInt(random.below(3)))) : old,
  random => pick(random, ['x', '0', '\ud83d', 'é', '"', '\\']).repeat(pick(random, [257, 2_000, 30_000])),
  (random, old) => deep(old, pick(random, [5, 40, 110, 200]), random.below(2) === 0),
  (random, old) =>
    Array.from({ length: pick(random, [3, 200, 5_000]) }, (_, i) => (i % 2 && !isHolder(old) ? old : String(i))),
]

const deep = (value: unknown, levels: number, inLists: boolean): unknown => {
  let inner = value
  for (let i = 0; i < levels; i++) inner = inLists ? [inner] : { bool: { filter: inner } }
  return inner
}
