import { createRandom } from '../../scripts/lib/random.ts'
import type { Ask } from './ask.ts'
import type { Named } from './fields.ts'

const ODD_VALUES: readonly unknown[] = [null, [], {}, 'x', '', -1, 1.5, true, [[]], [{}], { a: 1 }, 1e30, '0x', ['_id']]

/** Requests with a fault: a value of another type, a name with a letter less, a key twice, or a text that ends early. */
export const brokenRequests = (named: readonly Named[], count: number): Named[] => {
  const searches = named.filter((one): one is [string, Extract<Ask, { op: 'search' }> & { body: string }] => {
    const [, ask] = one
    return ask.op === 'search' && ask.body !== undefined && !/\d{16}|"size":-1/.test(ask.body)
  })
  const random = createRandom()
  random.seek(9, 9, 9, 9)
  return Array.from({ length: count }, (_, i): Named => {
    const [name, ask] = searches[random.below(searches.length)]!
    const value = parsed(ask.body)
    const broken =
      value === undefined || i % 8 === 0
        ? brokenText(ask.body, random.below)
        : JSON.stringify(brokenAt(value, random.below))
    return [`broken ${i} of ${name}`, { ...ask, body: broken }]
  })
}

/** Undefined where it is no JSON as it is. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Below = (limit: number) => number

const brokenText = (text: string, below: Below): string => {
  const at = below(text.length)
  switch (below(4)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return `${text.slice(0, at)},${text.slice(at)}`
    case 2:
      return text.replace(/"(\w+)":/, '"$1":1,"$1":')
    default:
      return text.slice(0, at) + text.slice(at + 1)
  }
}

const brokenAt = (value: unknown, below: Below): unknown => {
  const isLeaf = typeof value !== 'object' || value === null || Object.keys(value).length === 0
  if (isLeaf || below(5) === 0) return ODD_VALUES[below(ODD_VALUES.length)]
  if (Array.isArray(value)) return value.with(...chosen(value, below(value.length), below))
  const names = Object.keys(value)
  const name = names[below(names.length)]!
  const rename = below(4) === 0
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key !== name
        ? [key, inner]
        : rename
          ? [`${key.slice(0, 1)}${key.slice(2)}`, inner]
          : [key, brokenAt(inner, below)],
    ),
  )
}

const chosen = (list: unknown[], at: number, below: Below): [number, unknown] => [at, brokenAt(list[at], below)]
