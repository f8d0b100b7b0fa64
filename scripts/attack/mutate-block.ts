/** A block, or whatever else a node or a pack says, of which one member or one item of a list is not what it was. */
export interface Mutation<T> {
  /** Where, from the line of a pack: `block.transactions[3].input`. */
  path: string
  /** What was done there: `delete`, `null`, `upper case` … */
  what: string
  /** All that is not on the way to the member is shared with what it was made of. */
  raw: T
}

/**
 * Every mutation of every member once, places of one name (`receipts[].logs[].data`) sharing one place that `random` chooses. About
 * 40 for each name: some 5,000 for a block that has everything.
 */
export function* mutations<T extends object>(raw: T, random: () => number): Generator<Mutation<T>, void> {
  for (const places of placesByName(raw).values()) {
    for (const [what, mutate] of MUTATIONS) {
      const place = places[Math.floor(random() * places.length)]!
      yield { path: render(place), what, raw: replace(raw, place, mutate) as T }
    }
  }
}

export function* randomMutations<T extends object>(
  raw: T,
  random: () => number,
  count: number,
  others = 0,
): Generator<Mutation<T>, void> {
  const names = [...placesByName(raw).values()]
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const fromElsewhere = () => {
    const other = pick(pick(names))
    return [`what is at ${render(other)}`, put(valueAt(raw, other))] as const
  }
  for (let i = 0; i < count; i++) {
    const place = pick(pick(names))
    const [what, mutate] = random() < others ? fromElsewhere() : pick(MUTATIONS)
    yield { path: render(place), what, raw: replace(raw, place, mutate) as T }
  }
}

type Step = string | number
type Place = readonly Step[]
type Mutate = (value: unknown) => unknown

const GONE = Symbol('gone')

const put =
  (value: unknown): Mutate =>
  () =>
    value
const onText =
  (change: (text: string) => string): Mutate =>
  value =>
    change(typeof value === 'string' ? value : '0x1')
const onList =
  (change: (list: readonly unknown[]) => unknown[]): Mutate =>
  value =>
    change(Array.isArray(value) ? value : [value])

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const deep = (depth: number): unknown => {
  let value: unknown = []
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

const MUTATIONS: readonly (readonly [what: string, mutate: Mutate])[] = [
  ['delete', put(GONE)],
  ...[null, true, false, 0, 1, 7, -1, 1.5, 2 ** 31, 2 ** 53, 1e300].map(it => [String(it), put(it)] as const),
  ...['', '0x', '0x0', '0x00', '0x01', '0x1', '0xfff', '-0x1', '0xg0', 'abc', '12', ' 0x1', '0x1\n', '0x１'].map(
    it => [JSON.stringify(it), put(it)] as const,
  ),
  ...['constructor', '__proto__', 'toString', 'NaN'].map(it => [it, put(it)] as const),
  ['2^64', put('0x10000000000000000')],
  ['2^256', put(`0x1${'0'.repeat(64)}`)],
  ['80 digits', put(`0x${'ab'.repeat(40)}`)],
  ['300 bytes', put(`0x${'cd'.repeat(300)}`)],
  ['300 kB', put(`0x${'ef'.repeat(300_000)}`)],
  ['upper case', onText(text => `0x${text.slice(2).toUpperCase()}`)],
  ['capital X', onText(text => `0X${text.slice(2)}`)],
  ['a digit more', onText(text => `${text}0`)],
  ['a digit less', onText(text => text.slice(0, -1))],
  ['without 0x', onText(text => text.slice(2))],
  ['a zero in front', onText(text => `0x0${text.slice(2)}`)],
  ['a byte that is not ASCII', onText(text => `${text.slice(0, -1)}İ`)],
  ['{}', put({})],
  ['{toString}', put({ toString: 1, valueOf: 1, length: 66 })],
  ['{__proto__}', put(JSON.parse('{"__proto__": {"length": 2}, "0": "0x1"}'))],
  ['[]', put([])],
  ['[null]', put([null])],
  ['[{}]', put([{}])],
  ['nested', put(deep(2_000))],
  ['inside a list', onList(list => [list])],
  ['an item twice', onList(list => [...list, ...list.slice(0, 1)])],
  ['an item less', onList(list => list.slice(1))],
  ['an item 1,000 times', onList(list => [...list, ...Array.from({ length: 1_000 }, () => list[0])])],
  ['backwards', onList(list => list.toReversed())],
  ['an unknown member', value => (isObject(value) && !Array.isArray(value) ? { ...value, unknown: {} } : value)],
]

/** Places of all members and items, by their path without the places in lists. */
const placesByName = (raw: object): Map<string, Place[]> => {
  const found = new Map<string, Place[]>()
  const visit = (value: unknown, place: Place) => {
    if (place.length > 0) {
      const name = place.map(step => (typeof step === 'number' ? '[]' : `.${step}`)).join('')
      const places = found.get(name)
      if (places) places.push(place)
      else found.set(name, [place])
    }
    if (!isObject(value)) return
    const isList = Array.isArray(value)
    for (const [name, inner] of Object.entries(value)) visit(inner, [...place, isList ? Number(name) : name])
  }
  visit(raw, [])
  return found
}

const valueAt = (raw: object, place: Place): unknown =>
  place.reduce<unknown>((value, step) => (value as Record<Step, unknown>)[step], raw)

/** A copy in which the value at a place is another one. */
const replace = (value: unknown, place: Place, mutate: Mutate): unknown => {
  const [step, ...rest] = place
  if (step === undefined) return mutate(value)
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<Step, unknown>
  const inner = replace(copy[step], rest, mutate)
  if (inner !== GONE) copy[step] = inner
  else if (Array.isArray(copy)) copy.splice(step as number, 1)
  else delete copy[step]
  return copy
}

const render = (place: Place): string =>
  place
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1)
