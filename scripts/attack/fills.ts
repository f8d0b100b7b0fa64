/** A text, or a value of JSON, that grows by parts: as long as it may be, of the shapes that take longest to read. */
export interface Fill {
  name: string
  /** Whether it is text, for any place, or JSON that only fits a value of a body. */
  is: 'text' | 'json'
  /** Seldom tried: it takes long in few places. */
  isOdd?: boolean
  /** Bytes of one part, in a URL. */
  size(own: Own): number
  /** So many parts. */
  make(parts: number, own: Own): string
}

/** What stands in the place in a request that works: as text, and as JSON. */
export interface Own {
  text: string
  json: unknown
}

/** What one part of a text is, that is repeated. */
const REPEATED: Record<string, string> = {
  'one long word': 'a',
  words: 'a ',
  names: 'a,',
  numbers: '1,',
  patterns: 'x*,',
  'one pattern of many parts': '*a',
  'any steps': `${'**.'.repeat(400)}a,`,
  parentheses: '(',
  joins: "{{#join delimiter=''}}e{{/join delimiter=''}}",
}

/** The same, where it means something in few languages only. */
const ODD: Record<string, string> = {
  steps: 'a.',
  'fuzzy words': 'a~2 OR ',
  ranges: 'a:[b TO c] ',
  lists: '[',
  alternatives: '(a|b)*',
  quotes: '"',
  emoji: '😀',
  sections: '{{#e}}{{#toJson}}e{{/toJson}}{{/e}}',
}

const repeated = ([name, part]: [string, string]): Fill => ({
  ...{ name, is: 'text', size: () => inUrl(part).length },
  make: parts => part.repeat(parts),
})

const texts: Fill[] = [
  ...Object.entries(REPEATED).map(repeated),
  ...Object.entries(ODD).map((one): Fill => ({ ...repeated(one), isOdd: true })),
  {
    ...{ name: 'what works, again and again', is: 'text', size: ({ text }) => inUrl(text).length + 1 },
    make: (parts, { text }) => `${text},`.repeat(parts).slice(0, -1),
  },
  {
    ...{ name: 'names of their own', is: 'text', size: () => DIGITS + 2 },
    make: parts => numbered(parts, i => `n${i},`),
  },
  {
    ...{ name: 'patterns of their own', is: 'text', size: () => DIGITS + 4 },
    make: parts => numbered(parts, i => `*${i}*,`),
  },
]

const DIGITS = 6

const values: Fill[] = [
  {
    ...{ name: 'a list of what works', is: 'json', size: ({ json }) => JSON.stringify(one(json)).length + 1 },
    make: (parts, { json }) => listOf(parts, JSON.stringify(one(json))),
  },
  { ...{ name: 'a list of patterns', is: 'json', size: () => 5 }, make: parts => listOf(parts, '"x*"') },
  {
    ...{ name: 'a list of long patterns', is: 'json', size: () => 20_000 },
    make: parts => listOf(parts, `"${'*a'.repeat(10_000)}"`),
  },
  {
    ...{ name: 'a list of any steps', is: 'json', isOdd: true, size: () => 1_200 },
    make: parts => listOf(parts, `"${'**.'.repeat(400)}a"`),
  },
  {
    ...{ name: 'a list of texts of their own', is: 'json', size: () => DIGITS + 4 },
    make: parts => `[${numbered(parts, i => `"n${i}",`).slice(0, -1)}]`,
  },
  { ...{ name: 'a list of numbers', is: 'json', isOdd: true, size: () => 2 }, make: parts => listOf(parts, '1') },
  {
    ...{ name: 'lists in lists', is: 'json', isOdd: true, size: () => 2 },
    make: parts => `${'['.repeat(parts)}${']'.repeat(parts)}`,
  },
  {
    ...{ name: 'objects in objects', is: 'json', isOdd: true, size: () => 6 },
    make: parts => `${'{"a":'.repeat(parts)}1${'}'.repeat(parts)}`,
  },
  {
    ...{ name: 'many names', is: 'json', size: ({ json }) => JSON.stringify(member(json)).length + DIGITS + 5 },
    make(parts, { json }) {
      const value = JSON.stringify(member(json))
      return `{${numbered(parts, i => `"n${i}":${value},`).slice(0, -1)}}`
    },
  },
  {
    ...{ name: 'a long name', is: 'json', size: () => 1 },
    make: (parts, { json }) => `{"${'n'.repeat(parts)}":${JSON.stringify(member(json))}}`,
  },
  { ...{ name: 'a long number', is: 'json', isOdd: true, size: () => 1 }, make: parts => '1'.repeat(parts) },
]

export const FILLS: readonly Fill[] = [...texts, ...values]

const numbered = (parts: number, part: (i: string) => string): string =>
  Array.from({ length: parts }, (_, i) => part(String(i).padStart(DIGITS, '0'))).join('')
const listOf = (parts: number, part: string): string => `[${`${part},`.repeat(parts).slice(0, -1)}]`

const one = (json: unknown): unknown => (Array.isArray(json) ? (json[0] ?? '') : (json ?? ''))
const member = (json: unknown): unknown =>
  typeof json === 'object' && json !== null ? (Object.values(json)[0] ?? '') : (json ?? '')

/** As it stands in a URL: what need not be written as bytes is not. */
export const inUrl = (text: string): string =>
  encodeURIComponent(text).replace(/%(?:2C|3A|5B|5D|22|7C)/g, decodeURIComponent)
